//! What a script sees of the file system.

use std::cell::Cell;

use jp_bash_system::{FileKind, Follow, Limit, OpenHow, SetTime, Stat, SysError};

use super::*;

mod host;

const NOW: Timestamp = Timestamp {
    secs: 1_700_000_000,
    nanos: 5,
};

/// A session with a working directory; calls are made by name.
pub(super) struct Files {
    pub(super) vfs: Vfs,
    pub(super) cwd: Node,
}

impl Files {
    pub(super) fn new() -> Self {
        let vfs = Vfs::new(User::named(b"user"), b"host", &["cat", "ls"], NOW).unwrap();
        let mut files = Self {
            cwd: vfs.root(),
            vfs,
        };
        files.cwd = files
            .call(|vfs, caller| vfs.change_dir(caller, b"/tmp"))
            .unwrap();
        files
    }

    pub(super) fn call<T>(&mut self, call: impl FnOnce(&mut Vfs, &Caller<'_>) -> T) -> T {
        let caller = Caller {
            cwd: self.cwd,
            now: NOW,
            quota: &NoQuota,
        };
        call(&mut self.vfs, &caller)
    }

    pub(super) fn put(&mut self, path: &str, text: &str) -> SysResult<()> {
        self.call(|vfs, caller| vfs.put(caller, path.as_bytes(), text.as_bytes()))
    }

    pub(super) fn text(&mut self, path: &str) -> Result<String, SysError> {
        self.call(|vfs, caller| {
            let Opened::File(handle) = vfs.open(caller, path.as_bytes(), OpenHow::READ)? else {
                return Err(Errno::Inval.into());
            };
            let mut buf = vec![0; 1000];
            let got = vfs.read_at(handle, 0, &mut buf, NOW);
            vfs.close(handle, caller.quota);
            buf.truncate(got?);
            Ok(String::from_utf8(buf).unwrap())
        })
    }

    pub(super) fn list(&mut self, path: &str) -> Result<String, SysError> {
        let found = self.call(|vfs, caller| vfs.read_dir(caller, path.as_bytes()))?;
        let names: Vec<_> = found
            .iter()
            .map(|entry| String::from_utf8_lossy(&entry.name).into_owned())
            .collect();
        Ok(names.join(" "))
    }

    pub(super) fn mkdir(&mut self, path: &str) -> SysResult<()> {
        self.call(|vfs, caller| vfs.mkdir(caller, path.as_bytes(), 0o755))
    }

    pub(super) fn symlink(&mut self, target: &str, path: &str) -> SysResult<()> {
        self.call(|vfs, caller| vfs.symlink(caller, target.as_bytes(), path.as_bytes()))
    }

    pub(super) fn rename(&mut self, from: &str, to: &str) -> SysResult<()> {
        self.call(|vfs, caller| vfs.rename(caller, from.as_bytes(), to.as_bytes()))
    }

    pub(super) fn unlink(&mut self, path: &str) -> SysResult<()> {
        self.call(|vfs, caller| vfs.unlink(caller, path.as_bytes()))
    }

    pub(super) fn rmdir(&mut self, path: &str) -> SysResult<()> {
        self.call(|vfs, caller| vfs.rmdir(caller, path.as_bytes()))
    }

    pub(super) fn stat(&mut self, path: &str, follow: Follow) -> SysResult<Stat> {
        self.call(|vfs, caller| vfs.stat(caller, path.as_bytes(), follow))
    }

    pub(super) fn chmod(&mut self, path: &str, mode: u32) -> SysResult<()> {
        self.call(|vfs, caller| vfs.chmod(caller, path.as_bytes(), mode))
    }

    pub(super) fn link(&mut self, target: &str, path: &str) -> SysResult<()> {
        self.call(|vfs, caller| vfs.link(caller, target.as_bytes(), path.as_bytes(), Follow::No))
    }
}

fn no<T>(errno: Errno) -> SysResult<T> {
    Err(errno.into())
}

#[test]
fn a_new_session_is_small_and_has_the_usual_places() {
    let mut files = Files::new();
    assert_eq!(files.list("/").unwrap(), "bin dev etc home tmp usr");
    assert_eq!(files.list("/bin").unwrap(), "cat ls");
    assert_eq!(files.text("/bin/cat").unwrap(), "#!jp bash\n");
    assert_eq!(
        files.list("/dev").unwrap(),
        "fd full null random stderr stdin stdout tty urandom zero"
    );
    assert!(files.text("/etc/passwd").unwrap().contains("user:x:1000"));
    assert!(files.vfs.held() < 20 * 1024, "{}", files.vfs.held());
    assert_eq!(files.put("/bin/new", "x"), no(Errno::RoFs));
    assert_eq!(files.unlink("/usr/bin/ls"), no(Errno::RoFs));
}

#[test]
fn devices_are_named_not_read() {
    let mut files = Files::new();
    for (path, device) in [
        (&b"/dev/null"[..], Device::Null),
        (b"/dev/fd/63", Device::Fd(63)),
        (b"/dev/stderr", Device::Fd(2)),
    ] {
        let opened = files.call(|vfs, caller| vfs.open(caller, path, OpenHow::WRITE));
        assert_eq!(opened, Ok(Opened::Device(device)));
    }
    let missing = files.call(|vfs, caller| vfs.open(caller, b"/dev/fd/063", OpenHow::READ));
    assert_eq!(missing, no(Errno::NoEnt));
}

#[test]
fn paths_resolve_as_on_linux() {
    let mut files = Files::new();
    files.mkdir("d").unwrap();
    files.put("d/f", "text").unwrap();
    files.symlink("d", "to-dir").unwrap();
    files.symlink("../tmp/d/f", "to-file").unwrap();
    files.symlink("loop", "loop").unwrap();
    files.symlink("made", "dangling").unwrap();
    assert_eq!(files.text("to-dir/../to-file").unwrap(), "text");
    assert_eq!(files.text("/tmp/./d//f").unwrap(), "text");
    assert_eq!(files.text("../../../tmp/d/f").unwrap(), "text");
    for (path, errno) in [
        ("", Errno::NoEnt),
        ("nothing", Errno::NoEnt),
        ("d/f/", Errno::NotDir),
        ("d/f/x", Errno::NotDir),
        ("to-file/", Errno::NotDir),
        ("loop", Errno::Loop),
        ("dangling", Errno::NoEnt),
    ] {
        assert_eq!(files.text(path), no(errno), "{path}");
    }
    files.put("dangling", "through").unwrap();
    assert_eq!(files.text("made").unwrap(), "through");
    assert_eq!(files.put("new/", "x"), no(Errno::IsDir));
    assert_eq!(files.mkdir("new/"), Ok(()));
    assert_eq!(files.mkdir(&"n".repeat(256)), no(Errno::NameTooLong));
    assert_eq!(files.mkdir(&"n/".repeat(2048)), no(Errno::NameTooLong));
    assert_eq!(
        files.stat("to-dir", Follow::No).unwrap().kind,
        FileKind::Symlink
    );
    assert_eq!(
        files.stat("to-dir/", Follow::No).unwrap().kind,
        FileKind::Directory
    );
}

#[test]
fn forty_symlinks_work_and_the_next_is_a_loop() {
    let mut files = Files::new();
    files.put("l0", "end").unwrap();
    for n in 1..=41 {
        files
            .symlink(&format!("l{}", n - 1), &format!("l{n}"))
            .unwrap();
    }
    assert_eq!(files.text("l40").unwrap(), "end");
    assert_eq!(files.text("l41"), no(Errno::Loop));
}

#[test]
fn an_unlinked_file_stays_readable_until_it_is_closed() {
    let mut files = Files::new();
    files.put("f", "text").unwrap();
    let before = files.vfs.held();
    files.call(|vfs, caller| {
        let Ok(Opened::File(handle)) = vfs.open(caller, b"f", OpenHow::READ) else {
            panic!("not opened");
        };
        vfs.unlink(caller, b"f").unwrap();
        assert_eq!(vfs.stat(caller, b"f", Follow::Yes), no(Errno::NoEnt));
        assert_eq!(vfs.fstat(handle).unwrap().nlink, 0);
        let mut buf = [0; 10];
        assert_eq!(vfs.read_at(handle, 1, &mut buf, NOW), Ok(3));
        assert_eq!(&buf[..3], b"ext");
        vfs.close(handle, caller.quota);
        assert_eq!(vfs.fstat(handle), no(Errno::BadF));
    });
    assert!(files.vfs.held() < before);
}

#[test]
fn hard_links_share_content_and_count() {
    let mut files = Files::new();
    files.put("a", "1").unwrap();
    files.link("a", "b").unwrap();
    files.put("b", "2").unwrap();
    assert_eq!(files.text("a").unwrap(), "2");
    assert_eq!(files.stat("a", Follow::Yes).unwrap().nlink, 2);
    assert_eq!(files.rename("a", "b"), Ok(()));
    assert_eq!(files.list(".").unwrap(), "a b");
    files.unlink("a").unwrap();
    assert_eq!(files.stat("b", Follow::Yes).unwrap().nlink, 1);
    files.mkdir("d").unwrap();
    assert_eq!(files.link("d", "e"), no(Errno::Perm));
}

#[test]
fn permission_bits_hold_for_the_owner() {
    let mut files = Files::new();
    files.mkdir("d").unwrap();
    files.put("d/f", "x").unwrap();
    files.chmod("d/f", 0o444).unwrap();
    assert_eq!(files.put("d/f", "y"), no(Errno::Access));
    files.chmod("d/f", 0o200).unwrap();
    assert_eq!(files.text("d/f"), no(Errno::Access));
    files.chmod("d", 0o000).unwrap();
    assert_eq!(files.list("d"), no(Errno::Access));
    assert_eq!(files.stat("d/f", Follow::Yes), no(Errno::Access));
    files.chmod("d", 0o555).unwrap();
    assert_eq!(files.unlink("d/f"), no(Errno::Access));
    assert_eq!(files.chmod("/bin/ls", 0o777), no(Errno::RoFs));
}

#[test]
fn rename_follows_the_rules_of_kinds() {
    let mut files = Files::new();
    files.mkdir("d").unwrap();
    files.mkdir("d/sub").unwrap();
    files.mkdir("e").unwrap();
    files.put("f", "x").unwrap();
    assert_eq!(files.rename("d", "d/sub/x"), no(Errno::Inval));
    assert_eq!(files.rename("f", "e"), no(Errno::IsDir));
    assert_eq!(files.rename("e", "f"), no(Errno::NotDir));
    assert_eq!(files.rename("e", "d"), no(Errno::NotEmpty));
    assert_eq!(files.rename("d", "e"), Ok(()));
    assert_eq!(files.list("e").unwrap(), "sub");
    assert_eq!(files.rename("f", "/dev/f"), no(Errno::XDev));
    assert_eq!(files.rename("/dev", "/d2"), no(Errno::Busy));
    assert_eq!(files.rmdir("/dev"), no(Errno::Busy));
    assert_eq!(files.stat(".", Follow::Yes).unwrap().nlink, 3);
}

#[test]
fn a_removed_working_directory_is_empty_and_takes_nothing() {
    let mut files = Files::new();
    files.mkdir("d").unwrap();
    files.cwd = files
        .call(|vfs, caller| vfs.change_dir(caller, b"d"))
        .unwrap();
    files.rename("/tmp/d", "/tmp/e").unwrap();
    files.put("f", "x").unwrap();
    assert_eq!(files.text("/tmp/e/f").unwrap(), "x");
    assert_eq!(files.vfs.path_of(files.cwd).unwrap(), b"/tmp/e");
    files.unlink("f").unwrap();
    files.rmdir("/tmp/e").unwrap();
    // Another inode in the same slot must not be taken for the old one.
    files.mkdir("/tmp/other").unwrap();
    assert_eq!(files.list(".").unwrap(), "");
    assert_eq!(files.put("f", "x"), no(Errno::NoEnt));
    assert_eq!(files.vfs.path_of(files.cwd), Err(Errno::NoEnt));
}

#[test]
fn times_are_set_and_kept() {
    let mut files = Files::new();
    files.put("f", "x").unwrap();
    let at = Timestamp { secs: 77, nanos: 1 };
    files
        .call(|vfs, caller| {
            vfs.set_times(caller, b"f", SetTime::Keep, SetTime::At(at), Follow::Yes)
        })
        .unwrap();
    let stat = files.stat("f", Follow::Yes).unwrap();
    assert_eq!((stat.mtime, stat.atime, stat.ctime), (at, NOW, NOW));
}

struct Little(Cell<u64>);

impl Quota for Little {
    fn reserve(&self, bytes: u64) -> Result<(), Stop> {
        let left = self.0.get().checked_sub(bytes);
        self.0.set(left.ok_or(Stop::Limit(Limit::Memory))?);
        Ok(())
    }
    fn release(&self, bytes: u64) {
        self.0.set(self.0.get() + bytes);
    }
}

#[test]
fn what_is_held_is_counted_before_and_given_back_after() {
    let mut files = Files::new();
    let before = files.vfs.held();
    let quota = Little(Cell::new(100_000));
    let caller = Caller {
        cwd: files.cwd,
        now: NOW,
        quota: &quota,
    };
    let big = vec![1; 200_000];
    assert_eq!(
        files.vfs.put(&caller, b"f", &big),
        Err(Stop::Limit(Limit::Memory).into())
    );
    files.vfs.put(&caller, b"f", &big[..50_000]).unwrap();
    assert_eq!(files.vfs.held() - before, 100_000 - quota.0.get());
    files.vfs.unlink(&caller, b"f").unwrap();
    assert_eq!(files.vfs.held(), before);
    assert_eq!(quota.0.get(), 100_000);
}

#[test]
fn a_hundred_thousand_files_in_one_directory_are_made_in_linear_time() {
    let mut files = Files::new();
    for n in 0..100_000 {
        files.put(&format!("f{n}"), "").unwrap();
    }
    assert_eq!(
        files
            .call(|vfs, caller| vfs.read_dir(caller, b"."))
            .unwrap()
            .len(),
        100_000
    );
}

#[test]
fn thousands_of_levels_need_no_stack() {
    let mut files = Files::new();
    for _ in 0..3_000 {
        files.mkdir("d").unwrap();
        files.cwd = files
            .call(|vfs, caller| vfs.change_dir(caller, b"d"))
            .unwrap();
    }
    assert_eq!(files.vfs.path_of(files.cwd).unwrap().len(), 4 + 6_000);
    files.put("f", "deep").unwrap();
    assert_eq!(files.text("f").unwrap(), "deep");
}
