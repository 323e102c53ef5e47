//! Why a receipt does not count, or could not be kept.

use std::{io, path::PathBuf};

use semver::Version;

use crate::{ToolId, key::KeyId};

/// Why a locked tool has no valid receipt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReceiptProblem {
    /// It was never verified on this machine.
    #[error("`{name}` was not verified on this machine yet: run `jp tool lock`")]
    Missing {
        /// The name in the workspace.
        name: ToolId,
    },
    /// The lock file differs from what was verified.
    #[error("`jp.lock` has a different {field} for `{name}` than the version that was verified")]
    Differs {
        /// The name in the workspace.
        name: ToolId,
        /// What differs.
        field: &'static str,
    },
    /// Its key is not trusted, or not for this tool.
    #[error("the key {key} is not trusted to sign `{id}`: see `jp trust key`")]
    Untrusted {
        /// The tool.
        id: ToolId,
        /// The key.
        key: KeyId,
    },
    /// It was revoked.
    #[error("`{id}` {version} was revoked: {}", jp_text::escape_line(reason))]
    Revoked {
        /// The tool.
        id: ToolId,
        /// Its version.
        version: Version,
        /// What the revocation says.
        reason: String,
    },
}

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
