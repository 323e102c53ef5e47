//! Bytes of an answer, which JSON holds as base64.

use std::fmt;

use data_encoding::{BASE64, BASE64_NOPAD};
use serde::{Serialize, Serializer};

/// Bytes of an answer.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Blob(Vec<u8>);

/// Text that should have been base64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidBase64;

impl fmt::Display for InvalidBase64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("invalid base64")
    }
}

impl std::error::Error for InvalidBase64 {}

impl Blob {
    /// Reads base64, with its padding or without.
    ///
    /// # Errors
    ///
    /// When the text is anything else.
    pub fn from_base64(text: &str) -> Result<Self, InvalidBase64> {
        let encoding = if text.ends_with('=') {
            BASE64
        } else {
            BASE64_NOPAD
        };
        let bytes = encoding.decode(text.as_bytes());
        bytes.map(Self).map_err(|_| InvalidBase64)
    }

    /// Returns how many bytes a base64 text stands for, without reading it.
    #[must_use]
    pub fn size_of_base64(text: &str) -> usize {
        let letters = text.trim_end_matches('=').len();
        letters / 4 * 3 + (letters % 4).saturating_sub(1)
    }

    /// Writes the bytes as base64.
    #[must_use]
    pub fn to_base64(&self) -> String {
        BASE64.encode(&self.0)
    }

    /// Returns the bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the bytes.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Returns how many bytes there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Tells whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<Vec<u8>> for Blob {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

/// Says how many bytes there are, not which: messages and logs hold no pictures.
impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Blob({} bytes)", self.0.len())
    }
}

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_base64())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_not_base64_is_refused() {
        for text in ["A", "AA=", "AAA", "AB==", "A A A A", "AA-_", "====", "ä"] {
            let read = Blob::from_base64(text);
            // `AAA` is two bytes without padding.
            assert_eq!(read.is_err(), text != "AAA", "{text}: {read:?}");
        }
    }

    proptest! {
        #[test]
        fn bytes_survive_base64_and_their_number_is_known_before(bytes: Vec<u8>) {
            let blob = Blob::from(bytes);
            let text = blob.to_base64();
            for text in [text.as_str(), text.trim_end_matches('=')] {
                prop_assert_eq!(Blob::size_of_base64(text), blob.len());
                prop_assert_eq!(&Blob::from_base64(text).unwrap(), &blob);
            }
        }

        #[test]
        fn no_text_is_larger_than_it_was_taken_for(text in "[A-Za-z0-9+/=]{0,40}|.*") {
            if let Ok(blob) = Blob::from_base64(&text) {
                prop_assert!(blob.len() <= Blob::size_of_base64(&text));
            }
        }
    }
}
