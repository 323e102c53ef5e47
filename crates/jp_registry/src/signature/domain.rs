//! What exactly is signed: the name of the kind, a zero byte, and the canonical form.

use serde_json::Value;

use super::SignatureError;
use crate::{FormatError, document};

/// What kind of document a signature is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Domain {
    /// A tool's manifest, as its publisher signs it: without what the registry adds.
    Manifest,
    /// A whole manifest, as the registry that validated it signs it.
    Validation,
    /// The index of a registry.
    Index,
    /// The revocations of a registry.
    Revocations,
    /// A statement that one key takes the place of another.
    Rotation,
}

impl Domain {
    /// Every kind there is.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 5] = [
        Self::Manifest,
        Self::Validation,
        Self::Index,
        Self::Revocations,
        Self::Rotation,
    ];

    /// None of these is the beginning of another: each ends in a zero byte, which none contains.
    const fn prefix(self) -> &'static [u8] {
        match self {
            Self::Manifest => b"jp-tool-manifest-v1\0",
            Self::Validation => b"jp-tool-validation-v1\0",
            Self::Index => b"jp-registry-index-v1\0",
            Self::Revocations => b"jp-registry-revocations-v1\0",
            Self::Rotation => b"jp-key-rotation-v1\0",
        }
    }

    /// What a registry adds to a manifest, which its publisher cannot have signed.
    const ADDED: [&'static str; 2] = ["validated_at", "validated_by"];

    /// Returns the bytes that are signed.
    ///
    /// # Errors
    ///
    /// When the value has no canonical form, or is not an object and must be one.
    pub fn message(self, value: &Value) -> Result<Vec<u8>, FormatError> {
        let mut message = self.prefix().to_vec();
        let canonical = match (self, value) {
            (Self::Manifest, Value::Object(manifest)) => {
                let kept = manifest
                    .iter()
                    .filter(|(key, _)| !Self::ADDED.contains(&key.as_str()));
                let kept = kept.map(|(key, value)| (key.clone(), value.clone()));
                document::canonical(&Value::Object(kept.collect()))?
            }
            (Self::Manifest | Self::Validation, value) if !value.is_object() => {
                return Err(SignatureError::NoManifest.into());
            }
            _ => document::canonical(value)?,
        };
        message.extend(canonical);
        Ok(message)
    }
}
