//! A keyring: where the key that opens the secrets can lie instead of a file.
//!
//! It keeps keys under ids. It knows neither the secrets nor the files of this crate.

mod error;
mod id;
#[cfg(target_os = "linux")]
mod service;
mod session;

use std::fmt;

use zeroize::Zeroizing;

pub use error::KeyringError;
pub use id::KeyId;
pub use session::SessionKeyring;

pub(super) use id::ID_LEN;

/// Keeps keys for a user.
///
/// Whatever it does is over within seconds, and it asks the user nothing: a keyring that would have
/// to ask is [`KeyringError::Locked`].
pub trait Keyring: fmt::Debug + Send + Sync {
    /// Returns the key kept under an id; `None` when there is none.
    ///
    /// # Errors
    ///
    /// When the keyring cannot be asked: then there may be one.
    fn get(&self, id: &KeyId) -> Result<Option<Zeroizing<Vec<u8>>>, KeyringError>;

    /// Keeps a key under an id, for longer than this session of the user lasts.
    ///
    /// # Errors
    ///
    /// When it cannot be kept.
    fn put(&self, id: &KeyId, key: &[u8]) -> Result<(), KeyringError>;

    /// Forgets the key kept under an id, if there is one.
    ///
    /// # Errors
    ///
    /// When it cannot be forgotten.
    fn remove(&self, id: &KeyId) -> Result<(), KeyringError>;
}
