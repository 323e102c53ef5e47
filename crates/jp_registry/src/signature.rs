//! Signatures beside a document: who signed it, and in which role.
//!
//! What is signed is the canonical form behind the name of its kind, so that a signature of one kind
//! of document is never one of another.

mod domain;
mod list;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use domain::Domain;
#[cfg(test)]
pub(crate) use list::CLOCK_SKEW;
pub(crate) use list::Seen;
pub(crate) use list::{Dated, ListKind};
pub(crate) use list::{Judge, ListError, SignedList};

use crate::{
    FormatError, document,
    key::{KeyId, PublicKey},
};

/// A larger signature file is refused.
const MAX_BYTES: usize = 64 * 1024;
/// More signatures are refused.
const MAX_SIGNATURES: usize = 16;

/// Why signatures could not be read, or a document not be signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SignatureError {
    /// The file is JSON, and not a signature file.
    #[error("invalid signature file: {reason}")]
    Shape {
        /// What is wrong.
        reason: String,
    },
    /// A text is not that of a signature.
    #[error("a signature is 88 characters of base64")]
    NotBase64,
    /// There are too many signatures.
    #[error("too many signatures: expected at most {MAX_SIGNATURES}, found {count}")]
    TooMany {
        /// How many there are.
        count: usize,
    },
    /// One key signed twice in the same role.
    #[error("the key {key} signed twice")]
    Twice {
        /// Which key.
        key: KeyId,
    },
    /// What was to be signed is not a manifest.
    #[error("invalid manifest: expected an object")]
    NoManifest,
}

/// In which role a key signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Made the tool.
    Publisher,
    /// Offers or validated it.
    Registry,
}

/// One signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// In which role.
    pub role: Role,
    /// By which key.
    pub key: KeyId,
    /// The signature itself.
    pub value: SignatureBytes,
}

/// The 64 bytes of a signature, written as base64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SignatureBytes([u8; 64]);

/// The signatures of one document, as they stand in the file beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signatures {
    signatures: Vec<Signature>,
}

impl Signature {
    /// Tells whether it is by this key, of exactly this document as one of this kind.
    #[must_use]
    pub fn is_by(&self, key: &PublicKey, domain: Domain, document: &Value) -> bool {
        self.key == key.id() && self.value.is_by(key, domain, document)
    }
}

impl SignatureBytes {
    pub(crate) fn is_by(&self, key: &PublicKey, domain: Domain, document: &Value) -> bool {
        let message = domain.message(document);
        message.is_ok_and(|message| key.signed(&message, &self.0))
    }
}

impl From<[u8; 64]> for SignatureBytes {
    fn from(bytes: [u8; 64]) -> Self {
        Self(bytes)
    }
}

impl Signatures {
    /// Reads a signature file.
    ///
    /// # Errors
    ///
    /// When it is too large, no JSON, or says anything else.
    pub fn read(bytes: &[u8]) -> Result<Self, FormatError> {
        Self::from_value(document::parse(bytes, MAX_BYTES)?)
    }

    fn from_value(value: Value) -> Result<Self, FormatError> {
        let shape = |error| SignatureError::Shape {
            reason: document::said(&error),
        };
        let read: Self = serde_json::from_value(value).map_err(shape)?;
        read.checked()
    }

    fn checked(self) -> Result<Self, FormatError> {
        let count = self.signatures.len();
        if count > MAX_SIGNATURES {
            return Err(SignatureError::TooMany { count }.into());
        }
        let mut seen = BTreeSet::new();
        let twice = self
            .signatures
            .iter()
            .find(|s| !seen.insert((s.role, s.key)));
        match twice.map(|signature| signature.key) {
            Some(key) => Err(SignatureError::Twice { key }.into()),
            None => Ok(self),
        }
    }

    /// Adds a signature, in place of one by the same key in the same role.
    ///
    /// # Errors
    ///
    /// When there are too many.
    pub fn add(&mut self, signature: Signature) -> Result<(), FormatError> {
        let same = |s: &Signature| (s.role, s.key) == (signature.role, signature.key);
        self.signatures.retain(|known| !same(known));
        if self.signatures.len() >= MAX_SIGNATURES {
            let count = self.signatures.len() + 1;
            return Err(SignatureError::TooMany { count }.into());
        }
        self.signatures.push(signature);
        Ok(())
    }

    /// Returns the signatures made in a role.
    pub fn by(&self, role: Role) -> impl Iterator<Item = &Signature> {
        self.signatures.iter().filter(move |s| s.role == role)
    }

    /// Writes the signature file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}

impl TryFrom<String> for SignatureBytes {
    type Error = FormatError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let bytes = Some(text)
            .filter(|text| text.len() == 88)
            .and_then(|text| data_encoding::BASE64.decode(text.as_bytes()).ok());
        bytes
            .and_then(|bytes| bytes.try_into().ok())
            .map(Self)
            .ok_or_else(|| SignatureError::NotBase64.into())
    }
}

impl From<SignatureBytes> for String {
    fn from(value: SignatureBytes) -> Self {
        data_encoding::BASE64.encode(&value.0)
    }
}
