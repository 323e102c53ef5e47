//! Files that are gone with their owner, also when that was killed.
//!
//! Each is locked as long as its owner lives. A process that can lock one knows that nobody uses it any
//! more, and may remove it: that is how the next writer sweeps what a killed process left.

use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::{fs::RenameFlags, io::Errno};

use crate::disk::{PRIVATE, careful, create_dir, parent};

/// How files are called that are not whole yet.
const NEW: &str = ".new-";

/// How often another name is tried when a sweep took the file before it was locked.
const ATTEMPTS: usize = 16;

/// Entries of a directory that one sweep looks at.
const MAX_SWEPT: usize = 100_000;

/// Whether a file may already be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Present {
    /// It is replaced.
    Replace,
    /// It stays, and nothing is written.
    Keep,
}

/// A file for its owner only, removed when it is dropped, or by a sweep when its owner was killed.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
    /// Locked until it is closed.
    file: File,
    kept: bool,
}

impl Temporary {
    /// Makes a file of a random name in a directory.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    pub fn create(dir: &Path, prefix: &str, suffix: &str) -> io::Result<Self> {
        for _ in 0..ATTEMPTS {
            let path = dir.join(format!("{prefix}{:032x}{suffix}", random()?));
            let opened = OpenOptions::new()
                .read(true)
                .write(true)
                .create_new(true)
                .mode(PRIVATE)
                .open(&path);
            let file = match opened {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                other => other?,
            };
            // A file system without locks has nobody who could sweep.
            let taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
            if !taken && is_named(&file, &path) {
                return Ok(Self {
                    path,
                    file,
                    kept: false,
                });
            }
        }
        Err(io::Error::other(
            "another program keeps removing the new file",
        ))
    }

    /// Removes the files of these names in a directory that nobody holds any more and nobody changed for
    /// `idle`, and says how many. What cannot be listed or removed is in nobody's way.
    pub fn sweep(dir: &Path, prefix: &str, idle: Duration) -> usize {
        let Ok(entries) = fs::read_dir(dir) else {
            return 0;
        };
        let ours = |name: &OsStr| name.as_encoded_bytes().starts_with(prefix.as_bytes());
        let entries = entries.take(MAX_SWEPT).flatten();
        let left =
            entries.filter(|entry| ours(&entry.file_name()) && sweep_one(&entry.path(), idle));
        left.count()
    }

    /// Returns where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the open file.
    #[must_use]
    pub const fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its real name in one step; tells whether it did.
    ///
    /// # Errors
    ///
    /// When it cannot be renamed.
    pub fn keep(mut self, path: &Path, present: Present) -> io::Result<bool> {
        self.kept = match present {
            Present::Replace => fs::rename(&self.path, path).map(|()| true)?,
            Present::Keep => rename_new(&self.path, path)?,
        };
        Ok(self.kept)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.kept {
            // What cannot be removed now is left to a sweep.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Writes a new file as a whole, for its owner only: others see nothing, or all of it, and so does who
/// looks after a power cut. Returns whether it was written: a file that is there stays.
///
/// # Errors
///
/// When it cannot be written.
pub fn create_private(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    let dir = parent(path);
    let file = written(path, &[bytes])?;
    file.file().sync_all()?;
    if !file.keep(path, Present::Keep)? {
        return Ok(false);
    }
    // The new name is only safe from a power cut once its directory is.
    File::open(dir)?.sync_all()?;
    Ok(true)
}

/// Puts a file in place as a whole, for its owner only: others see the old one, or all of the new one,
/// and so does who looks after a power cut.
///
/// # Errors
///
/// When it cannot be written; what was there before is still there then.
pub fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = written(path, &[bytes])?;
    file.file().sync_all()?;
    file.keep(path, Present::Replace)?;
    File::open(parent(path))?.sync_all()
}

/// Removes what those who write files here left when they were killed; every write does it too.
pub fn sweep_new(dir: &Path) {
    Temporary::sweep(dir, NEW, Duration::ZERO);
}

/// Puts a file in place as a whole, for its owner only. It is not waited for: after a power cut it may
/// be damaged, so it must be one that proves itself and can be made again.
///
/// # Errors
///
/// When it cannot be written.
pub fn store_private(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    written(path, parts)?.keep(path, Present::Replace).map(drop)
}

fn written(path: &Path, parts: &[&[u8]]) -> io::Result<Temporary> {
    let dir = parent(path);
    create_dir(dir)?;
    sweep_new(dir);
    let made = Temporary::create(dir, NEW, "")?;
    for part in parts {
        made.file().write_all(part)?;
    }
    Ok(made)
}

/// Renames unless something is there; tells whether it did.
fn rename_new(from: &Path, to: &Path) -> io::Result<bool> {
    let cwd = rustix::fs::CWD;
    let renamed = rustix::fs::renameat_with(cwd, from, cwd, to, RenameFlags::NOREPLACE);
    match renamed {
        Ok(()) => Ok(true),
        Err(Errno::EXIST) => Ok(false),
        // Not every file system can; a second name never replaces anything either.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => match fs::hard_link(from, to) {
            Ok(()) => fs::remove_file(from).map(|()| true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        },
        Err(error) => Err(error.into()),
    }
}

fn sweep_one(path: &Path, idle: Duration) -> bool {
    let swept = || -> io::Result<bool> {
        let options = OpenOptions::new()
            .read(true)
            .custom_flags(careful())
            .open(path);
        let file = options?;
        let found = file.metadata()?;
        // In a directory that all share, others have files of such names too.
        let ours = found.is_file() && found.uid() == rustix::process::geteuid().as_raw();
        // A clock that was set back makes nothing old.
        let old = idle.is_zero() || found.modified()?.elapsed().is_ok_and(|age| age >= idle);
        if !ours || !old || file.try_lock().is_err() || !is_named(&file, path) {
            return Ok(false);
        }
        fs::remove_file(path)?;
        Ok(true)
    };
    swept().unwrap_or(false)
}

/// Returns whether a path still names the file that is open.
fn is_named(file: &File, path: &Path) -> bool {
    let open = file.metadata();
    let named = fs::symlink_metadata(path);
    let same = |open: &fs::Metadata, named: &fs::Metadata| {
        (open.dev(), open.ino()) == (named.dev(), named.ino())
    };
    matches!((open, named), (Ok(open), Ok(named)) if same(&open, &named))
}

fn random() -> io::Result<u128> {
    crate::key::random().map(u128::from_ne_bytes)
}

#[cfg(test)]
#[path = "temporary_tests.rs"]
mod tests;
