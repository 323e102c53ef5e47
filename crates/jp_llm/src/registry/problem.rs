//! Why a signed tool cannot be used, and what to type about it.

use crate::tool::ErrorKind;

/// Why a signed tool cannot be used as it is.
#[derive(Debug, thiserror::Error)]
pub enum SignedProblem {
    /// The lock file names it, and this machine has never verified it.
    #[error("`jp.lock` names it, and it is not installed on this machine")]
    NotInstalled,
    /// The configuration wants it, and the lock file does not have it.
    #[error("the configuration names it, and `jp.lock` does not")]
    NotLocked,
    /// The lock file says something else than what was verified.
    #[error("`jp.lock` does not say what was verified on this machine: {reason}")]
    LockChanged {
        /// What is different.
        reason: String,
    },
    /// Somebody whose word counts has revoked it.
    #[error("it was revoked: {reason}")]
    Revoked {
        /// Why.
        reason: String,
    },
    /// The key that signed it does not speak for it.
    #[error("it is signed by the key {key}, which {standing}")]
    Key {
        /// The id of the key.
        key: String,
        /// How the key stands to the tool.
        standing: String,
    },
    /// Bytes that it needs are not on this machine, and nobody may be asked for them.
    #[error("{what} is not on this machine, and nothing may be fetched")]
    Missing {
        /// What is missing.
        what: String,
    },
    /// Bytes that it needs could not be fetched.
    #[error("{what} could not be fetched: {reason}")]
    Fetch {
        /// What is missing.
        what: String,
        /// Why not.
        reason: String,
    },
    /// Something about it is not as it must be.
    #[error("{reason}")]
    Refused {
        /// What.
        reason: String,
    },
    /// What is kept about it on this machine cannot be read.
    #[error("what is kept about it cannot be read: {reason}")]
    Unreadable {
        /// Why not.
        reason: String,
    },
}

impl SignedProblem {
    /// Returns which world of errors it belongs to.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::NotInstalled | Self::NotLocked | Self::Missing { .. } => ErrorKind::Configuration,
            Self::LockChanged { .. }
            | Self::Revoked { .. }
            | Self::Key { .. }
            | Self::Refused { .. } => ErrorKind::Denied,
            Self::Fetch { .. } | Self::Unreadable { .. } => ErrorKind::Host,
        }
    }

    /// Returns what to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NotInstalled => {
                "`jp tool install --locked` installs what `jp.lock` names".to_owned()
            }
            Self::NotLocked => {
                "`jp tool lock` puts it there, and shows what it asks for".to_owned()
            }
            Self::LockChanged { .. } => {
                "look at the change; `jp tool remove` and `jp tool install` take what the registry \
                 has now"
                    .to_owned()
            }
            Self::Revoked { .. } => {
                "`jp tool update` looks for a version that was not, `jp tool remove` gives it up"
                    .to_owned()
            }
            Self::Key { .. } => {
                "if you know whose key that is: `jp trust key PUBLIC-KEY --for TOOL`, with the key \
                 that its publisher gives you"
                    .to_owned()
            }
            Self::Missing { .. } | Self::Fetch { .. } => {
                "`jp tool install --locked` fetches it when you are online".to_owned()
            }
            Self::Refused { .. } => "`jp tool verify` says what is wrong".to_owned(),
            Self::Unreadable { .. } => "`jp doctor` says what is wrong".to_owned(),
        })
    }
}
