//! Keys that sign. Ed25519 only; the public half is `jp_registry`'s.

mod error;
mod file;
#[cfg(test)]
mod tests;

use std::fmt;

use data_encoding::BASE64;
use jp_registry::PublicKey;
use ring::{
    rand::{SecureRandom, SystemRandom},
    signature::{Ed25519KeyPair, KeyPair},
};
use zeroize::Zeroizing;

pub use error::KeyError;

/// A key that signs. It never shows itself.
pub struct SigningKey {
    seed: Zeroizing<[u8; 32]>,
    public: PublicKey,
}

impl SigningKey {
    /// Makes a new key.
    ///
    /// # Errors
    ///
    /// [`KeyError::Random`].
    pub fn generate() -> Result<Self, KeyError> {
        let mut seed = Zeroizing::new([0; 32]);
        let filled = SystemRandom::new().fill(seed.as_mut_slice());
        filled.map_err(|_| KeyError::Random)?;
        Self::from_seed(seed).ok_or(KeyError::Random)
    }

    /// Returns the key that others check signatures with.
    #[must_use]
    pub const fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Signs bytes; the caller has put the domain in front of them.
    pub(crate) fn sign(&self, message: &[u8]) -> Option<[u8; 64]> {
        let pair = Ed25519KeyPair::from_seed_unchecked(self.seed.as_slice()).ok()?;
        pair.sign(message).as_ref().try_into().ok()
    }

    fn from_seed(seed: Zeroizing<[u8; 32]>) -> Option<Self> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed.as_slice()).ok()?;
        let text = format!("ed25519:{}", BASE64.encode(pair.public_key().as_ref()));
        let public = text.parse().ok()?;
        Some(Self { seed, public })
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey")
            .field("public", &self.public)
            .finish_non_exhaustive()
    }
}
