//! Keys: who signed. Ed25519 only; a public key has one text form, and an id that is short enough
//! to be compared by a person.

mod file;
#[cfg(test)]
mod tests;

use std::{fmt, io, path::PathBuf, str::FromStr};

use data_encoding::{BASE64, HEXLOWER};
use ring::{
    rand::{SecureRandom, SystemRandom},
    signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey},
};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::Digest;

const PREFIX: &str = "ed25519:";

/// Why a key could not be read, made or kept.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The text is no public key.
    #[error(
        "`{}` is no public key: expected `ed25519:` and 44 characters of base64",
        jp_text::inline(text)
    )]
    Public {
        /// The beginning of the text.
        text: String,
    },
    /// The text is no id of a key.
    #[error(
        "`{}` is no id of a key: expected 32 digits 0-9 and a-f",
        jp_text::inline(text)
    )]
    Id {
        /// The beginning of the text.
        text: String,
    },
    /// The system gave no randomness.
    #[error("the system gives no random numbers to make a key of")]
    Random,
    /// The file could not be used.
    #[error("cannot {action} the key file {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is a file already.
    #[error("there is a file {} already, and a key is never overwritten", path.display())]
    Exists {
        /// Which file.
        path: PathBuf,
    },
    /// The file holds the half that everybody may have.
    #[error("{} holds a public key, which checks signatures; signing takes the secret one", path.display())]
    PublicHalf {
        /// Which file.
        path: PathBuf,
    },
    /// Others can get at the file.
    #[error("the key file {} {problem}", path.display())]
    Exposed {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The file is no key file.
    #[error("the key file {} is damaged: {problem}", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
}

impl KeyError {
    /// Says what to do about it, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        if let Self::PublicHalf { path } = self {
            // How `jp registry keygen FILE.key > FILE.pub` names the two.
            let secret = path.with_extension("key");
            let secret = secret.display();
            return Some(format!(
                "give the file that `jp registry keygen` wrote, such as `{secret}`, not what it printed"
            ));
        }
        let text = match self {
            Self::Exists { .. } => "choose another name, or move the old key away",
            Self::Exposed { .. } => {
                "make it a file of your own with `chmod 600`; if others may have read it, make a new key and rotate to it"
            }
            Self::Damaged { .. } => "restore it from a backup, or make a new key",
            Self::Public { .. } => "copy the whole line that `jp registry keygen` printed",
            _ => return None,
        };
        Some(text.to_owned())
    }
}

/// A key that signatures are checked with: `ed25519:<base64>`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PublicKey([u8; 32]);

/// Names a key: the first 16 bytes of its sha256, as 32 digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyId([u8; 16]);

/// A key that signs. It never shows itself.
pub struct SigningKey {
    seed: Zeroizing<[u8; 32]>,
    public: PublicKey,
}

impl PublicKey {
    /// Returns the id of the key.
    #[must_use]
    pub fn id(&self) -> KeyId {
        let mut id = [0; 16];
        let hash = Digest::of(&self.0);
        for (to, from) in id.iter_mut().zip(hash.as_bytes()) {
            *to = *from;
        }
        KeyId(id)
    }

    /// Tells whether this key signed exactly these bytes.
    #[must_use]
    pub(crate) fn signed(&self, message: &[u8], signature: &[u8]) -> bool {
        let key = UnparsedPublicKey::new(&ED25519, &self.0);
        key.verify(message, signature).is_ok()
    }
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
        let signature = self.pair()?.sign(message);
        signature.as_ref().try_into().ok()
    }

    fn from_seed(seed: Zeroizing<[u8; 32]>) -> Option<Self> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed.as_slice()).ok()?;
        let public = PublicKey(pair.public_key().as_ref().try_into().ok()?);
        Some(Self { seed, public })
    }

    fn pair(&self) -> Option<Ed25519KeyPair> {
        Ed25519KeyPair::from_seed_and_public_key(self.seed.as_slice(), &self.public.0).ok()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey")
            .field("public", &self.public)
            .finish_non_exhaustive()
    }
}

impl FromStr for PublicKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let bytes = text
            .strip_prefix(PREFIX)
            .filter(|base64| base64.len() == 44)
            .and_then(|base64| BASE64.decode(base64.as_bytes()).ok());
        bytes
            .and_then(|bytes| bytes.try_into().ok())
            .map(Self)
            .ok_or_else(|| KeyError::Public {
                text: jp_text::shorten(text, 80).into_owned(),
            })
    }
}

impl FromStr for KeyId {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let bytes = Some(text)
            .filter(|text| text.len() == 32)
            .and_then(|text| HEXLOWER.decode(text.as_bytes()).ok());
        bytes
            .and_then(|bytes| bytes.try_into().ok())
            .map(Self)
            .ok_or_else(|| KeyError::Id {
                text: jp_text::shorten(text, 80).into_owned(),
            })
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", BASE64.encode(&self.0))
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

/// Shows a type as its text, and reads it from there.
macro_rules! as_text {
    ($($name:ident),+) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl TryFrom<String> for $name {
            type Error = KeyError;

            fn try_from(text: String) -> Result<Self, KeyError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }
    )+};
}
as_text!(PublicKey, KeyId);
