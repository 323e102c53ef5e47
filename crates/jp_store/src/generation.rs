//! The counter beside a store: what was remembered changed when it did. Every call looks at it, so it is
//! a file of eight bytes that stays open.
//!
//! A change is counted in the file before it is committed, and in the store with it. So whoever knows a
//! state of the store by its number and finds the same number in the file knows the newest state. A number
//! in the file that the store does not have means a change under way, or a process that was killed in one.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use jp_disk::PRIVATE;

/// The counter beside a store, to look at.
#[derive(Debug)]
pub struct Generation(File);

impl Generation {
    /// Opens the counter beside a store; nothing when nothing was ever remembered.
    ///
    /// # Errors
    ///
    /// When it is there and cannot be opened.
    pub fn open(store: &Path) -> io::Result<Option<Self>> {
        let mut options = OpenOptions::new();
        match options.read(true).open(path(store)) {
            Ok(file) => Ok(Some(Self(file))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the number; nothing when the file is no longer the one beside the store.
    #[must_use]
    pub fn read(&self) -> Option<u64> {
        let is_there = self.0.metadata().is_ok_and(|found| found.nlink() > 0);
        let mut bytes = [0; 8];
        let read = self.0.read_exact_at(&mut bytes, 0);
        (is_there && read.is_ok()).then(|| u64::from_le_bytes(bytes))
    }
}

fn path(store: &Path) -> PathBuf {
    let mut path = store.as_os_str().to_owned();
    path.push(".generation");
    path.into()
}

/// Returns the number beside a store; zero when there is none yet.
pub(crate) fn known(store: &Path) -> io::Result<u64> {
    let counter = Generation::open(store)?;
    Ok(counter
        .and_then(|counter| counter.read())
        .unwrap_or_default())
}

/// Writes the number. Only one writer at a time does: it holds the lock of the store.
pub(crate) fn write(store: &Path, number: u64) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true).truncate(false);
    let file = options.mode(PRIVATE).open(path(store))?;
    // Eight bytes of one page: a reader sees the old number or the new one.
    file.write_all_at(&number.to_le_bytes(), 0)
}
