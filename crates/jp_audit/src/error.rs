//! Why the log could not be written or read. Does not know what was being audited.

use std::{
    io,
    path::{Path, PathBuf},
};

/// Says why the audit log could not be opened, written or read.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The operating system refused.
    #[error("cannot {action} `{}`: {hint}", file.display())]
    Io {
        /// What was tried, as in "append to".
        action: &'static str,
        /// The file or directory it was tried on.
        file: PathBuf,
        /// What went wrong in plain words, and what to do about it.
        hint: String,
        /// The system's own error.
        source: io::Error,
    },
    /// There are records but no key.
    #[error(
        "the audit log's key `{}` is gone, so its records can be neither checked nor continued; \
         put the key back, or move the directory away to start a new log", file.display()
    )]
    KeyMissing {
        /// Where the key belongs.
        file: PathBuf,
    },
    /// The key file does not hold a key.
    #[error(
        "the audit log's key `{}` is damaged: it must be a file of exactly 32 bytes; \
         put the key back, or move the directory away to start a new log", file.display()
    )]
    KeyDamaged {
        /// The damaged file.
        file: PathBuf,
    },
    /// The system gave no random bytes for a new key.
    #[error("cannot make a key for the audit log: the system has no random numbers ({reason})")]
    NoRandomness {
        /// The system's own words.
        reason: String,
    },
    /// A line is not an audit record.
    #[error(
        "line {line} of `{}` is not an audit record ({reason}); run `jp audit verify`",
        file.display()
    )]
    BadLine {
        /// The file the line is in.
        file: PathBuf,
        /// Its number from 1, or its number from the end for the newest records.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The directory's files change faster than they can be opened.
    #[error(
        "the audit log in `{}` keeps changing while it is used; make sure that nothing but jp \
         moves, deletes or replaces files there", dir.display()
    )]
    Unsettled {
        /// The log's directory.
        dir: PathBuf,
    },
}

impl AuditError {
    /// Wraps a system error with the file it concerns and a way out.
    pub(crate) fn io(action: &'static str, file: &Path, source: io::Error) -> Self {
        let hint = match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "the disk is full; free some space, or keep fewer rotated audit files".to_owned()
            }
            io::ErrorKind::ReadOnlyFilesystem => {
                "the file system is read-only; choose an audit directory that can be written"
                    .to_owned()
            }
            io::ErrorKind::PermissionDenied => {
                "permission denied; give it back to your user, or choose another audit directory"
                    .to_owned()
            }
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
                "something else is in its place; move that away, or choose another audit directory"
                    .to_owned()
            }
            io::ErrorKind::IsADirectory => "a directory is in its place; move that away".to_owned(),
            _ => format!("{source}; check the audit directory and the disk it is on"),
        };
        Self::Io {
            action,
            file: file.to_owned(),
            hint,
            source,
        }
    }
}
