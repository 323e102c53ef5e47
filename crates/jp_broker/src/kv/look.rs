//! Checks whether a store is whole, and changes nothing in it.

use std::{fs, io, path::Path};

use rusqlite::{Connection, OpenFlags, ffi};

use super::{
    StoreError,
    opened::Opening,
    store::{check_header, io_error},
};

/// Checks whether a store is whole. One that is not there yet is.
///
/// # Errors
///
/// When it cannot be looked at, is another program's, or is damaged.
pub fn look_at(path: &Path) -> Result<(), StoreError> {
    let opening = Opening::start();
    let file = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => file.map_err(|error| io_error("look at", path, error))?,
    };
    if !opening.is_open(&file) {
        check_header(path, &file)?;
    }
    let failed = |source| StoreError::opening(path.to_owned(), source);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    let checked = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    let said = checked.map_err(failed)?;
    if said == "ok" {
        return Ok(());
    }
    let corrupt = ffi::Error::new(ffi::SQLITE_CORRUPT);
    Err(failed(rusqlite::Error::SqliteFailure(corrupt, Some(said))))
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, SeekFrom, Write};

    use super::*;
    use crate::kv::Store;

    #[test]
    fn a_store_that_is_damaged_anywhere_is_reported_and_others_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.sqlite");
        look_at(&path).unwrap();
        assert!(!path.exists());
        drop(Store::open(&path).unwrap());
        let before = fs::read(&path).unwrap();
        look_at(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), before);
        let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.seek(SeekFrom::Start(4096)).unwrap();
        file.write_all(&[0x5a; 8192]).unwrap();
        let error = look_at(&path).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        fs::write(&path, "no database").unwrap();
        let error = look_at(&path).unwrap_err();
        assert!(matches!(error, StoreError::NotOurs { .. }), "{error}");
    }
}
