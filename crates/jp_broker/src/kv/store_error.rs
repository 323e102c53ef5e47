//! Why the store could not be opened or used.

use std::{io, path::PathBuf};

use rusqlite::ErrorCode;

use crate::{CallError, Code};

/// Why the store could not be opened or used. A file that is refused is left as it was.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file could not be looked at or made.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something else is in its place, or another program's data.
    #[error("{} is not a store of jp ({found}) and was left as it is; name another file, or move this one away", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        found: &'static str,
    },
    /// A later version of this program wrote it.
    #[error("{} is a store of version {version} and was left as it is: expected at most version {known}; use a newer jp", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version it is of.
        version: i64,
        /// The newest version this program knows.
        known: usize,
    },
    /// It lacks a table it should have.
    #[error("{} is damaged: it has no table `{table}`; it was left as it is", path.display())]
    Lacks {
        /// The file.
        path: PathBuf,
        /// What is missing.
        table: &'static str,
    },
    /// What is in it makes no sense.
    #[error("{} is damaged: {source}; it was left as it is", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The file system cannot share a write-ahead log between processes.
    #[error("{} cannot be used: its file system allows no write-ahead log; put the store on a local disk", path.display())]
    NoWriteAheadLog {
        /// The file.
        path: PathBuf,
    },
    /// Others kept writing for as long as this could wait.
    #[error("the store is busy: others kept writing to it for all the time this could wait")]
    Busy,
    /// SQLite failed.
    #[error("the store failed: {source}")]
    Sqlite {
        /// What SQLite said.
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// Makes the error of opening a file.
    pub(super) fn opening(path: PathBuf, source: rusqlite::Error) -> Self {
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged { path, source }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            _ => Self::Sqlite { source },
        }
    }
}

/// Why one transaction was not done: the call does not fit what is there, or SQLite failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The call was refused.
    Call(CallError),
    /// SQLite failed.
    Sqlite(rusqlite::Error),
    /// Others kept writing for as long as this could wait.
    Busy,
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl Failure {
    /// Tells whether others hold the file right now.
    pub(super) fn is_busy(&self) -> bool {
        match self {
            Self::Sqlite(error) => is_busy(error),
            Self::Busy => true,
            Self::Call(_) => false,
        }
    }
}

/// Tells whether SQLite failed only because others hold the file right now.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(
        code,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

impl From<Failure> for CallError {
    fn from(failure: Failure) -> Self {
        let source = match failure {
            Failure::Call(error) => return error,
            Failure::Busy => return Self::new(Code::Timeout, StoreError::Busy.to_string()),
            Failure::Sqlite(source) => source,
        };
        let code = match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull | ErrorCode::ReadOnly | ErrorCode::CannotOpen) => {
                Code::Unavailable
            }
            _ => Code::Internal,
        };
        Self::new(code, StoreError::Sqlite { source }.to_string())
    }
}
