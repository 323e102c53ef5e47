//! Secrets: kept sealed, filled in by the host where a request leaves, scrubbed from what comes back.
//!
//! A [`SecretStore`] over a [`Vault`] holds them, each with its audience. A guest gets a handle
//! (`{{secret:github_pat}}`), never the value, unless both its grant and the secret say so.
//!
//! The key that seals them lies in a file, or in a [`Keyring`].
//!
//! The store's own copies are wiped when they are dropped. Copies on their way through a connection
//! are not, nor are the patterns of a [`Scrubber`].

mod audience;
mod error;
mod escapes;
mod fill;
mod forms;
mod get;
mod key;
mod keyring;
mod passing;
mod private;
mod scrub;
mod seal;
mod secret;
mod store;
mod vault;

pub use audience::Audience;
pub use error::{KeyLies, SecretError};
pub use fill::secrets_in;
pub use key::{KeyPlace, Moved};
pub use keyring::{KeyId, Keyring, KeyringError, SessionKeyring};
pub use scrub::Scrubber;
pub use secret::{Secret, SecretInfo, SecretName, SecretValue};
pub use store::SecretStore;
pub use vault::{FileVault, Vault, VaultPaths};

pub(crate) use fill::{Part, find_granted, mentions_secret, parts};
pub(crate) use get::all;
pub(crate) use passing::Passing;

/// Keeps the memory of this process, and with it every secret, out of core dumps.
///
/// For programs to call once when they start; children inherit it.
///
/// # Errors
///
/// What the system said when it refused.
pub fn deny_core_dumps() -> std::io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    // Not 0: a dump that is piped to a program heeds no limit but the special value 1 (core(5)).
    // A file of one byte is never written. Where the system already says 0, it cannot be raised.
    let most = getrlimit(Resource::Core)
        .maximum
        .map_or(1, |most| most.min(1));
    let none = Rlimit {
        current: Some(most),
        maximum: Some(most),
    };
    Ok(setrlimit(Resource::Core, none)?)
}
