//! The traits on one SQLite file: one connection that writes, one that reads.

mod grants;
mod open;
mod requests;
mod schema;
mod servers;
mod spent;
mod spills;
mod tasks;

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use jp_disk::Disk;
use rusqlite::{Connection, ErrorCode, Row, Transaction, TransactionBehavior};

use self::servers::Servers;
use crate::{Damage, Millis, StoreError, Tasks as _};

/// What must outlive a process of `jp serve`, in one SQLite file. An open store is a server of its own;
/// several may have the file open at once, in one process and in several.
///
/// Beside the file lie its write-ahead log, the lock `FILE.lock` that is held while a store opens, and the
/// directory `FILE.servers` with the locks of the servers that live. Do not remove these locks: the tasks of
/// their servers would count as stopped. Except for stores, nothing may open the file in a process that has
/// a store on it: closing it again would undo SQLite's locks.
pub struct Store {
    path: PathBuf,
    writer: Mutex<Connection>,
    reader: Mutex<Connection>,
    /// Dropped after the connections: as long as something can be written, this server lives.
    servers: Servers,
}

impl fmt::Debug for Store {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = (&self.path, self.servers.own());
        out.debug_tuple("Store").field(&fields).finish()
    }
}

impl Store {
    /// Opens a store as a server of its own, and [adopts](crate::Tasks::adopt) what servers that are gone
    /// left. A file that is not there is made, for its owner only, with the directories above it.
    ///
    /// # Errors
    ///
    /// When the file is not ours, damaged, of a newer version, or cannot be used.
    pub fn open(path: &Path, now: Millis) -> Result<Self, StoreError> {
        let path = open::locate(path)?;
        // One thread of one process at a time makes the file and changes its tables.
        let opening = Disk::real().lock_beside(&path);
        let _opening = opening.map_err(|source| io_error("lock", &path, source))?;
        open::create(&path)?;
        let writer = Mutex::new(open::writer(&path)?);
        let reader = Mutex::new(open::reader(&path)?);
        let servers = Servers::join(&path)?;
        let store = Self {
            path,
            writer,
            reader,
            servers,
        };
        store.adopt(now)?;
        Ok(store)
    }

    /// Runs one transaction that changes something; it is on the disk when this returns, or undone.
    fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        // One that starts by reading could not always go on to write.
        self.run(&self.writer, TransactionBehavior::Immediate, work)
    }

    /// Runs one transaction that only looks.
    fn look<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.run(&self.reader, TransactionBehavior::Deferred, work)
    }

    fn run<T>(
        &self,
        connection: &Mutex<Connection>,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let mut connection = lock(connection);
        let done = || {
            let transaction = connection.transaction_with_behavior(behavior)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        done().map_err(|failure: Failure| failure.of(&self.path))
    }

    /// Deletes in transactions of a bounded size, so that others can write in between, until one deletes
    /// nothing. Returns how many rows that were.
    fn sweep(
        &self,
        mut batch: impl FnMut(&Transaction<'_>) -> Result<usize, Failure>,
    ) -> Result<u64, StoreError> {
        let mut all = 0_u64;
        loop {
            match self.write(&mut batch)? {
                0 => return Ok(all),
                some => all = all.saturating_add(counted(some)),
            }
        }
    }
}

fn lock(connection: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    // A panic rolled its transaction back, so what it leaves behind is sound.
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why a transaction was not done.
#[derive(Debug)]
enum Failure {
    Store(StoreError),
    Damaged(Damage),
    Sqlite(rusqlite::Error),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl Failure {
    /// Adds what a person needs to know: which file it is.
    fn of(self, path: &Path) -> StoreError {
        let path = path.to_owned();
        let source = match self {
            Self::Store(error) => return error,
            Self::Damaged(source) => return StoreError::Damaged { path, source },
            Self::Sqlite(source) => source,
        };
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                let source = Damage::Sqlite(source);
                StoreError::Damaged { path, source }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { path },
            Some(ErrorCode::DiskFull) => StoreError::Full { path, source },
            _ => StoreError::Sqlite { path, source },
        }
    }
}

fn io_error(what: &'static str, path: &Path, source: std::io::Error) -> StoreError {
    let path = path.to_owned();
    StoreError::Io { what, path, source }
}

/// Returns a number as SQLite holds it; what is beyond is as good as its largest.
fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns a number of a row; there are no negative ones.
fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let found: i64 = row.get(column)?;
    Ok(u64::try_from(found).unwrap_or(0))
}

fn counted(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "sqlite_tests.rs"]
mod tests;
