//! Keys that signatures are checked with. Ed25519 only; a public key has one text form, and an id that is short enough
//! to be compared by a person.

use std::{fmt, str::FromStr};

use data_encoding::{BASE64, HEXLOWER};
use ring::signature::{ED25519, UnparsedPublicKey};
use serde::{Deserialize, Serialize};

use crate::{Digest, FormatError};

const PREFIX: &str = "ed25519:";

/// Why a text is not a key or the id of one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KeyError {
    /// Not a public key.
    #[error(
        "invalid public key `{}`: expected `ed25519:` and 44 characters of base64",
        jp_text::inline(text)
    )]
    Public {
        /// The beginning of the text.
        text: String,
    },
    /// Not the id of a key.
    #[error(
        "invalid key id `{}`: expected 32 digits 0-9 and a-f",
        jp_text::inline(text)
    )]
    Id {
        /// The beginning of the text.
        text: String,
    },
}

impl KeyError {
    /// Says what to do about it, where there is something.
    pub(crate) const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Public { .. } => Some("copy the whole line that `jp registry keygen` printed"),
            Self::Id { .. } => None,
        }
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

impl FromStr for PublicKey {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, FormatError> {
        let bytes = text
            .strip_prefix(PREFIX)
            .filter(|base64| base64.len() == 44)
            .and_then(|base64| BASE64.decode(base64.as_bytes()).ok());
        bytes
            .and_then(|bytes| bytes.try_into().ok())
            .map(Self)
            .ok_or_else(|| {
                let text = jp_text::shorten(text, 80).into_owned();
                KeyError::Public { text }.into()
            })
    }
}

impl FromStr for KeyId {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, FormatError> {
        let bytes = Some(text)
            .filter(|text| text.len() == 32)
            .and_then(|text| HEXLOWER.decode(text.as_bytes()).ok());
        bytes
            .and_then(|bytes| bytes.try_into().ok())
            .map(Self)
            .ok_or_else(|| {
                let text = jp_text::shorten(text, 80).into_owned();
                KeyError::Id { text }.into()
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
            type Error = FormatError;

            fn try_from(text: String) -> Result<Self, FormatError> {
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

#[cfg(test)]
mod tests {
    use super::{KeyId, PublicKey};

    #[test]
    fn a_public_key_and_its_id_have_one_text() {
        // RFC 8032, section 7.1, test 1.
        let text = "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
        let key: PublicKey = text.parse().unwrap();
        assert_eq!(key.to_string(), text);
        let id = key.id();
        assert_eq!(id.to_string(), "21fe31dfa154a261626bf854046fd227");
        assert_eq!(id.to_string().parse::<KeyId>().unwrap(), id);
        for bad in [
            "",
            "ed25519:",
            &text[1..],
            &text[..text.len() - 1],
            &text.replace("11q", "1 q"),
            // The same 32 bytes, were the last bits not looked at.
            &text.replace("URo=", "URp="),
            &format!("{text} "),
            "ed25519:é",
        ] {
            assert!(bad.parse::<PublicKey>().is_err(), "{bad}");
        }
        for bad in ["", "21FE31DFA154A261626BF854046FD227", "21fe", "é"] {
            assert!(bad.parse::<KeyId>().is_err(), "{bad}");
        }
    }
}
