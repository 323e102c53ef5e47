//! Which servers live: each holds a lock on a file of its own for as long as its process lives, however that
//! ends. Locks and no heartbeats: a server that is slow or asleep is not gone.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use jp_disk::{Temporary, create_dir};

use super::io_error;
use crate::{ServerId, StoreError};

/// How the files start whose names are those of servers.
const PREFIX: &str = "server-";
/// Entries of the directory that one sweep looks at.
const MOST: usize = 100_000;

/// This server, among those of the same store.
#[derive(Debug)]
pub(super) struct Servers {
    dir: PathBuf,
    own: ServerId,
    /// Locked as long as this lives, and removed with it.
    _lock: Temporary,
}

impl Servers {
    /// Makes a server of a store known, and removes the files of those that are gone.
    pub(super) fn join(store: &Path) -> Result<Self, StoreError> {
        let mut dir = store.as_os_str().to_owned();
        dir.push(".servers");
        let dir = PathBuf::from(dir);
        let failed = |source| io_error("make a lock in", &dir, source);
        create_dir(&dir).map_err(failed)?;
        sweep(&dir);
        let lock = Temporary::create(&dir, PREFIX, "").map_err(failed)?;
        // On a file system without locks every server would seem to be gone, or none.
        if !is_held(lock.path()) {
            let kind = io::ErrorKind::Unsupported;
            return Err(failed(io::Error::new(kind, "its file system has no locks")));
        }
        let own = server(lock.path());
        let own = own.ok_or_else(|| failed(io::ErrorKind::InvalidData.into()))?;
        let _lock = lock;
        Ok(Self { dir, own, _lock })
    }

    /// Returns which server this is.
    pub(super) const fn own(&self) -> &ServerId {
        &self.own
    }

    /// Tells whether a server lives. What cannot be found out is taken to live.
    pub(super) fn lives(&self, server: &ServerId) -> bool {
        *server == self.own || is_held(&self.dir.join(format!("{PREFIX}{server}")))
    }
}

/// Returns the server whose lock a file is.
fn server(path: &Path) -> Option<ServerId> {
    let name = path.file_name()?.to_str()?;
    name.strip_prefix(PREFIX)?.parse().ok()
}

/// Tells whether a server holds the lock of a file. It tries a shared lock, so that several who ask at once
/// do not take each other for the server. A server is named only after it has locked its file.
fn is_held(path: &Path) -> bool {
    match File::open(path).map(|file| file.try_lock_shared()) {
        Ok(Ok(())) => false,
        Ok(Err(TryLockError::WouldBlock | TryLockError::Error(_))) => true,
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Removes the locks that nobody holds.
fn sweep(dir: &Path) {
    let entries = fs::read_dir(dir).into_iter().flatten();
    for entry in entries.take(MOST).flatten() {
        let path = entry.path();
        if server(&path).is_some() {
            // What stays is in nobody's way.
            let _ = remove_free(&path);
        }
    }
}

/// Removes a lock file unless a server holds it. A server that has just made it and not locked it yet sees
/// that it is locked or gone, and makes another.
fn remove_free(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    match file.try_lock_shared() {
        Ok(()) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}
