//! What a directory with a quota holds, counted where it is changed.
//!
//! The rule: `bytes` is the sum of the lengths of all files (a hole counts like data, a file with
//! several names once) and of the targets of symbolic links; `files` is the number of names: files,
//! directories and links. A file that was removed while somebody holds it open still takes room on
//! the disk, so it counts until it is closed. What is refused changes nothing, neither the disk nor
//! the count. What directories themselves take on the disk is bounded by `files` alone.
//!
//! Every change is made while holding the count, so descriptors cannot race.

use std::{
    fs::{File as StdFile, Metadata},
    io,
    os::unix::fs::MetadataExt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use rustix::io::Errno;

/// What may be kept in a directory with a quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TempQuota {
    /// The lengths of all files together.
    pub bytes: u64,
    /// Names: files, directories and links.
    pub files: u64,
}

impl Default for TempQuota {
    /// Leaves room for as much as a guest has memory by default.
    fn default() -> Self {
        Self {
            bytes: 256 * 1024 * 1024,
            files: 10_000,
        }
    }
}

/// The count of one directory, shared by everybody who may change it.
pub(crate) struct Quota(Mutex<Used>);

/// Which file of the host something is.
type Identity = (u64, u64);

/// What a directory with a quota holds.
pub(crate) struct Used {
    limit: TempQuota,
    held: TempQuota,
    open: Vec<(Identity, Weak<StdFile>)>,
    // Removed while open; the handle gives their length when the last other one is closed.
    removed: Vec<(Identity, StdFile)>,
}

/// Something that is about to lose a name.
pub(crate) struct Victim {
    identity: Identity,
    bytes: u64,
    /// Whether nothing but this name keeps its content.
    last: bool,
    directory: bool,
}

impl Victim {
    pub(crate) fn new(identity: Identity, links: u64, bytes: u64, directory: bool) -> Self {
        Self {
            identity,
            bytes,
            last: links <= 1,
            directory,
        }
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.identity == other.identity
    }
}

impl Quota {
    pub(crate) fn new(limit: TempQuota) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Used {
            limit,
            held: TempQuota { bytes: 0, files: 0 },
            open: Vec::new(),
            removed: Vec::new(),
        })))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Used> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets nothing grow any more.
    pub(crate) fn close(&self) {
        let mut used = self.lock();
        used.limit = TempQuota { bytes: 0, files: 0 };
        used.removed.clear();
    }
}

impl Used {
    /// Takes room, or fails as a full disk does.
    pub(crate) fn take(&mut self, bytes: u64, files: u64) -> io::Result<()> {
        let enough = |used: &Self| {
            let held = used.held;
            let sum = |a: u64, b: u64, most| a.checked_add(b).filter(|sum| *sum <= most);
            let bytes = match bytes {
                0 => Some(held.bytes),
                more => sum(held.bytes, more, used.limit.bytes),
            };
            let files = match files {
                0 => Some(held.files),
                more => sum(held.files, more, used.limit.files),
            };
            Some(TempQuota {
                bytes: bytes?,
                files: files?,
            })
        };
        let held = enough(self).or_else(|| {
            self.settle();
            enough(self)
        });
        self.held = held.ok_or(Errno::NOSPC)?;
        Ok(())
    }

    pub(crate) const fn give_back(&mut self, bytes: u64, files: u64) {
        self.held.bytes = self.held.bytes.saturating_sub(bytes);
        self.held.files = self.held.files.saturating_sub(files);
    }

    /// Notes that a file is open.
    pub(crate) fn note_open(&mut self, file: &Arc<StdFile>, found: &Metadata) {
        self.open.retain(|(_, open)| open.strong_count() > 0);
        let identity = (found.dev(), found.ino());
        self.open.push((identity, Arc::downgrade(file)));
    }

    /// Notes that something has lost a name.
    pub(crate) fn note_removed(&mut self, victim: &Victim) {
        if victim.directory || !victim.last {
            return self.give_back(0, 1);
        }
        match self.handle(victim.identity).map(|open| open.try_clone()) {
            None => self.give_back(victim.bytes, 1),
            Some(Ok(handle)) => self.removed.push((victim.identity, handle)),
            // Without a handle its length at the end is unknown: it stays counted.
            Some(Err(_)) => {}
        }
    }

    fn handle(&self, identity: Identity) -> Option<Arc<StdFile>> {
        let mut same = self.open.iter().filter(|(open, _)| *open == identity);
        same.find_map(|(_, open)| open.upgrade())
    }

    /// Gives back the room of removed files that have been closed.
    pub(super) fn settle(&mut self) {
        self.open.retain(|(_, open)| open.strong_count() > 0);
        let removed = std::mem::take(&mut self.removed);
        for (identity, handle) in removed {
            if self.open.iter().any(|(open, _)| *open == identity) {
                self.removed.push((identity, handle));
                continue;
            }
            match handle.metadata() {
                Ok(found) => self.give_back(found.len(), 1),
                Err(_) => self.removed.push((identity, handle)),
            }
        }
    }

    #[cfg(test)]
    pub(crate) const fn held(&self) -> TempQuota {
        self.held
    }
}
