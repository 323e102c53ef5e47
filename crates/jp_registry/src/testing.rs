//! Signing for unit tests, as a publisher and a registry do. Keys are made of numbers, not of chance.

use std::sync::atomic::{AtomicU64, Ordering};

use data_encoding::BASE64;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    FormatError,
    index::IndexContent,
    key::PublicKey,
    revocation::RevocationList,
    signature::{Domain, ListKind, Role, Signature, SignatureBytes, Signatures, SignedList},
    trust::{NamePattern, Rotation, SignedRotation},
};

/// A key that signs.
pub(crate) struct SigningKey {
    pair: Ed25519KeyPair,
    public: PublicKey,
}

impl SigningKey {
    /// Makes a key that no other test of this process has.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let mut seed = [0; 32];
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        seed[..8].copy_from_slice(&number.to_le_bytes());
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).unwrap();
        let text = BASE64.encode(pair.public_key().as_ref());
        let public = format!("ed25519:{text}").parse().unwrap();
        Self { pair, public }
    }

    pub(crate) const fn public(&self) -> &PublicKey {
        &self.public
    }
}

pub(crate) fn sign(
    domain: Domain,
    value: &Value,
    key: &SigningKey,
) -> Result<SignatureBytes, FormatError> {
    let signature = key.pair.sign(&domain.message(value)?);
    let bytes: [u8; 64] = signature.as_ref().try_into().unwrap();
    Ok(bytes.into())
}

pub(crate) fn verify(
    domain: Domain,
    value: &Value,
    key: &PublicKey,
    signature: &SignatureBytes,
) -> bool {
    signature.is_by(key, domain, value)
}

pub(crate) fn sign_manifest(manifest: &Value, key: &SigningKey) -> Result<Signature, FormatError> {
    Ok(Signature {
        role: Role::Publisher,
        key: key.public().id(),
        value: sign(Domain::Manifest, manifest, key)?,
    })
}

pub(crate) fn countersign(manifest: &Value, key: &SigningKey) -> Result<Signature, FormatError> {
    Ok(Signature {
        role: Role::Registry,
        key: key.public().id(),
        value: sign(Domain::Validation, manifest, key)?,
    })
}

pub(crate) fn sign_list(
    kind: ListKind,
    content: &impl Serialize,
    key: &SigningKey,
) -> Result<SignedList, FormatError> {
    let value = json!(content);
    let mut signatures = Signatures::default();
    signatures.add(Signature {
        role: Role::Registry,
        key: key.public().id(),
        value: sign(kind.domain(), &value, key)?,
    })?;
    Ok(SignedList {
        document: value.to_string().into_bytes(),
        signatures: signatures.to_bytes(),
    })
}

impl IndexContent {
    pub(crate) fn sign(&self, key: &SigningKey) -> Result<SignedList, FormatError> {
        sign_list(ListKind::Index, self, key)
    }
}

impl RevocationList {
    pub(crate) fn sign(&self, key: &SigningKey) -> Result<SignedList, FormatError> {
        sign_list(ListKind::Revocations, self, key)
    }
}

impl SignedRotation {
    pub(crate) fn make(
        old: &SigningKey,
        new: PublicKey,
        names: Vec<NamePattern>,
        number: u64,
    ) -> Result<Self, FormatError> {
        let statement = Rotation {
            old: old.public().id(),
            new,
            names,
            number,
        };
        let value = sign(Domain::Rotation, &json!(statement), old)?;
        Ok(Self { statement, value })
    }
}
