//! The id of a key in a keyring: random, so that no two vaults share one.

use std::fmt;

use data_encoding::HEXLOWER;

/// The bytes of an id.
pub(in crate::secrets) const ID_LEN: usize = 16;

/// Names a key in a keyring. It is not secret.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeyId(String);

impl KeyId {
    /// Makes an id of random bytes.
    pub(in crate::secrets) fn of(random: [u8; ID_LEN]) -> Self {
        Self(HEXLOWER.encode(&random))
    }

    /// Reads an id as it is written down: nothing else gets to a keyring.
    pub(in crate::secrets) fn parse(text: &str) -> Option<Self> {
        let bytes = HEXLOWER.decode(text.as_bytes()).ok()?;
        (bytes.len() == ID_LEN).then(|| Self(text.to_owned()))
    }

    /// Returns it as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
