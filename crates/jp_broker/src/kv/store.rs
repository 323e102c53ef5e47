//! The file: opened, checked, and used in short transactions. Knows nothing of what the rows mean.

use std::{
    fs,
    hash::{BuildHasher, RandomState},
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior, config::DbConfig};
use tokio_util::sync::CancellationToken;

use super::{
    Failure, Quotas, StoreError,
    opened::{Opened, Opening},
    schema::{APPLICATION_ID, STEPS, migrate},
    store_error::is_busy,
};
use crate::{CallError, Code};

/// How long opening waits for others that open the same file.
const OPENING: Duration = Duration::from_secs(30);
/// How long work without a deadline of its own waits for other writers.
const PATIENCE: Duration = Duration::from_secs(30);
/// The first pause before a busy file is tried again; doubled up to 32 times this.
const PAUSE: Duration = Duration::from_micros(200);
/// How many statements stay prepared; there are about sixty.
const STATEMENTS: usize = 128;

/// What a transaction does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// It only looks.
    Read,
    /// It changes something, and has the file to itself meanwhile.
    Write,
    /// It changes something in one statement, which needs no transaction around it.
    WriteOnce,
}

/// The rows of all users, in one SQLite file. Several processes may have it open at once, and each
/// of them several times; but nothing other than a store may open the file in a process that has one
/// (see `opened.rs`).
///
/// A write is done on the thread of its call. Most take some tens of microseconds; one in a few
/// hundred also moves the log into the file and waits for the disk.
pub struct Store {
    connection: Mutex<Connection>,
    quotas: Quotas,
    /// Dropped after the connection.
    _opened: Opened,
}

