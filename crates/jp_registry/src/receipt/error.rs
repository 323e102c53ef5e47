//! Why receipts could not be read or written.

use std::{io, path::PathBuf};

/// Why receipts could not be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReceiptError {
    /// The file cannot be used.
    #[error("cannot use `{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file does not hold receipts.
    #[error("invalid file of receipts `{}`: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

impl ReceiptError {
    /// Says what to do about it.
    #[must_use]
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Io { path, .. } => format!("see who may read it: `ls -ld {}`", path.display()),
            Self::Malformed { path, .. } => {
                format!(
                    "`rm {} && jp tool install --locked` verifies the tools again",
                    path.display()
                )
            }
        }
    }
}
