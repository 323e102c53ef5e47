//! The beginning of a log: its key and its head. Does not know how records are appended.

use std::path::Path;

use crate::{
    AuditError, files,
    head::Head,
    key::{self, Keys},
};

/// Makes the key and the head of a new log. The first file's lock lets only one process do it.
pub(crate) fn found(dir: &Path) -> Result<Keys, AuditError> {
    let path = files::log_path(dir, 1);
    // A log without a key must not get a new one: all its records would look forged. Keys are made
    // before records are, so a log seen here has had a key.
    let has_records = |numbers: Vec<u64>| {
        numbers.into_iter().any(|number| {
            files::log_path(dir, number)
                .metadata()
                .is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0)
        })
    };
    if has_records(files::list(dir)?) {
        return Keys::load(dir)?.ok_or_else(|| AuditError::KeyMissing {
            file: key::path(dir),
        });
    }
    let first = files::open_log(&path)?;
    files::lock(&first, &path)?;
    if let Some(keys) = Keys::load(dir)? {
        return Ok(keys);
    }
    if has_records(files::list(dir)?) {
        return Err(AuditError::KeyMissing {
            file: key::path(dir),
        });
    }
    let (keys, secret) = Keys::generate()?;
    // The head comes first: a key without a head then always means that the head was taken away.
    Head::EMPTY.write(&Head::open(dir)?, dir, &keys)?;
    Keys::save(dir, &secret)?;
    Ok(keys)
}
