//! The file of a signing key: for its owner only, from the first byte on.

use std::path::Path;

use data_encoding::BASE64;
use jp_disk::private;
use zeroize::Zeroizing;

use super::{KeyError, SigningKey, error::KeyTextError};
use jp_registry::PublicKey;

const HEADER: &str = "jp-signing-key-v1";
/// A key file is never larger.
const MAX: u64 = 1024;

impl SigningKey {
    /// Writes the key to a new file that only its owner can read.
    ///
    /// # Errors
    ///
    /// [`KeyError::Exists`] when there is a file already, or what kept it from being written.
    pub fn write(&self, path: &Path) -> Result<(), KeyError> {
        let secret = Zeroizing::new(BASE64.encode(self.seed.as_slice()));
        let public = &self.public;
        let text = Zeroizing::new(format!(
            "{HEADER}\npublic {public}\nsecret {}\n",
            secret.as_str()
        ));
        let failed = |source| KeyError::Io {
            action: "write",
            path: path.to_owned(),
            source,
        };
        match jp_disk::create_private(path, text.as_bytes()) {
            Ok(true) => Ok(()),
            Ok(false) => Err(KeyError::Exists {
                path: path.to_owned(),
            }),
            Err(source) => Err(failed(source)),
        }
    }

    /// Reads a key from its file.
    ///
    /// # Errors
    ///
    /// When there is none, others can read or change it, it is damaged, or it is the public half.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        Self::read_secret(path).map_err(|error| match error {
            // Everybody may read that one: `chmod` would be bad advice.
            KeyError::Exposed { path, .. } | KeyError::Damaged { path, .. } if is_public(&path) => {
                KeyError::PublicHalf { path }
            }
            error => error,
        })
    }

    fn read_secret(path: &Path) -> Result<Self, KeyError> {
        let owned = || path.to_owned();
        let bytes = private::read(path, MAX, private::Others::Nothing).map_err(|e| match e {
            private::ReadError::Io(source) => KeyError::Io {
                action: "read",
                path: owned(),
                source,
            },
            private::ReadError::Unsafe(exposure) => KeyError::Exposed {
                path: owned(),
                problem: exposure.words(),
            },
        })?;
        let bytes = Zeroizing::new(bytes.ok_or_else(|| KeyError::Io {
            action: "read",
            path: owned(),
            source: std::io::ErrorKind::NotFound.into(),
        })?);
        let text = std::str::from_utf8(&bytes).unwrap_or_default();
        Self::from_text(text).map_err(|source| KeyError::Damaged {
            path: owned(),
            source,
        })
    }

    pub(super) fn from_text(text: &str) -> Result<Self, KeyTextError> {
        let mut lines = text.lines();
        if lines.next() != Some(HEADER) {
            return Err(KeyTextError::Header);
        }
        let mut field = |name: &str| lines.next().and_then(|line| line.strip_prefix(name));
        let public = field("public ").and_then(|key| key.parse::<PublicKey>().ok());
        let public = public.ok_or(KeyTextError::Public)?;
        let secret = field("secret ").filter(|text| text.len() == 44);
        let secret = secret.and_then(|text| BASE64.decode(text.as_bytes()).ok());
        let secret = Zeroizing::new(secret.ok_or(KeyTextError::Secret)?);
        let mut seed = Zeroizing::new([0; 32]);
        if secret.len() != seed.len() || lines.next().is_some() {
            return Err(KeyTextError::Length);
        }
        seed.copy_from_slice(&secret);
        Self::from_seed(seed)
            .filter(|key| key.public == public)
            .ok_or(KeyTextError::Halves)
    }
}

/// Tells whether a file holds nothing but a public key.
fn is_public(path: &Path) -> bool {
    let bytes = jp_disk::read(path, MAX).ok().flatten();
    let bytes = Zeroizing::new(bytes.unwrap_or_default());
    let text = std::str::from_utf8(&bytes).unwrap_or_default();
    text.trim().parse::<PublicKey>().is_ok()
}
