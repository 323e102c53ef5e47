//! The file: found, made, looked at, and connected to.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use jp_disk::{PRIVATE, create_dir, create_private, parent};
use rusqlite::{Connection, OpenFlags, config::DbConfig};

use super::{
    Failure, io_error,
    schema::{APPLICATION_ID, STEPS, migrate},
};
use crate::StoreError;

/// How long a transaction waits for others that write.
const PATIENCE: Duration = Duration::from_secs(30);
/// How many statements stay prepared.
const STATEMENTS: usize = 64;
/// How much of the log stays on the disk once it is in the file, in bytes.
const LOG: i64 = 4 * 1024 * 1024;

/// Returns the one path of a store, so that all who open it find the same locks.
pub(super) fn locate(path: &Path) -> Result<PathBuf, StoreError> {
    let Some(name) = path.file_name() else {
        let no_file = io::Error::new(io::ErrorKind::InvalidInput, "not the name of a file");
        return Err(io_error("open", path, no_file));
    };
    let dir = parent(path);
    create_dir(dir).map_err(|source| io_error("make", dir, source))?;
    let real = dir.canonicalize();
    let real = real.map_err(|source| io_error("find", dir, source))?;
    Ok(real.join(name))
}

/// Makes the file for its owner only, when it is not there; SQLite gives its companions the same permissions.
pub(super) fn create(path: &Path) -> Result<(), StoreError> {
    create_private(path, &[]).map_err(|source| io_error("make", path, source))?;
    let found = fs::symlink_metadata(path).map_err(|source| io_error("look at", path, source))?;
    if !found.is_file() {
        return Err(not_ours(path, "something that is not a regular file"));
    }
    // Takes from others what a careless copy gave them, before anything is added to it.
    for companion in ["", "-wal", "-shm", "-journal"] {
        let mut path = path.as_os_str().to_owned();
        path.push(companion);
        protect(Path::new(&path))?;
    }
    Ok(())
}

fn protect(path: &Path) -> Result<(), StoreError> {
    let found = fs::symlink_metadata(path).ok();
    let is_open = |found: &fs::Metadata| found.is_file() && found.permissions().mode() & 0o077 != 0;
    if !found.as_ref().is_some_and(is_open) {
        return Ok(());
    }
    let private = fs::Permissions::from_mode(PRIVATE);
    fs::set_permissions(path, private).map_err(|source| io_error("protect", path, source))
}

/// Connects to the file and brings it to the tables of today.
pub(super) fn writer(path: &Path) -> Result<Connection, StoreError> {
    let failed = |error: rusqlite::Error| Failure::from(error).of(path);
    let mut connection = connect(path).map_err(failed)?;
    if is_empty(path, &connection)? {
        // What a sweep frees can be given back; that is settled before the first table.
        connection
            .execute_batch("PRAGMA auto_vacuum = INCREMENTAL")
            .map_err(failed)?;
    }
    migrate(&mut connection, path, STEPS)?;
    let mode = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0));
    let mode: String = mode.map_err(failed)?;
    if mode != "wal" {
        let path = path.to_owned();
        return Err(StoreError::NoWriteAheadLog { path });
    }
    // What was answered must be there after a power cut too.
    let settings = format!("PRAGMA synchronous = FULL; PRAGMA journal_size_limit = {LOG}");
    connection.execute_batch(&settings).map_err(failed)?;
    Ok(connection)
}

/// Connects to the file once more, to look only.
pub(super) fn reader(path: &Path) -> Result<Connection, StoreError> {
    let connected = || {
        let connection = connect(path)?;
        connection.execute_batch("PRAGMA query_only = ON")?;
        Ok(connection)
    };
    connected().map_err(|error| Failure::Sqlite(error).of(path))
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    // Text that slipped into the schema must not run anything, and nothing may edit the schema.
    for option in [
        DbConfig::SQLITE_DBCONFIG_DEFENSIVE,
        DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY,
        // Otherwise a statement whose plan might depend on the owner's name is prepared anew each time.
        DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG,
    ] {
        connection.set_db_config(option, true)?;
    }
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.execute_batch("PRAGMA temp_store = MEMORY")?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

/// Tells whether nothing is in the file yet, and refuses what another program put there.
fn is_empty(path: &Path, connection: &Connection) -> Result<bool, StoreError> {
    let read = |name| connection.query_row(name, [], |row| row.get::<_, i64>(0));
    let both = read("PRAGMA application_id").and_then(|id| Ok((id, read("PRAGMA page_count")?)));
    match both {
        Ok((_, 0)) => Ok(true),
        Ok((id, _)) if id == i64::from(APPLICATION_ID) => Ok(false),
        Ok(_) => Err(not_ours(path, "a database of another program")),
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) => {
            Err(not_ours(path, "no SQLite database"))
        }
        Err(error) => Err(Failure::Sqlite(error).of(path)),
    }
}

fn not_ours(path: &Path, found: &'static str) -> StoreError {
    let path = path.to_owned();
    StoreError::NotOurs { path, found }
}
