//! `$TOOL_TEMP`: a directory for one call, with a quota, gone when the call is over.
//!
//! Below a base directory each call has `call-<random>` and, beside it, `call-<random>.lock`, which
//! it keeps locked as long as it lives. The lock is there before the directory and goes after it,
//! so a process that can lock it knows that the directory is not in use any more: that is how the
//! directories of a crashed process are found and removed.

mod wipe;

use std::{
    fs::File as StdFile,
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use wasmtime_wasi::FsPerms;

use crate::{
    error::Error,
    files::{Behind, Mount, Quota, TempQuota},
    host::{WasiContext, open_dir},
};

/// What the names of our directories start with; nothing else below the base is ever touched.
const PREFIX: &str = "call-";

/// Random bytes in a name.
const RANDOM: usize = 16;

/// How often a new name is tried when a sweep took the lock away between making and locking it.
const ATTEMPTS: usize = 16;

/// Entries of the base that one sweep looks at.
const MAX_SWEPT: usize = 100_000;

/// A directory of the host for one call; removed, with all that is in it, when it is dropped.
pub struct ToolTemp {
    base: StdFile,
    path: PathBuf,
    name: String,
    dir: StdFile,
    quota: Arc<Quota>,
    // Locked until it is closed.
    lock: StdFile,
}

impl ToolTemp {
    /// Makes a directory below `base`, which is made too when it is missing; only the user may
    /// enter either.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    pub fn create(base: &Path, quota: TempQuota) -> Result<Self, Error> {
        let failed = |source| Error::Mount {
            path: base.to_owned(),
            source,
        };
        jp_disk::create_dir(base).map_err(failed)?;
        let top = open_dir(base).map_err(failed)?;
        let (name, lock) = new_lock(&top).map_err(failed)?;
        let dir = new_dir(&top, &name).map_err(|source| {
            drop(remove(&top, &name));
            failed(source)
        })?;
        Ok(Self {
            path: base.join(&name),
            base: top,
            name,
            dir,
            quota: Quota::new(quota),
            lock,
        })
    }

    /// Returns where the directory is. What is written there without a guest is not counted.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the directories below `base` that nobody uses any more, and says how many.
    ///
    /// # Errors
    ///
    /// When `base` cannot be read. A directory that cannot be removed stays for the next time.
    pub fn sweep(base: &Path) -> Result<usize, Error> {
        let failed = |source| Error::Mount {
            path: base.to_owned(),
            source,
        };
        let top = match open_dir(base) {
            Ok(top) => top,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(failed(error)),
        };
        // The handle of a granted directory leads somewhere, but cannot be read itself.
        let listed = wipe::open_below(&top, ".".as_ref()).map_err(failed)?;
        let entries = rustix::fs::Dir::new(listed).map_err(|error| failed(error.into()))?;
        let mut names: Vec<String> = Vec::new();
        for entry in entries.take(MAX_SWEPT) {
            let entry = entry.map_err(|error| failed(error.into()))?;
            let Ok(name) = entry.file_name().to_str() else {
                continue;
            };
            let name = name.strip_suffix(".lock").unwrap_or(name);
            if is_ours(name) {
                names.push(name.to_owned());
            }
        }
        names.sort_unstable();
        names.dedup();
        let gone = names.iter().filter(|name| sweep_one(&top, name));
        Ok(gone.count())
    }
}

impl Drop for ToolTemp {
    fn drop(&mut self) {
        self.quota.close();
        // What cannot be removed now is left, unlocked, to a sweep.
        drop(wipe::wipe(&self.dir).and_then(|()| remove(&self.base, &self.name)));
        rustix::fs::flock(&self.lock, FlockOperation::Unlock).ok();
    }
}

impl WasiContext {
    /// Shows a guest the directory at `/tmp`, to read and to write within its quota.
    ///
    /// # Errors
    ///
    /// When the host has no handles left.
    pub fn mount_temp(&mut self, temp: &ToolTemp) -> Result<(), Error> {
        let handle = temp.dir.try_clone().map_err(|source| Error::Mount {
            path: temp.path.clone(),
            source,
        })?;
        let mut mount = Mount::new("/tmp".to_owned(), handle, FsPerms::ReadWrite);
        mount.behind = Some(Behind::Counted(Arc::clone(&temp.quota)));
        self.mounts.push(mount);
        Ok(())
    }
}

fn lock_name(name: &str) -> String {
    format!("{name}.lock")
}

fn is_ours(name: &str) -> bool {
    let random = name.strip_prefix(PREFIX).unwrap_or_default();
    random.len() == 2 * RANDOM && random.bytes().all(|b| b.is_ascii_hexdigit())
}

fn new_name() -> io::Result<String> {
    let mut random = [0; RANDOM];
    let filled = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    if filled < RANDOM {
        return Err(io::Error::other("too little randomness"));
    }
    Ok(format!("{PREFIX}{:032x}", u128::from_ne_bytes(random)))
}

/// Makes and locks the lock of a new name.
fn new_lock(top: &StdFile) -> io::Result<(String, StdFile)> {
    for _ in 0..ATTEMPTS {
        let name = new_name()?;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let lock = rustix::fs::openat(top, lock_name(&name), flags, mode)?;
        let lock = StdFile::from(lock);
        if try_lock(top, &name, &lock)? {
            return Ok((name, lock));
        }
    }
    Err(io::Error::other("somebody takes every new lock away"))
}

/// Locks a lock; false when somebody else holds it, or it is not the one of this name any more.
fn try_lock(top: &StdFile, name: &str, lock: &StdFile) -> io::Result<bool> {
    match rustix::fs::flock(lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    let held = lock.metadata()?;
    let named = rustix::fs::statat(top, lock_name(name), AtFlags::SYMLINK_NOFOLLOW);
    Ok(named.is_ok_and(|named| (named.st_dev, named.st_ino) == (held.dev(), held.ino())))
}

fn new_dir(top: &StdFile, name: &str) -> io::Result<StdFile> {
    rustix::fs::mkdirat(top, name, Mode::RWXU)?;
    wipe::open_below(top, name.as_ref())
}

/// Removes an empty directory, if it is there, and then its lock.
fn remove(top: &StdFile, name: &str) -> io::Result<()> {
    match rustix::fs::unlinkat(top, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(rustix::io::Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(rustix::fs::unlinkat(
        top,
        lock_name(name),
        AtFlags::empty(),
    )?)
}

/// Removes a directory whose owner is gone; false when it has one, or it cannot be removed.
fn sweep_one(top: &StdFile, name: &str) -> bool {
    let removed = || -> io::Result<bool> {
        let flags = OFlags::CREATE | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let lock = rustix::fs::openat(top, lock_name(name), flags, mode)?;
        let lock = StdFile::from(lock);
        if !try_lock(top, name, &lock)? {
            return Ok(false);
        }
        match wipe::open_below(top, name.as_ref()) {
            Ok(dir) => wipe::wipe(&dir)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        remove(top, name)?;
        Ok(true)
    };
    removed().unwrap_or(false)
}

#[cfg(test)]
mod tests;
