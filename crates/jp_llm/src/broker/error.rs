//! Why the broker of a user cannot be made.

use std::{io, path::PathBuf};

use jp_broker::{CallError, SecretError, ServerError, http::HttpError, kv::StoreError};

/// Why the broker of a user cannot be made: a file of the user cannot be used, or the configuration
/// names what cannot be.
#[derive(Debug, thiserror::Error)]
pub enum BrokerError {
    /// The proxy is invalid.
    #[error("`broker.proxy`: {0}")]
    Proxy(#[source] HttpError),
    /// GitHub's server is invalid.
    #[error("`broker.github`: {0}")]
    Github(#[source] CallError),
    /// A named server is invalid.
    #[error(transparent)]
    Servers(#[from] ServerError),
    /// The directory of the database cannot be made.
    #[error("cannot make {}: {source}", dir.display())]
    Directory {
        /// The directory.
        dir: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The secrets cannot be kept where they should be.
    #[error(transparent)]
    Secrets(#[from] SecretError),
    /// What should name a secret does not.
    #[error("`{}`: {source}", jp_text::inline(key))]
    NoSecret {
        /// What names it.
        key: String,
        /// Why.
        source: SecretError,
    },
    /// The search of a model needs to know which.
    #[error("`broker.search.model` is missing: this provider needs the name of a model")]
    NoModel,
}
