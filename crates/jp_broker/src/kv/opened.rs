//! Which files this process has open as stores.
//!
//! POSIX drops all locks of a process on a file as soon as the process closes any descriptor of it.
//! Looking at a file's first bytes while a store has it open would so undo SQLite's locks, and
//! another process could clear away the log this one still writes. Hence: one opens at a time, and a
//! file that is open has been checked and is not checked again.

use std::{
    collections::BTreeMap,
    fs::Metadata,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// A file, whatever its path.
type FileId = (u64, u64);
type Count = BTreeMap<FileId, usize>;

static OPEN: Mutex<Count> = Mutex::new(Count::new());

fn lock() -> MutexGuard<'static, Count> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The right to open a store; one at a time has it.
pub(super) struct Opening(MutexGuard<'static, Count>);

/// Notes that a store has a file open, for as long as it lives.
pub(super) struct Opened(FileId);

impl Opening {
    /// Waits until no other thread opens a store.
    pub(super) fn start() -> Self {
        Self(lock())
    }

    /// Tells whether a store of this process has the file open.
    pub(super) fn is_open(&self, file: &Metadata) -> bool {
        cfg!(unix) && self.0.contains_key(&id(file))
    }

    /// Notes that the file is open, and lets others open theirs.
    pub(super) fn done(mut self, file: &Metadata) -> Opened {
        let id = id(file);
        *self.0.entry(id).or_default() += 1;
        Opened(id)
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        let mut open = lock();
        if let Some(count) = open.get_mut(&self.0) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                open.remove(&self.0);
            }
        }
    }
}

#[cfg(unix)]
fn id(file: &Metadata) -> FileId {
    use std::os::unix::fs::MetadataExt as _;
    (file.dev(), file.ino())
}

#[cfg(not(unix))]
fn id(_: &Metadata) -> FileId {
    (0, 0)
}
