//! Whole attacks: replayed keys, changed bytes, and a manifest that wants to grant.

use proptest::prelude::*;
use serde_json::json;

use super::{World, key, names};
use crate::{
    key::PublicKey,
    revocation::Revocations,
    testing::sign_manifest,
    trust::{AllNames, SignedRotation, TrustRoots},
    verify::{Purpose, VerifyError, verify},
};

#[test]
fn after_a_rotation_the_new_key_counts_and_the_old_only_for_what_is_installed() {
    let mut world = World::new();
    let new = key();
    let by_new = sign_manifest(&world.manifest, &new).unwrap();
    let refused = world.refuse(world.signed(std::slice::from_ref(&by_new)));
    assert!(matches!(refused, VerifyError::UnknownKey { .. }));
    let moved = names(&["ocr"]);
    let statement = SignedRotation::make(&world.publisher, new.public().clone(), moved, 1);
    let none = Revocations::default();
    world.roots.rotate(&statement.unwrap(), &none).unwrap();
    assert!(world.verify(world.signed(&[by_new])).is_ok());
    let refused = world.refuse(world.fetched());
    assert!(
        matches!(refused, VerifyError::RotatedAway { .. }),
        "{refused}"
    );
    let successor = new.public().id().to_string();
    assert!(refused.hint().unwrap().contains(&successor));
    let mut expected = world.expected();
    expected.purpose = Purpose::Installed;
    let again = |world: &World| verify(world.fetched(), &world.roots, &world.revoked, &expected);
    assert!(again(&world).is_ok());
    // Unless the old key was stolen, not only replaced.
    let old = world.publisher.public().id();
    world.revoke(crate::revocation::RevokedThing::Key(old));
    let refused = again(&world).unwrap_err();
    assert!(
        matches!(refused, VerifyError::KeyRevoked { .. }),
        "{refused}"
    );
}

#[test]
fn a_policy_in_a_manifest_is_a_request() {
    // It asks for as much as a manifest can. Being verified means that the publisher asks for it.
    let mut world = World::new();
    world.manifest["wasi_imports"] = json!({"net": true, "fs": {"scope": "$TOOL_TEMP"}});
    world.manifest["capability_requirements"] = json!(["tool.exec.subprocess", "tools.mcp"]);
    let roots = world.roots.clone();
    let verified = world.verify(world.fetched()).unwrap();
    let request = verified.manifest.request();
    assert!(request.capabilities.subprocess);
    assert_eq!(world.roots, roots, "and nobody is trusted for more");
    // Whatever else it says of itself is refused, not ignored.
    for (word, value) in [
        ("policy", json!({"net": true})),
        ("grant", json!(["tool.exec.subprocess"])),
        ("capabilities", json!({"net": true})),
        ("trusted", json!(true)),
        ("publishers", json!({})),
    ] {
        let mut world = World::new();
        world.manifest[word] = value;
        let refused = world.refuse(world.fetched());
        assert!(matches!(refused, VerifyError::Manifest { .. }), "{word}");
    }
}

#[test]
fn no_byte_of_manifest_or_signatures_can_be_changed() {
    let mut world = World::new();
    let registry = std::mem::replace(&mut world.registry, key());
    let good = world.validated(Some(&registry));
    assert!(world.verify(good.clone()).is_ok());
    for at in 0..good.bytes.len() {
        for bit in [1, 0x20, 0x80] {
            let mut bad = good.clone();
            bad.bytes[at] ^= bit;
            assert!(world.verify(bad).is_err(), "manifest, byte {at}, bit {bit}");
        }
    }
    for at in 0..good.signatures.len() {
        for bit in [1, 0x20, 0x80] {
            let mut bad = good.clone();
            bad.signatures[at] ^= bit;
            assert!(
                world.verify(bad).is_err(),
                "signatures, byte {at}, bit {bit}"
            );
        }
    }
}

#[test]
fn no_bit_of_a_public_key_can_be_changed() {
    let world = World::new();
    let text = world.publisher.public().to_string();
    for at in 0..text.len() {
        for bit in 0..7 {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1 << bit;
            let changed = String::from_utf8(bytes).unwrap();
            let Ok(other) = changed.parse::<PublicKey>() else {
                continue;
            };
            let mut roots = TrustRoots::default();
            let bound = names(&["ocr"]);
            roots.trust(&other, &bound, AllNames::Refused).unwrap();
            let fetched = world.fetched();
            let answer = verify(fetched, &roots, &world.revoked, &world.expected());
            assert!(answer.is_err(), "byte {at}, bit {bit}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_edit_is_accepted_as_another_manifest(
        at in any::<prop::sample::Index>(),
        cut in 0_usize..8,
        put in prop::collection::vec(any::<u8>(), 0..8),
    ) {
        let world = World::new();
        let mut fetched = world.fetched();
        let start = at.index(fetched.bytes.len());
        let end = (start + cut).min(fetched.bytes.len());
        fetched.bytes.splice(start..end, put);
        // Blanks and comments may come and go; what it says may not.
        if let Ok(verified) = world.verify(fetched) {
            prop_assert_eq!(&verified.document, &world.manifest);
        }
    }
}
