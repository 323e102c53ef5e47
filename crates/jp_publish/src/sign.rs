//! Signing documents: each as one of its kind, so that a signature of one kind is never one of another.

use jp_registry::{
    Domain, NamePattern, PublicKey, Role, Rotation, Signature, SignatureBytes, Signatures,
    SignedRotation,
};
use serde::Serialize;
use serde_json::Value;

use crate::{PublishError, SigningKey};

/// Signs a document of some kind.
///
/// # Errors
///
/// When the value has no canonical form.
pub fn sign(
    domain: Domain,
    value: &Value,
    key: &SigningKey,
) -> Result<SignatureBytes, PublishError> {
    let message = domain.message(value)?;
    let signed = key.sign(&message);
    signed.map(SignatureBytes::from).ok_or(PublishError::Sign {
        key: key.public().id(),
    })
}

/// Signs a manifest as its publisher.
///
/// # Errors
///
/// When it is not an object, or has no canonical form.
pub fn sign_manifest(manifest: &Value, key: &SigningKey) -> Result<Signature, PublishError> {
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
/// When it is not an object, or has no canonical form.
pub fn countersign(manifest: &Value, key: &SigningKey) -> Result<Signature, PublishError> {
    Ok(Signature {
        role: Role::Registry,
        key: key.public().id(),
        value: sign(Domain::Validation, manifest, key)?,
    })
}

/// Makes a statement in the name of the old key: its names are the new one's from now on.
///
/// # Errors
///
/// When it cannot be signed.
pub fn sign_rotation(
    old: &SigningKey,
    new: PublicKey,
    names: Vec<NamePattern>,
    number: u64,
) -> Result<SignedRotation, PublishError> {
    let statement = Rotation {
        old: old.public().id(),
        new,
        names,
        number,
    };
    let value = serde_json::to_value(&statement).unwrap_or(Value::Null);
    let value = sign(Domain::Rotation, &value, old)?;
    Ok(SignedRotation { statement, value })
}

/// A list of a registry as it is written: the document, and the file of signatures beside it.
pub(crate) struct SignedList {
    pub(crate) document: Vec<u8>,
    pub(crate) signatures: Vec<u8>,
}

/// Signs a list as the registry.
pub(crate) fn sign_list(
    domain: Domain,
    content: &impl Serialize,
    key: &SigningKey,
) -> Result<SignedList, PublishError> {
    let value = serde_json::to_value(content).unwrap_or(Value::Null);
    let mut signatures = Signatures::default();
    signatures.add(Signature {
        role: Role::Registry,
        key: key.public().id(),
        value: sign(domain, &value, key)?,
    })?;
    Ok(SignedList {
        document: pretty(&value),
        signatures: signatures.to_bytes(),
    })
}

/// Writes a document as people read it.
pub(crate) fn pretty(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}