impl Store {
    /// Opens a store, making the file (for its owner only) when it is not there; its directory must
    /// be.
    ///
    /// # Errors
    ///
    /// When the file is not ours, damaged, of a newer version, or cannot be used. It is then left as
    /// it was.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_with(path, Quotas::default())
    }

    /// Opens a store whose users may keep as much as `quotas` says.
    ///
    /// # Errors
    ///
    /// As [`Store::open`].
    pub fn open_with(path: &Path, quotas: Quotas) -> Result<Self, StoreError> {
        let opening = Opening::start();
        create(path)?;
        let file = fs::metadata(path).map_err(|error| io_error("look at", path, error))?;
        if !opening.is_open(&file) {
            check_header(path, &file)?;
        }
        make_private(path)?;
        let connection = connect(path)?;
        Ok(Self {
            connection: Mutex::new(connection),
            quotas,
            _opened: opening.done(&file),
        })
    }

    /// Returns how much a user may keep.
    #[must_use]
    pub const fn quotas(&self) -> &Quotas {
        &self.quotas
    }

    /// Runs one transaction of a call; while others write it pauses without holding a thread.
    pub(super) async fn call<T>(
        &self,
        access: Access,
        until: (Instant, &CancellationToken),
        mut work: impl FnMut(&Connection) -> Result<T, Failure>,
    ) -> Result<T, CallError> {
        let (deadline, cancel) = until;
        for attempt in 0.. {
            let done = match access {
                Access::WriteOnce => work(&self.lock()),
                _ => self.attempt(access, &mut |transaction| work(transaction)),
            };
            match done {
                Err(failure) if failure.is_busy() => {}
                done => return done.map_err(CallError::from),
            }
            if Instant::now() >= deadline {
                break;
            }
            tokio::select! {
                () = cancel.cancelled() => {
                    return Err(CallError::new(Code::Timeout, "the call was cancelled"));
                }
                () = tokio::time::sleep(pause(attempt)) => {}
            }
        }
        Err(Failure::Busy.into())
    }

    /// Runs one transaction of the host.
    pub(crate) fn work<T>(
        &self,
        access: Access,
        mut work: impl FnMut(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let deadline = Instant::now() + PATIENCE;
        for attempt in 0.. {
            match self.attempt(access, &mut work) {
                Err(error) if is_busy(&error) => {}
                done => return done.map_err(|source| StoreError::Sqlite { source }),
            }
            if Instant::now() >= deadline {
                break;
            }
            std::thread::sleep(pause(attempt));
        }
        Err(StoreError::Busy)
    }

    /// Tries once. Nothing waits in here: the lock is held only while work is really done.
    fn attempt<T, E: From<rusqlite::Error>>(
        &self,
        access: Access,
        work: &mut impl FnMut(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let behavior = match access {
            Access::Read => TransactionBehavior::Deferred,
            // A transaction that starts by reading could not always go on to write.
            Access::Write | Access::WriteOnce => TransactionBehavior::Immediate,
        };
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(behavior)?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        // A panic rolled its transaction back, so what it leaves behind is sound.
        let locked = self.connection.lock();
        locked.unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the file for its owner only; SQLite gives its companions the same permissions.
fn create(path: &Path) -> Result<(), StoreError> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(source) if source.kind() != io::ErrorKind::AlreadyExists => {
            Err(io_error("make", path, source))
        }
        _ => Ok(()),
    }
}

/// Looks at the first bytes: SQLite itself would already change some of the files it then refuses.
/// The first transaction puts our mark there, before there is a write-ahead log.
pub(super) fn check_header(path: &Path, file: &fs::Metadata) -> Result<(), StoreError> {
    let refuse = |found| StoreError::NotOurs {
        path: path.to_owned(),
        found,
    };
    if !file.is_file() {
        return Err(refuse("not a regular file"));
    }
    let file = fs::File::open(path).map_err(|error| io_error("open", path, error))?;
    let mut header = Vec::with_capacity(100);
    file.take(100)
        .read_to_end(&mut header)
        .map_err(|error| io_error("read", path, error))?;
    if header.is_empty() {
        return Ok(());
    }
    if !header.starts_with(b"SQLite format 3\0") {
        return Err(refuse("not an SQLite database"));
    }
    if header.get(68..72) != Some(APPLICATION_ID.to_be_bytes().as_slice()) {
        return Err(refuse("a database of another program"));
    }
    Ok(())
}

fn connect(path: &Path) -> Result<Connection, StoreError> {
    let opening = |source| StoreError::opening(path.to_owned(), source);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(opening)?;
    connection.busy_timeout(OPENING).map_err(opening)?;
    // Text that slipped into the schema must not run anything, and nothing may edit the schema.
    for option in [
        DbConfig::SQLITE_DBCONFIG_DEFENSIVE,
        DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY,
        // Otherwise a statement whose plan might depend on the user's name is prepared anew each time.
        DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG,
    ] {
        connection.set_db_config(option, true).map_err(opening)?;
    }
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)
        .map_err(opening)?;
    migrate(&mut connection, STEPS).map_err(|error| error.of(path))?;
    if use_write_ahead_log(&connection).map_err(opening)? != "wal" {
        return Err(StoreError::NoWriteAheadLog {
            path: path.to_owned(),
        });
    }
    connection
        .execute_batch("PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;")
        .map_err(opening)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // From here on a call that finds the file busy pauses outside of the lock.
    connection.busy_timeout(Duration::ZERO).map_err(opening)?;
    Ok(connection)
}

/// Switches the journal. SQLite does not wait for others when it changes the mode, so this does.
fn use_write_ahead_log(connection: &Connection) -> rusqlite::Result<String> {
    let deadline = Instant::now() + OPENING;
    for attempt in 0.. {
        let mode = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0));
        match mode {
            Err(error) if is_busy(&error) && Instant::now() < deadline => {
                std::thread::sleep(pause(attempt));
            }
            done => return done,
        }
    }
    Ok(String::new())
}

/// Takes from others what a careless copy gave them, before anything is added to it.
fn make_private(path: &Path) -> Result<(), StoreError> {
    #[cfg(unix)]
    for companion in ["", "-wal", "-shm", "-journal"] {
        use std::os::unix::fs::PermissionsExt as _;
        let mut path = path.as_os_str().to_owned();
        path.push(companion);
        let path = Path::new(&path);
        let Ok(found) = fs::metadata(path) else {
            continue;
        };
        if found.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(path, fs::Permissions::from_mode(0o600))
                .map_err(|error| io_error("protect", path, error))?;
        }
    }
    Ok(())
}

/// Returns how long to pause: longer each time, and never in step with others who wait as well.
fn pause(attempt: u32) -> Duration {
    let longest = PAUSE * (1 << attempt.min(5));
    let share = RandomState::new().hash_one(attempt) % 1024;
    longest * u32::try_from(share).unwrap_or(512) / 1024
}

pub(super) fn io_error(what: &'static str, path: &Path, source: io::Error) -> StoreError {
    StoreError::Io {
        what,
        path: PathBuf::from(path),
        source,
    }
}
