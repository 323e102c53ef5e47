//! What a run does that finds the staging area of one that was killed: undo its switches, or remove what it left.

use std::io;

use cap_std::fs::Dir;
use jp_bash_system::Errno;

use super::AREA;
use super::area::{self, Area, COMMITTED, JOURNAL};
use super::disk::{Disk, Through, own_uid};
use super::error::names;
use super::journal::Journal;
use super::switch::Stuck;
use crate::vfs::HostDir;
use crate::vfs::host::errno;

/// What became of an apply that was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovered {
    /// The directory is again as it was before.
    Undone,
    /// All changes are there; only what they had replaced was left to remove.
    Finished,
    /// Nothing had been changed yet; what was prepared is removed.
    Removed,
}

impl std::fmt::Display for Recovered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Undone => "undid an interrupted apply: every file is as it was before",
            Self::Finished => "finished an interrupted apply: all its changes are there",
            Self::Removed => "removed what an interrupted apply had prepared: no file had changed",
        })
    }
}

/// Why an interrupted apply is still as it was left.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecoverError {
    /// The staging area was made by somebody else, or others may change it.
    #[error("{} was not made by an apply of this user here", shown_area())]
    Foreign,
    /// The journal is damaged.
    #[error("the journal in {} is damaged", shown_area())]
    Journal,
    /// Somebody changed paths after they were switched; undoing would lose that.
    #[error("changed since it was interrupted: {}", names(paths))]
    Changed {
        /// The paths.
        paths: Vec<Vec<u8>>,
    },
    /// A system call failed.
    #[error("{errno}{}", at(path))]
    Failed {
        /// Where; empty for the staging area.
        path: Vec<u8>,
        /// Why.
        errno: Errno,
    },
}

fn shown_area() -> std::borrow::Cow<'static, str> {
    String::from_utf8_lossy(AREA)
}

fn at(path: &[u8]) -> String {
    match path {
        b"" => String::new(),
        path => format!(" ({})", names(&[path.to_vec()])),
    }
}

impl From<io::Error> for RecoverError {
    fn from(error: io::Error) -> Self {
        Self::Failed {
            path: Vec::new(),
            errno: errno(&error),
        }
    }
}

impl HostDir {
    /// Undoes or finishes an apply that was killed in this directory. Without one, this is a single look.
    ///
    /// # Errors
    /// The directory is as the apply left it: old contents are in its staging area, `.jp-apply`.
    pub fn recover(&self) -> Result<Option<Recovered>, RecoverError> {
        recover(&Disk::new(&Through), self.dir())
    }
}

/// Recovers unless another run is applying right now.
pub(in crate::vfs) fn recover(
    disk: &Disk<'_>,
    root: &Dir,
) -> Result<Option<Recovered>, RecoverError> {
    if disk.look(root, AREA)?.is_none() {
        return Ok(None);
    }
    let Some(_lock) = disk.lock(root)? else {
        return Ok(None);
    };
    recover_locked(disk, root)
}

/// Recovers; the caller holds the lock.
pub(super) fn recover_locked(
    disk: &Disk<'_>,
    root: &Dir,
) -> Result<Option<Recovered>, RecoverError> {
    let Some(mark) = disk.look(root, AREA)? else {
        return Ok(None);
    };
    if !mark.is_dir() || mark.uid != own_uid() || mark.mode & 0o077 != 0 {
        return Err(RecoverError::Foreign);
    }
    let dir = disk.enter(root, AREA)?;
    if let Some(text) = area::read(disk, &dir, COMMITTED)? {
        check(disk, root, &dir, &text)?;
        area::remove(disk, root, true)?;
        return Ok(Some(Recovered::Finished));
    }
    let Some(text) = area::read(disk, &dir, JOURNAL)? else {
        area::remove(disk, root, false)?;
        return Ok(Some(Recovered::Removed));
    };
    let journal = check(disk, root, &dir, &text)?;
    let area = Area::open(*disk, root, dir)?;
    area.undo(&journal)?;
    area.forget_journal()?;
    area::remove(disk, root, false)?;
    Ok(Some(Recovered::Undone))
}

/// Reads a journal that belongs to this very directory.
fn check(disk: &Disk<'_>, root: &Dir, area: &Dir, text: &[u8]) -> Result<Journal, RecoverError> {
    let journal = Journal::from_text(text).ok_or(RecoverError::Journal)?;
    let ino = |dir| -> io::Result<u64> { Ok(disk.look(dir, b"")?.map_or(0, |mark| mark.ino)) };
    if (journal.root, journal.area) != (ino(root)?, ino(area)?) {
        return Err(RecoverError::Foreign);
    }
    Ok(journal)
}

impl From<Stuck> for RecoverError {
    fn from(stuck: Stuck) -> Self {
        match stuck {
            Stuck::Changed(paths) => Self::Changed { paths },
            Stuck::Fault(fault) => Self::Failed {
                path: fault.path,
                errno: errno(&fault.error),
            },
        }
    }
}
