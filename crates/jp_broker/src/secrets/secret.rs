//! One secret: its name, its value, and for whom it is meant.

use std::{fmt, str::FromStr};

use zeroize::Zeroizing;

use super::{Audience, SecretError};
use crate::http::Location;

/// Longer names are refused.
const MAX_NAME: usize = 64;
/// Shorter values cannot be kept out of texts: a guest that lists all of them sees which one is scrubbed.
const MIN_VALUE: usize = 8;
/// Longer values are refused; a private key takes a third of this.
const MAX_VALUE: usize = 8 * 1024;

/// The name of a secret, such as `github_pat`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretName(String);

impl SecretName {
    /// Returns the name as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Tells whether the secret belongs to the host itself. No grant gives it to a tool: not even
    /// `secrets.get.*`.
    #[must_use]
    pub fn is_reserved(&self) -> bool {
        self.0.starts_with("jp-") || self.0.starts_with("jp_")
    }
}

impl FromStr for SecretName {
    type Err = SecretError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-".contains(&b);
        if text.is_empty() || text.len() > MAX_NAME || !text.bytes().all(fits) {
            return Err(SecretError::Name);
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The value of a secret; wiped when dropped, and never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretValue(Zeroizing<Vec<u8>>);

impl SecretValue {
    /// Takes a value.
    ///
    /// # Errors
    ///
    /// When it is shorter than 8 bytes or longer than 8 KiB.
    pub fn new(bytes: Vec<u8>) -> Result<Self, SecretError> {
        let bytes = Zeroizing::new(bytes);
        if bytes.trim_ascii().len() < MIN_VALUE {
            let problem = "expected at least 8 bytes without the white space around it: a shorter one \
                           cannot be told from other text";
            return Err(SecretError::Value { problem });
        }
        if bytes.len() > MAX_VALUE {
            let problem = "expected at most 8 KiB";
            return Err(SecretError::Value { problem });
        }
        Ok(Self(bytes))
    }

    /// Returns the bytes; for the edge where they are used, and nowhere else.
    #[must_use]
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

/// A secret as the store keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// Its name.
    pub name: SecretName,
    /// Its value.
    pub value: SecretValue,
    /// Where it may be sent; nowhere when empty.
    pub audience: Vec<Audience>,
    /// Whether a tool that is granted `secrets.reveal.<name>` may see the value.
    pub reveal: bool,
    /// When it was stored, in milliseconds since 1970.
    pub created: i64,
}

impl Secret {
    /// Tells whether a request to this place may carry it.
    #[must_use]
    pub fn is_meant_for(&self, place: &Location) -> bool {
        self.audience.iter().any(|audience| audience.covers(place))
    }

    /// Tells whether the program of the MCP server with this id may have it.
    #[must_use]
    pub fn is_meant_for_server(&self, server: &str) -> bool {
        self.audience
            .iter()
            .any(|audience| audience.is_server(server))
    }

    /// Returns what may be shown of it.
    #[must_use]
    pub fn info(&self) -> SecretInfo {
        SecretInfo {
            name: self.name.clone(),
            audience: self.audience.clone(),
            reveal: self.reveal,
            created: self.created,
        }
    }
}

/// What may be shown of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretInfo {
    /// Its name.
    pub name: SecretName,
    /// Where it may be sent.
    pub audience: Vec<Audience>,
    /// Whether a tool with the grant for it may see the value.
    pub reveal: bool,
    /// When it was stored, in milliseconds since 1970.
    pub created: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_one_spelling() {
        for good in ["a", "github_pat", "x-1", &"a".repeat(64)] {
            assert_eq!(good.parse::<SecretName>().unwrap().as_str(), good);
        }
        for bad in [
            "",
            "A",
            "a.b",
            "a b",
            "a\n",
            "é",
            "*",
            "../a",
            &"a".repeat(65),
        ] {
            assert!(bad.parse::<SecretName>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn values_too_short_to_hide_and_too_long_to_look_for_are_refused() {
        for (length, good) in [
            (0, false),
            (7, false),
            (8, true),
            (8 * 1024, true),
            (8 * 1024 + 1, false),
        ] {
            assert_eq!(
                SecretValue::new(vec![b'x'; length]).is_ok(),
                good,
                "{length}"
            );
        }
        assert!(SecretValue::new(b"abc         ".to_vec()).is_err());
    }

    #[test]
    fn a_value_never_shows_itself() {
        let secret = Secret {
            name: "a".parse().unwrap(),
            value: SecretValue::new(b"hunter2hunter2".to_vec()).unwrap(),
            audience: Vec::new(),
            reveal: false,
            created: 0,
        };
        let text = format!("{secret:?} {:?} {:#?}", secret.info(), secret.value);
        assert!(text.contains("[secret]") && !text.contains("hunter2"));
    }
}
