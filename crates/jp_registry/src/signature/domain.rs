//! What exactly is signed: the name of the kind, a zero byte, and the canonical form.

use serde_json::Value;

use super::{Role, Signature, SignatureBytes, SignatureError};
use crate::{
    document,
    key::{PublicKey, SigningKey},
};

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
    pub const ALL: [Self; 5] = [
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

    fn message(self, value: &Value) -> Result<Vec<u8>, SignatureError> {
        let mut message = self.prefix().to_vec();
        let canonical = match (self, value) {
            (Self::Manifest, Value::Object(manifest)) => {
                let kept = manifest
                    .iter()
                    .filter(|(key, _)| !Self::ADDED.contains(&key.as_str()));
                let kept = kept.map(|(key, value)| (key.clone(), value.clone()));
                document::canonical(&Value::Object(kept.collect()))?
            }
            (Self::Manifest, _) => return Err(SignatureError::NoManifest),
            _ => document::canonical(value)?,
        };
        message.extend(canonical);
        Ok(message)
    }
}

/// Signs a document of some kind.
///
/// # Errors
///
/// When the value has no canonical form.
pub fn sign(
    domain: Domain,
    value: &Value,
    key: &SigningKey,
) -> Result<SignatureBytes, SignatureError> {
    let failed = || SignatureError::Failed {
        key: key.public().id(),
    };
    let message = domain.message(value)?;
    key.sign(&message).map(SignatureBytes).ok_or_else(failed)
}

/// Tells whether a key signed exactly this document as one of this kind.
#[must_use]
pub fn verify(domain: Domain, value: &Value, key: &PublicKey, signature: &SignatureBytes) -> bool {
    let message = domain.message(value);
    message.is_ok_and(|message| key.signed(&message, &signature.0))
}

/// Signs a manifest as its publisher.
///
/// # Errors
///
/// When it is no object, or has no canonical form.
pub fn sign_manifest(manifest: &Value, key: &SigningKey) -> Result<Signature, SignatureError> {
    Ok(Signature {
        role: Role::Publisher,
        key: key.public().id(),
        value: sign(Domain::Manifest, manifest, key)?,
    })
}

/// Signs a whole manifest as the registry that validated it.
///
/// # Errors
///
/// When it is no object, or has no canonical form.
pub fn countersign(manifest: &Value, key: &SigningKey) -> Result<Signature, SignatureError> {
    if !manifest.is_object() {
        return Err(SignatureError::NoManifest);
    }
    Ok(Signature {
        role: Role::Registry,
        key: key.public().id(),
        value: sign(Domain::Validation, manifest, key)?,
    })
}
