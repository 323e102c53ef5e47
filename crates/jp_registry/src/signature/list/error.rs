//! Why a list of a registry is refused.

use std::{io, path::PathBuf};

use super::ListKind;
use crate::{FormatError, key::KeyId};

/// Why a list of a registry is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ListError {
    /// It is not a document.
    #[error("the {list} of `{registry}` cannot be read: {source}")]
    Document {
        /// Which list.
        list: ListKind,
        /// Of which registry.
        registry: String,
        /// What is wrong.
        source: FormatError,
    },
    /// It is JSON, and no such list.
    #[error("the {list} of `{registry}` cannot be read: {reason}")]
    Shape {
        /// Which list.
        list: ListKind,
        /// Of which registry.
        registry: String,
        /// What is wrong.
        reason: String,
    },
    /// Its signatures cannot be read.
    #[error("the signatures of the {list} of `{registry}` cannot be read: {source}")]
    Signatures {
        /// Which list.
        list: ListKind,
        /// Of which registry.
        registry: String,
        /// What is wrong.
        source: FormatError,
    },
    /// The user trusts no key of this registry.
    #[error("no key of the registry `{registry}` is trusted")]
    UnknownRegistry {
        /// Which registry.
        registry: String,
    },
    /// The registry's key was revoked.
    #[error("the key {key} of the registry `{registry}` was revoked: {reason}")]
    KeyRevoked {
        /// Which registry.
        registry: String,
        /// Which key.
        key: KeyId,
        /// Why.
        reason: String,
    },
    /// The registry's key did not sign it.
    #[error("the {list} of `{registry}` is not signed by its key {key}")]
    Unsigned {
        /// Which list.
        list: ListKind,
        /// Of which registry.
        registry: String,
        /// Which key must sign.
        key: KeyId,
    },
    /// The signature is wrong.
    #[error("the {list} of `{registry}` is not what its key {key} signed")]
    BadSignature {
        /// Which list.
        list: ListKind,
        /// Of which registry.
        registry: String,
        /// Which key.
        key: KeyId,
    },
    /// It is older than the one seen last.
    #[error("the {list} of `{registry}` has number {number}, but {seen} was seen already")]
    Rollback {
        /// Which list.
        list: ListKind,
        /// Of which registry.
        registry: String,
        /// Its number.
        number: u64,
        /// The number seen last.
        seen: u64,
    },
    /// It has the number of another one.
    #[error(
        "the {list} of `{registry}` has number {number}, which a different one that was seen before has too"
    )]
    Conflict {
        /// Which list.
        list: ListKind,
        /// Of which registry.
        registry: String,
        /// Their number.
        number: u64,
    },
    /// It is from the future.
    #[error("the {list} of `{registry}` is dated {ahead} seconds ahead of the clock here")]
    Future {
        /// Which list.
        list: ListKind,
        /// Of which registry.
        registry: String,
        /// How far.
        ahead: u64,
    },
    /// The copy kept here cannot be used.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The copy kept here is not what jp writes.
    #[error("the file {} {problem}", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// There is no room for more.
    #[error("the {list} kept here would have more than {max} bytes with those of `{registry}`")]
    Full {
        /// Which list.
        list: ListKind,
        /// Of which registry.
        registry: String,
        /// How many bytes are kept.
        max: usize,
    },
}

impl ListError {
    /// Says what to do about it, where there is something.
    #[must_use]
    pub(crate) fn hint(&self) -> Option<String> {
        Some(match self {
            Self::UnknownRegistry { registry } => format!(
                "check the key of `{registry}` with its operator, then trust it with `jp trust key PUBLIC-KEY --registry {registry}`"
            ),
            Self::KeyRevoked { registry, .. } => {
                format!("ask the operator of `{registry}` for its new key")
            }
            Self::Rollback { registry, .. } | Self::Conflict { registry, .. } => format!(
                "`{registry}` or somebody on the way to it serves an old copy; what is installed goes on working"
            ),
            Self::Future { .. } => "set the clock of this machine, or wait".to_owned(),
            Self::Unsigned { registry, .. } | Self::BadSignature { registry, .. } => format!(
                "if `{registry}` has a new key, check it with its operator and trust it with `jp trust key PUBLIC-KEY --registry {registry}`"
            ),
            // Revocations are known from this file alone: removing it forgets them.
            Self::Damaged { path, problem } if problem.starts_with("is damaged") => format!(
                "put {} back from a backup; without one, remove it and run `jp tool outdated`, which asks the registries again, before any tool",
                path.display()
            ),
            Self::Damaged { path, .. } => {
                format!("look through it, then `chmod 600 {}`", path.display())
            }
            _ => return None,
        })
    }
}
