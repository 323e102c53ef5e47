//! The one name of bytes: their SHA-256.

use std::{
    fmt,
    io::{self, Write},
    str::FromStr,
};

use serde::{Deserialize, Serialize};
use sha2::Digest as _;

/// How much of an invalid digest is kept for the message.
const SHOWN: usize = 80;

/// The SHA-256 of some bytes, written as 64 hexadecimal digits in lower case.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Sha256([u8; 32]);

/// A text that is no SHA-256.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid sha256 `{}`: expected 64 digits 0-9 and a-f", text.escape_debug())]
pub struct Sha256Error {
    /// The beginning of the text.
    pub text: String,
}

impl Sha256 {
    /// Hashes bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    /// Takes a hash that was made elsewhere.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the hash as bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Hashes bytes that come in parts.
#[derive(Debug, Clone, Default)]
pub struct Sha256Hasher(sha2::Sha256);

impl Sha256Hasher {
    /// Adds the next part.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the hash of all parts.
    #[must_use]
    pub fn finish(self) -> Sha256 {
        Sha256(self.0.finalize().into())
    }
}

impl Write for Sha256Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [[0; 2]; 32];
        for (pair, byte) in text.iter_mut().zip(self.0) {
            *pair = [byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]);
        }
        f.write_str(str::from_utf8(text.as_flattened()).unwrap_or_default())
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Sha256 {
    type Err = Sha256Error;

    fn from_str(text: &str) -> Result<Self, Sha256Error> {
        read(text).map(Self).ok_or_else(|| Sha256Error {
            text: text.chars().take(SHOWN).collect(),
        })
    }
}

fn read(text: &str) -> Option<[u8; 32]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else {
        return None;
    };
    let mut bytes = [0; 32];
    if pairs.len() != bytes.len() {
        return None;
    }
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

impl TryFrom<String> for Sha256 {
    type Error = Sha256Error;

    fn try_from(text: String) -> Result<Self, Sha256Error> {
        text.parse()
    }
}

impl From<Sha256> for String {
    fn from(value: Sha256) -> Self {
        value.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_digest_of_abc_is_the_one_of_the_standard() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Sha256::of(b"abc").to_string(), expected);
        assert_eq!(format!("{:?}", Sha256::of(b"abc")), expected);
        let mut parts = Sha256Hasher::default();
        parts.update(b"a");
        parts.write_all(b"bc").unwrap();
        assert_eq!(parts.finish(), Sha256::of(b"abc"));
    }

    #[test]
    fn only_64_digits_in_lower_case_are_a_digest() {
        let good = Sha256::of(b"").to_string();
        let long = format!("{good}00");
        for text in [
            "",
            "ab",
            &good[1..],
            &good.to_uppercase(),
            &long,
            &"ä".repeat(32),
        ] {
            assert!(text.parse::<Sha256>().is_err(), "{text}");
        }
        let error = "\u{1b}[2J".parse::<Sha256>().unwrap_err().to_string();
        assert!(!error.contains('\u{1b}'), "{error}");
    }

    proptest! {
        #[test]
        fn every_digest_reads_back(bytes: [u8; 32]) {
            let digest = Sha256::from_bytes(bytes);
            prop_assert_eq!(digest.to_string().parse::<Sha256>().unwrap(), digest);
            let json = serde_json::to_string(&digest).unwrap();
            prop_assert_eq!(serde_json::from_str::<Sha256>(&json).unwrap(), digest);
        }
    }
}
