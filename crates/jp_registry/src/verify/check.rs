//! The checks, in the order in which they are made.

use semver::Version;
use serde::Deserialize;
use serde_json::Value;

use super::{Expected, Facts, MAX_MANIFEST, VerifiedManifest, VerifyError, publisher};
use crate::{
    Digest, ToolId, document,
    key::KeyId,
    manifest::ToolManifest,
    revocation::Revocations,
    signature::{Domain, Role, Signatures},
    source::Fetched,
    trust::{TrustRoots, TrustedRegistry},
};

/// Verifies a manifest: that it is the one that was asked for, that a key signed it which the user
/// trusts for this name, that nothing of it was taken back, and that it was validated if it says so.
///
/// # Errors
///
/// The first check that fails.
pub fn verify(
    fetched: Fetched,
    roots: &TrustRoots,
    revoked: &Revocations,
    expected: &Expected,
) -> Result<VerifiedManifest, VerifyError> {
    let Fetched {
        bytes,
        signatures,
        from,
    } = fetched;
    let document = parse(&bytes, &from)?;
    let fields = fields(&document, &from)?;
    let digest = check_expected(&document, &fields, &from, expected)?;
    let id = &fields.id;
    let signatures = Signatures::read(&signatures).map_err(|source| VerifyError::Signatures {
        id: id.clone(),
        source,
    })?;
    let judged = publisher::Judged {
        document: &document,
        id,
        purpose: expected.purpose,
    };
    let key = publisher::find(&judged, &signatures, roots, revoked)?;
    check_known(roots, revoked)?;
    check_revoked(&fields, revoked)?;
    // Only now: reading it all means compiling the schemas of a stranger.
    let manifest = ToolManifest::read(&document).map_err(|source| VerifyError::Manifest {
        from: from.clone(),
        source,
    })?;
    let validated_by = validation(&document, &fields, &signatures, roots, revoked, expected)?;
    Ok(VerifiedManifest(Facts {
        manifest,
        document,
        digest,
        key,
        validated_by,
        from,
    }))
}

fn parse(manifest: &[u8], from: &str) -> Result<Value, VerifyError> {
    if manifest.len() > MAX_MANIFEST {
        return Err(VerifyError::TooLarge {
            from: from.to_owned(),
            size: manifest.len(),
            max: MAX_MANIFEST,
        });
    }
    document::parse(manifest, MAX_MANIFEST).map_err(|source| VerifyError::Document {
        from: from.to_owned(),
        source: source.into(),
    })
}

/// What decides which tool it is; the rest is looked at when it is known whose it is.
#[derive(Deserialize)]
struct Fields {
    id: ToolId,
    version: Version,
    artifact: Pin,
}

#[derive(Deserialize)]
struct Pin {
    sha256: Digest,
}

fn fields(document: &Value, from: &str) -> Result<Fields, VerifyError> {
    Fields::deserialize(document).map_err(|error| VerifyError::NoManifest {
        from: from.to_owned(),
        reason: document::said(&error),
    })
}

/// Checks that it is what was asked for, and returns its digest.
fn check_expected(
    document: &Value,
    fields: &Fields,
    from: &str,
    expected: &Expected,
) -> Result<Digest, VerifyError> {
    if fields.id != expected.id {
        return Err(VerifyError::WrongId {
            from: from.to_owned(),
            found: fields.id.clone(),
            expected: expected.id.clone(),
        });
    }
    let other = |version: &&Version| **version != fields.version;
    if let Some(version) = expected.version.as_ref().filter(other) {
        return Err(VerifyError::WrongVersion {
            from: from.to_owned(),
            id: fields.id.clone(),
            found: fields.version.clone(),
            expected: version.clone(),
        });
    }
    let found = document::digest(document).map_err(|source| VerifyError::Document {
        from: from.to_owned(),
        source: source.into(),
    })?;
    match expected.digest {
        Some(must) if must.digest() != found => Err(VerifyError::WrongDigest {
            id: fields.id.clone(),
            version: fields.version.clone(),
            found,
            expected: must,
        }),
        _ => Ok(found),
    }
}

/// Refuses to verify while known revocations are lost: the tool may be among them.
fn check_known(roots: &TrustRoots, revoked: &Revocations) -> Result<(), VerifyError> {
    match revoked.lost(roots) {
        None => Ok(()),
        Some((registry, number)) => Err(VerifyError::RevocationsLost {
            registry: registry.to_owned(),
            number,
        }),
    }
}

fn check_revoked(fields: &Fields, revoked: &Revocations) -> Result<(), VerifyError> {
    let (id, version) = (fields.id.clone(), fields.version.clone());
    if let Some(found) = revoked.artifact(&fields.artifact.sha256) {
        return Err(VerifyError::ArtifactRevoked {
            id,
            version,
            sha256: fields.artifact.sha256,
            by: format!("`{}`", found.registry()),
            reason: found.reason().to_owned(),
        });
    }
    if let Some(found) = revoked.version(&id, &version) {
        return Err(VerifyError::VersionRevoked {
            id,
            version,
            by: format!("`{}`", found.registry()),
            reason: found.reason().to_owned(),
        });
    }
    Ok(())
}

/// Finds the registry's key that validated the manifest.
///
/// `validated_at` and `validated_by` are not the publisher's to sign: where they stand, the registry
/// that offers the tool must have, and where it validates all it offers, it must have even if they
/// were removed.
fn validation(
    document: &Value,
    fields: &Fields,
    signatures: &Signatures,
    roots: &TrustRoots,
    revoked: &Revocations,
    expected: &Expected,
) -> Result<Option<KeyId>, VerifyError> {
    let is_asked = |(name, _): &(&str, &TrustedRegistry)| match &expected.registry {
        Some(registry) => name == registry,
        None => true,
    };
    let known = roots.registries().filter(is_asked);
    let good = known.filter(|(_, registry)| {
        let key = registry.key.id();
        roots.revoked(&key).is_none() && revoked.key(&key).is_none()
    });
    let signed_by = |registry: &TrustedRegistry| {
        let key = registry.key.id();
        let mut by = signatures.by(Role::Registry).filter(|s| s.key == key);
        by.any(|s| s.is_by(&registry.key, Domain::Validation, document))
    };
    let mut good = good.filter(|(_, registry)| signed_by(registry));
    let found = good.next().map(|(_, registry)| registry.key.id());
    // A tool that comes with an app was offered by no registry: none has to have looked at it, and
    // what its manifest says of that counts for nothing.
    if let (None, Some(registry)) = (found, expected.registry.as_deref()) {
        let claims = ["validated_at", "validated_by"];
        let claimed = claims.iter().any(|claim| document.get(claim).is_some());
        let mut known = roots.registries();
        let always = known.any(|(name, known)| name == registry && known.validates);
        if claimed || always {
            return Err(VerifyError::NotValidated {
                id: fields.id.clone(),
                version: fields.version.clone(),
                registry: registry.to_owned(),
                claimed,
            });
        }
    }
    Ok(found)
}
