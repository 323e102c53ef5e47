//! Whether a publisher whom the user trusts for a name signed a manifest.

use serde_json::Value;

use super::{Purpose, VerifyError};
use crate::{
    ToolId,
    key::{KeyId, PublicKey},
    revocation::Revocations,
    signature::{Domain, Role, Signature, Signatures},
    trust::{Standing, TrustRoots},
};

/// What is judged.
pub(super) struct Judged<'a> {
    pub(super) document: &'a Value,
    pub(super) id: &'a ToolId,
    pub(super) purpose: Purpose,
}

/// Returns the key of a signature that counts, or why the best of them does not.
pub(super) fn find(
    judged: &Judged<'_>,
    signatures: &Signatures,
    roots: &TrustRoots,
    revoked: &Revocations,
) -> Result<KeyId, VerifyError> {
    let mut refused = VerifyError::Unsigned {
        id: judged.id.clone(),
    };
    // More than one may sign, as when a key is about to be replaced: one that counts is enough.
    for signature in signatures.by(Role::Publisher) {
        match judge(judged, signature, roots, revoked) {
            Ok(()) => return Ok(signature.key),
            Err(error) if rank(&error) > rank(&refused) => refused = error,
            Err(_) => {}
        }
    }
    Err(refused)
}

/// How far a signature got: the further, the more its error says.
const fn rank(error: &VerifyError) -> u8 {
    match error {
        VerifyError::UnknownKey { .. } => 1,
        VerifyError::WrongKey { .. } => 2,
        VerifyError::RotatedAway { .. } => 3,
        VerifyError::BadSignature { .. } => 4,
        VerifyError::KeyRevoked { .. } => 5,
        _ => 0,
    }
}

fn judge(
    judged: &Judged<'_>,
    signature: &Signature,
    roots: &TrustRoots,
    revoked: &Revocations,
) -> Result<(), VerifyError> {
    let (id, key) = (judged.id.clone(), signature.key);
    match roots.standing(&key, judged.id) {
        Standing::Unknown => Err(VerifyError::UnknownKey { id, key }),
        Standing::Revoked { reason } => Err(VerifyError::KeyRevoked {
            id,
            key,
            by: "you".to_owned(),
            reason,
        }),
        Standing::OtherNames { key: public, names } => {
            check(judged, signature, &public)?;
            Err(VerifyError::WrongKey { id, key, names })
        }
        Standing::RotatedAway { key: public, to } => {
            check(judged, signature, &public)?;
            if judged.purpose == Purpose::Install {
                return Err(VerifyError::RotatedAway { id, key, to });
            }
            check_revoked(judged, &key, revoked)
        }
        Standing::Trusted(public) => {
            check(judged, signature, &public)?;
            check_revoked(judged, &key, revoked)
        }
    }
}

fn check(
    judged: &Judged<'_>,
    signature: &Signature,
    public: &PublicKey,
) -> Result<(), VerifyError> {
    if signature.is_by(public, Domain::Manifest, judged.document) {
        return Ok(());
    }
    Err(VerifyError::BadSignature {
        id: judged.id.clone(),
        key: signature.key,
    })
}

fn check_revoked(
    judged: &Judged<'_>,
    key: &KeyId,
    revoked: &Revocations,
) -> Result<(), VerifyError> {
    let Some(found) = revoked.key(key) else {
        return Ok(());
    };
    Err(VerifyError::KeyRevoked {
        id: judged.id.clone(),
        key: *key,
        by: format!("`{}`", found.registry()),
        reason: found.reason().to_owned(),
    })
}
