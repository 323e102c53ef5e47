//! What a file looked like when something was made from it, so that a change of it is noticed.

use std::{
    fs::{self, Metadata},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// What changes when a file is written or replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    file: (u64, u64),
    size: u64,
    written: (i64, i64),
    changed: (i64, i64),
}

impl From<Metadata> for Stamp {
    fn from(meta: Metadata) -> Self {
        Self {
            file: (meta.dev(), meta.ino()),
            size: meta.size(),
            written: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }
}

impl Stamp {
    /// Returns the stamp of what lies at a path, which may be a link.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        fs::symlink_metadata(path).ok().map(Self::from)
    }
}

/// A file that a definition was made from, with what it looked like before it was read.
#[derive(Debug, Clone)]
pub(crate) struct ReadFrom {
    path: PathBuf,
    stamp: Option<Stamp>,
}

impl ReadFrom {
    pub(super) fn new(path: PathBuf) -> Self {
        let stamp = stamp_behind(&path);
        Self { path, stamp }
    }

    /// Tells whether the file is untouched since.
    pub(super) fn is_same(&self) -> bool {
        stamp_behind(&self.path) == self.stamp
    }
}

/// Returns the stamp of the file that a path leads to.
fn stamp_behind(path: &Path) -> Option<Stamp> {
    fs::metadata(path).ok().map(Stamp::from)
}
