//! Why a statement that a key is replaced is refused.

use crate::{FormatError, key::KeyId, trust::TrustError};

/// Why a statement is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RotationError {
    /// The list of statements cannot be read.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The old key did not sign it.
    #[error("the key {old} did not sign the statement that it is replaced by {new}")]
    BadSignature {
        /// Which key would be replaced.
        old: KeyId,
        /// By which.
        new: KeyId,
    },
    /// Nobody trusts the old key.
    #[error("the key {old}, which would be replaced, is not trusted")]
    Unknown {
        /// Which key.
        old: KeyId,
    },
    /// The statement is older than what brought the key in.
    #[error("the statement of {old} has number {number}, which is not above {seen}")]
    Stale {
        /// Which key.
        old: KeyId,
        /// The statement's number.
        number: u64,
        /// The number seen last.
        seen: u64,
    },
    /// It moves no name that the old key is trusted for.
    #[error("the statement of {old} moves no name that this key is trusted for")]
    NoNames {
        /// Which key.
        old: KeyId,
    },
    /// One of the two keys was revoked, or gave its names away already.
    #[error("{source}")]
    Retired {
        /// What became of it.
        #[from]
        source: TrustError,
    },
    /// A key would replace itself.
    #[error("the key {old} would replace itself")]
    Itself {
        /// Which key.
        old: KeyId,
    },
}
