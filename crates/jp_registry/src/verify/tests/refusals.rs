//! Each check by itself, in their order.

use serde_json::json;

use super::{World, key, names};
use crate::{
    Digest, document,
    revocation::RevokedThing,
    signature::Signatures,
    testing::{countersign, sign_manifest},
    trust::{AllNames, TrustedRegistry},
    verify::{ExpectedDigest, MAX_MANIFEST, VerifyError, verify},
};

/// Asserts which refusal it is; shows the one it was.
macro_rules! refused {
    ($result:expr, $pattern:pat) => {{
        let refused = $result;
        assert!(matches!(refused, $pattern), "{refused:?}");
        refused
    }};
}

#[test]
fn a_manifest_that_is_too_large_is_not_looked_at() {
    let world = World::new();
    let mut fetched = world.fetched();
    fetched.bytes = vec![b' '; MAX_MANIFEST + 1];
    refused!(world.refuse(fetched), VerifyError::TooLarge { .. });
}

#[test]
fn what_is_no_document_or_no_manifest_is_refused() {
    let world = World::new();
    for (text, is_document) in [
        ("{", false),
        (r#"{"id":"ocr","id":"ocr"}"#, false),
        ("[]", true),
    ] {
        let mut fetched = world.fetched();
        fetched.bytes = text.as_bytes().to_vec();
        let refused = world.refuse(fetched);
        let no_manifest = matches!(refused, VerifyError::NoManifest { .. });
        assert_eq!(no_manifest, is_document, "{refused:?}");
        assert!(no_manifest || matches!(refused, VerifyError::Document { .. }));
    }
}

#[test]
fn a_signed_manifest_that_makes_no_sense_is_refused() {
    let mut world = World::new();
    world.manifest["unheard_of"] = json!(1);
    refused!(world.refuse(world.fetched()), VerifyError::Manifest { .. });
}

#[test]
fn another_tool_or_version_than_asked_for_is_refused() {
    let mut world = World::new();
    let mut expected = world.expected();
    expected.version = Some("1.3.0".parse().unwrap());
    let answer = verify(world.fetched(), &world.roots, &world.revoked, &expected);
    refused!(answer.unwrap_err(), VerifyError::WrongVersion { .. });
    expected.version = Some("1.2.0".parse().unwrap());
    assert!(verify(world.fetched(), &world.roots, &world.revoked, &expected).is_ok());
    // By the same publisher, and for a name of its own.
    world.manifest["id"] = json!("pdf.split");
    refused!(world.refuse(world.fetched()), VerifyError::WrongId { .. });
}

#[test]
fn another_manifest_than_the_index_or_lock_says_is_refused() {
    let mut world = World::new();
    let locked = document::digest(&world.manifest).unwrap();
    let mut expected = world.expected();
    for source in [ExpectedDigest::Index, ExpectedDigest::Lock] {
        expected.digest = Some(source(locked));
        let fetched = world.fetched();
        assert!(verify(fetched, &world.roots, &world.revoked, &expected).is_ok());
    }
    // The publisher itself signs another manifest as the same version.
    world.manifest["description"] = json!("Something else.");
    let answer = verify(world.fetched(), &world.roots, &world.revoked, &expected);
    let refused = refused!(answer.unwrap_err(), VerifyError::WrongDigest { .. });
    assert!(refused.to_string().contains("the lock file"), "{refused}");
    assert!(refused.hint().unwrap().contains("jp tool update ocr"));
}

#[test]
fn without_a_publishers_signature_it_is_refused() {
    let world = World::new();
    refused!(
        world.refuse(world.signed(&[])),
        VerifyError::Unsigned { .. }
    );
    // The publisher's key in the role of a registry does not count.
    let mut signature = sign_manifest(&world.manifest, &world.publisher).unwrap();
    signature.role = crate::signature::Role::Registry;
    let fetched = world.signed(&[signature]);
    refused!(world.refuse(fetched), VerifyError::Unsigned { .. });
    let mut fetched = world.fetched();
    fetched.signatures = b"{}".to_vec();
    refused!(world.refuse(fetched), VerifyError::Signatures { .. });
}

#[test]
fn a_key_that_nobody_trusts_is_refused() {
    let world = World::new();
    let stranger = key();
    let fetched = world.signed(&[sign_manifest(&world.manifest, &stranger).unwrap()]);
    let refused = refused!(world.refuse(fetched), VerifyError::UnknownKey { .. });
    let id = stranger.public().id().to_string();
    assert!(refused.hint().unwrap().contains(&id));
    // Nor does the registry speak for a publisher.
    let fetched = world.signed(&[sign_manifest(&world.manifest, &world.registry).unwrap()]);
    refused!(world.refuse(fetched), VerifyError::UnknownKey { .. });
}

#[test]
fn a_valid_signature_by_the_key_of_other_names_is_refused() {
    let mut world = World::new();
    let other = key();
    let bound = names(&["mail.*", "ocr.*"]);
    world
        .roots
        .trust(other.public(), &bound, AllNames::Refused)
        .unwrap();
    let fetched = world.signed(&[sign_manifest(&world.manifest, &other).unwrap()]);
    let refused = refused!(world.refuse(fetched), VerifyError::WrongKey { .. });
    assert!(
        refused.to_string().contains("`mail.*`, `ocr.*` only"),
        "{refused}"
    );
    // And a wrong one by it is a wrong one.
    let mut wrong = sign_manifest(&world.manifest, &world.publisher).unwrap();
    wrong.key = other.public().id();
    let fetched = world.signed(&[wrong]);
    refused!(world.refuse(fetched), VerifyError::BadSignature { .. });
}

#[test]
fn a_signature_of_something_else_is_refused() {
    let mut world = World::new();
    let signature = sign_manifest(&world.manifest, &world.publisher).unwrap();
    world.manifest["description"] = json!("Something else.");
    let fetched = world.signed(std::slice::from_ref(&signature));
    refused!(world.refuse(fetched), VerifyError::BadSignature { .. });
    // A signature of the same manifest, but as a validation.
    let mut validation = countersign(&world.manifest, &world.publisher).unwrap();
    validation.role = crate::signature::Role::Publisher;
    let fetched = world.signed(&[validation]);
    refused!(world.refuse(fetched), VerifyError::BadSignature { .. });
}

#[test]
fn one_signature_that_counts_is_enough_and_the_best_refusal_is_told() {
    let world = World::new();
    let good = sign_manifest(&world.manifest, &world.publisher).unwrap();
    let stranger = sign_manifest(&world.manifest, &key()).unwrap();
    let fetched = world.signed(&[stranger.clone(), good.clone()]);
    let verified = world.verify(fetched).unwrap();
    assert_eq!(verified.key, world.publisher.public().id());
    let mut wrong = good;
    wrong.value = stranger.value;
    let fetched = world.signed(&[wrong, stranger]);
    refused!(world.refuse(fetched), VerifyError::BadSignature { .. });
}

#[test]
fn what_was_revoked_is_refused() {
    let id = "ocr".parse().unwrap();
    let mut world = World::new();
    let key = world.publisher.public().id();
    world.revoke(RevokedThing::Key(key));
    let refused = refused!(
        world.refuse(world.fetched()),
        VerifyError::KeyRevoked { .. }
    );
    assert!(
        refused.to_string().contains("by `main`: it leaks"),
        "{refused}"
    );
    let mut world = World::new();
    world.revoke(RevokedThing::Artifact(Digest::of(super::ARTIFACT)));
    refused!(
        world.refuse(world.fetched()),
        VerifyError::ArtifactRevoked { .. }
    );
    let mut world = World::new();
    let versions = "<1.3.0".parse().unwrap();
    world.revoke(RevokedThing::Versions { id, versions });
    refused!(
        world.refuse(world.fetched()),
        VerifyError::VersionRevoked { .. }
    );
    let mut world = World::new();
    world.roots.revoke(&world.publisher.public().id(), "stolen");
    let refused = refused!(
        world.refuse(world.fetched()),
        VerifyError::KeyRevoked { .. }
    );
    assert!(refused.to_string().contains("by you: stolen"), "{refused}");
}

#[test]
fn what_is_said_to_be_validated_must_be() {
    let mut world = World::new();
    let registry = std::mem::replace(&mut world.registry, key());
    let fetched = world.validated(Some(&registry));
    let verified = world.verify(fetched).unwrap();
    assert_eq!(verified.validated_by, Some(registry.public().id()));
    // The publisher's signature alone does not cover it.
    let fetched = world.validated(None);
    refused!(world.refuse(fetched), VerifyError::NotValidated { .. });
    let stranger = key();
    let fetched = world.validated(Some(&stranger));
    refused!(world.refuse(fetched), VerifyError::NotValidated { .. });
    // Validated on another day than the registry signed.
    let mut fetched = world.validated(Some(&registry));
    let text = String::from_utf8(fetched.bytes).unwrap();
    fetched.bytes = text.replace("2026-04-01", "2026-04-02").into_bytes();
    refused!(world.refuse(fetched), VerifyError::NotValidated { .. });
    // The registry's key is worth nothing once it is revoked.
    world.roots.revoke(&registry.public().id(), "stolen");
    let fetched = world.validated(Some(&registry));
    let refused = refused!(world.refuse(fetched), VerifyError::NotValidated { .. });
    assert_eq!(
        refused.to_string(),
        "the manifest of `ocr` 1.2.0 says that it was validated, and registry `main` has not signed that"
    );
}

#[test]
fn a_tool_beside_an_app_may_say_that_it_was_validated_and_nobody_believes_it() {
    let mut world = World::new();
    let fetched = world.validated(None);
    let mut expected = world.expected();
    expected.registry = None;
    let verified = verify(fetched, &world.roots, &world.revoked, &expected).unwrap();
    assert_eq!(verified.validated_by, None);
    assert_eq!(verified.manifest.validated_by.as_deref(), Some("the-team"));
}

#[test]
fn a_registry_that_validates_all_must_have_signed_each() {
    let mut world = World::new();
    let trusted = TrustedRegistry {
        key: world.registry.public().clone(),
        validates: true,
    };
    world.roots.trust_registry("main", trusted).unwrap();
    // Removing the claim does not help.
    let refused = refused!(
        world.refuse(world.fetched()),
        VerifyError::NotValidated { .. }
    );
    assert_eq!(
        refused.to_string(),
        "registry `main` validates every tool it offers, and has not signed `ocr` 1.2.0"
    );
    let publisher = sign_manifest(&world.manifest, &world.publisher).unwrap();
    let registry = countersign(&world.manifest, &world.registry).unwrap();
    let fetched = world.signed(&[publisher, registry]);
    assert!(world.verify(fetched).is_ok());
    // A tool beside an app comes from no registry.
    let mut expected = world.expected();
    expected.registry = None;
    let answer = verify(world.fetched(), &world.roots, &world.revoked, &expected);
    assert!(answer.is_ok());
    assert!(Signatures::read(&world.fetched().signatures).is_ok());
}
