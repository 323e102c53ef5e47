//! Counting what a guest keeps: against a scan of the disk, and at the edges.

use std::{collections::HashSet, fs as std_fs, os::unix::fs::MetadataExt as _};

use proptest::prelude::*;
use wasmtime_wasi::FsPerms;

use super::*;
use crate::files::TempQuota;

const QUOTA: TempQuota = TempQuota {
    bytes: 1000,
    files: 6,
};

const NAMES: [&str; 6] = ["a", "b", "c", "d", "d/a", "d/b"];

/// Something a guest does: what, with which names, how much.
type Step = (u8, usize, usize, u64);

struct World {
    top: tempfile::TempDir,
    dir: Dir,
    quota: Arc<Quota>,
    held: Vec<File>,
}

impl World {
    fn new() -> Self {
        let top = tempfile::tempdir().unwrap();
        let handle = crate::host::open_dir(top.path()).unwrap();
        let mode = OpenMode::READ | OpenMode::WRITE;
        Self {
            dir: Dir::new(handle, FsPerms::ReadWrite, mode, true),
            quota: Quota::new(QUOTA),
            held: Vec::new(),
            top,
        }
    }

    fn open(&self, name: &str, oflags: OpenFlags) -> Option<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        if oflags.contains(OpenFlags::CREATE) {
            let new = oflags.contains(OpenFlags::EXCLUSIVE);
            options.create(!new).create_new(new);
        }
        let mode = OpenMode::READ | OpenMode::WRITE;
        let opened = self.quota.open(&self.dir, name, &options, oflags, mode);
        match opened.ok()? {
            Descriptor::File(file) => Some(file),
            Descriptor::Dir(_) => None,
        }
    }

    fn act(&mut self, (what, one, two, size): Step) {
        let (one, two) = (NAMES[one], NAMES[two]);
        let (quota, dir) = (Arc::clone(&self.quota), self.dir.clone());
        let create = OpenFlags::CREATE;
        match what {
            0 => self.held.extend(self.open(one, create)),
            1 => drop(self.open(one, create | OpenFlags::TRUNCATE)),
            2 => drop(self.open(one, create | OpenFlags::EXCLUSIVE)),
            3 => drop(quota.create_dir(&dir, one)),
            4 => drop(quota.remove_dir(&dir, one)),
            5 => drop(quota.remove_file(&dir, one)),
            6 => drop(quota.rename((&dir, one), (&dir, two))),
            7 => drop(quota.link((&dir, one), (&dir, two))),
            8 => drop(quota.symlink(one, &dir, two)),
            9 => drop(self.held.pop()),
            10 => self.held.iter().for_each(|file| {
                drop(quota.write(file, b"0123456789", size));
            }),
            11 => drop(self.held.last().map(|file| quota.set_size(file, size))),
            _ => drop(self.held.last().map(|file| {
                let stream = CountedStream {
                    file: file.clone(),
                    quota: Arc::clone(&quota),
                    at: None,
                    closed: false,
                };
                { stream }.write(Bytes::from(vec![0; usize::try_from(size).unwrap()]))
            })),
        }
    }

    /// Counts what is really there: on the disk, and removed but open.
    fn found(&self) -> TempQuota {
        let mut found = TempQuota { bytes: 0, files: 0 };
        let mut seen = HashSet::new();
        let mut count = |len: u64, ino: u64, bytes: bool| {
            if bytes && seen.insert(ino) {
                found.bytes += len;
            }
            found.files += 1;
        };
        let mut dirs = vec![self.top.path().to_owned()];
        while let Some(dir) = dirs.pop() {
            for entry in std_fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                let meta = path.symlink_metadata().unwrap();
                count(meta.len(), meta.ino(), !meta.is_dir());
                if meta.is_dir() {
                    dirs.push(path);
                }
            }
        }
        let mut removed = HashSet::new();
        for file in &self.held {
            let meta = file.file.metadata().unwrap();
            if meta.nlink() == 0 && removed.insert(meta.ino()) {
                count(meta.len(), meta.ino(), true);
            }
        }
        found
    }
}

#[test]
fn a_full_stream_says_that_there_is_no_space_and_closes() {
    let world = World::new();
    let file = world.open("a", OpenFlags::CREATE).unwrap();
    let mut stream = CountedStream {
        file: file.clone(),
        quota: Arc::clone(&world.quota),
        at: Some(0),
        closed: false,
    };
    assert!(stream.write(Bytes::from(vec![0; 1000])).is_ok());
    let Err(StreamError::LastOperationFailed(why)) = stream.write(Bytes::from_static(b"x")) else {
        panic!("it was written");
    };
    let why = why.downcast_ref::<io::Error>().unwrap();
    assert_eq!(ErrorCode::from(why), ErrorCode::InsufficientSpace);
    assert!(matches!(stream.check_write(), Err(StreamError::Closed)));
    assert_eq!(file.file.metadata().unwrap().len(), 1000);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_count_is_what_is_on_the_disk(
        steps in proptest::collection::vec((0..13_u8, 0..6_usize, 0..6_usize, 0..700_u64), 1..60)
    ) {
        let mut world = World::new();
        for step in steps {
            world.act(step);
            world.quota.lock().settle();
            let found = world.found();
            prop_assert_eq!(world.quota.lock().held(), found, "after {:?}", step);
            prop_assert!(found.bytes <= QUOTA.bytes && found.files <= QUOTA.files);
        }
    }
}
