//! An index is the registry's, and never goes back.

use std::{collections::BTreeMap, fs, path::PathBuf};

use super::{Index, IndexContent, IndexTool, IndexVersion};
use crate::{
    Digest,
    disk::Disk,
    revocation::{Revocation, RevocationList, Revocations, RevokedThing},
    signature::{CLOCK_SKEW, Judge, ListError, SignedList},
    testing::SigningKey,
    trust::{TrustRoots, TrustedRegistry},
};

const NOW: u64 = 1_800_000_000;

fn roots(key: &SigningKey) -> TrustRoots {
    let mut roots = TrustRoots::default();
    let trusted = TrustedRegistry {
        key: key.public().clone(),
        validates: false,
    };
    roots.trust_registry("main", trusted).unwrap();
    roots
}

const fn judge(roots: &TrustRoots) -> Judge<'_> {
    Judge {
        registry: "main",
        roots,
        now: NOW,
    }
}

fn content(number: u64, newest: &str) -> IndexContent {
    let version = |text: &str| {
        let entry = IndexVersion {
            manifest: Digest::of(text.as_bytes()),
            deprecated: Some("old\n\u{1b}[2J".to_owned()),
        };
        (text.parse().unwrap(), entry)
    };
    let tool = IndexTool {
        newest: newest.parse().unwrap(),
        summary: None,
        versions: BTreeMap::from([version("1.0.0"), version("1.1.0")]),
    };
    IndexContent {
        number,
        issued_at: NOW,
        expires_at: None,
        tools: BTreeMap::from([("ocr".parse().unwrap(), tool)]),
        models: BTreeMap::new(),
    }
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index/main.json");
    (dir, path)
}

#[test]
fn an_index_says_what_each_manifest_is() {
    let key = SigningKey::new();
    let (roots, none) = (roots(&key), Revocations::default());
    let signed = content(1, "1.1.0").sign(&key).unwrap();
    let index = Index::open(&signed, &judge(&roots), &none).unwrap();
    let id = "ocr".parse().unwrap();
    let version = index.version(&id, &"1.0.0".parse().unwrap()).unwrap();
    assert_eq!(version.manifest, Digest::of(b"1.0.0"));
    let deprecated = version.deprecated.as_deref().unwrap();
    assert!(!deprecated.contains(['\n', '\u{1b}']), "{deprecated:?}");
    assert!(index.version(&id, &"2.0.0".parse().unwrap()).is_none());
    assert_eq!(index.tool(&id).unwrap().newest.to_string(), "1.1.0");
    assert_eq!((index.content().number, index.issued_at()), (1, NOW));
    let lost = content(1, "9.0.0").sign(&key).unwrap();
    let refused = Index::open(&lost, &judge(&roots), &none).unwrap_err();
    assert!(matches!(refused, ListError::Shape { .. }), "{refused}");
}

#[test]
fn an_index_never_goes_back() {
    let (_dir, path) = place();
    let key = SigningKey::new();
    let (roots, none) = (roots(&key), Revocations::default());
    let judge = judge(&roots);
    let update = |signed: &SignedList| Index::update(&Disk::real(), &path, signed, &judge, &none);
    assert!(Index::cached(&path, &judge, &none).unwrap().is_none());
    let seen = content(7, "1.1.0").sign(&key).unwrap();
    let index = update(&seen).unwrap();
    assert_eq!(
        update(&seen).unwrap(),
        index,
        "the same again changes nothing"
    );
    // An older one that was truly signed, with the old version as the newest.
    let refused = update(&content(6, "1.0.0").sign(&key).unwrap()).unwrap_err();
    assert!(matches!(
        refused,
        ListError::Rollback {
            number: 6,
            seen: 7,
            ..
        }
    ));
    let refused = update(&content(7, "1.0.0").sign(&key).unwrap()).unwrap_err();
    assert!(matches!(refused, ListError::Conflict { number: 7, .. }));
    let mut late = content(8, "1.1.0");
    late.issued_at = NOW + CLOCK_SKEW + 1;
    let refused = update(&late.sign(&key).unwrap()).unwrap_err();
    assert!(matches!(refused, ListError::Future { .. }), "{refused}");
    let cached = Index::cached(&path, &judge, &none).unwrap().unwrap();
    assert_eq!(cached, index, "none of them left a trace");
    update(&content(8, "1.1.0").sign(&key).unwrap()).unwrap();
}

#[test]
fn a_new_key_does_not_make_an_old_index_new() {
    let (_dir, path) = place();
    let (old, new) = (SigningKey::new(), SigningKey::new());
    let none = Revocations::default();
    let before = roots(&old);
    let signed = content(7, "1.1.0").sign(&old).unwrap();
    Index::update(&Disk::real(), &path, &signed, &judge(&before), &none).unwrap();
    let after = roots(&new);
    let refused = Index::cached(&path, &judge(&after), &none).unwrap_err();
    assert!(matches!(refused, ListError::Unsigned { .. }), "{refused}");
    let older = content(6, "1.1.0").sign(&new).unwrap();
    let refused = Index::update(&Disk::real(), &path, &older, &judge(&after), &none).unwrap_err();
    assert!(matches!(refused, ListError::Rollback { .. }), "{refused}");
    let newer = content(8, "1.1.0").sign(&new).unwrap();
    Index::update(&Disk::real(), &path, &newer, &judge(&after), &none).unwrap();
}

#[test]
fn an_index_of_a_revoked_key_is_refused() {
    let key = SigningKey::new();
    let roots = roots(&key);
    let list = RevocationList {
        number: 1,
        issued_at: NOW,
        expires_at: None,
        revoked: vec![Revocation {
            thing: RevokedThing::Key(key.public().id()),
            reason: "stolen".to_owned(),
        }],
    };
    let mut revoked = Revocations::default();
    let signed = list.sign(&key).unwrap();
    revoked.accept(&signed, &judge(&roots)).unwrap();
    let signed = content(1, "1.1.0").sign(&key).unwrap();
    let refused = Index::open(&signed, &judge(&roots), &revoked).unwrap_err();
    assert!(matches!(refused, ListError::KeyRevoked { .. }), "{refused}");
}

#[test]
fn no_bit_of_an_index_can_be_changed() {
    let key = SigningKey::new();
    let (roots, none) = (roots(&key), Revocations::default());
    let judge = judge(&roots);
    let signed = content(1, "1.1.0").sign(&key).unwrap();
    let value: serde_json::Value = serde_json::from_slice(&signed.document).unwrap();
    // Without blanks, every byte means something.
    let compact = serde_json::to_vec(&value).unwrap();
    for at in 0..compact.len() {
        let mut document = compact.clone();
        document[at] ^= 1;
        let changed = SignedList {
            document,
            signatures: signed.signatures.clone(),
        };
        assert!(Index::open(&changed, &judge, &none).is_err(), "byte {at}");
    }
}

#[test]
fn a_damaged_copy_is_refused_with_the_way_out() {
    let (_dir, path) = place();
    let key = SigningKey::new();
    let (roots, none) = (roots(&key), Revocations::default());
    let signed = content(1, "1.1.0").sign(&key).unwrap();
    Index::update(&Disk::real(), &path, &signed, &judge(&roots), &none).unwrap();
    fs::write(&path, "{\"number\": 1}").unwrap();
    for refused in [
        Index::cached(&path, &judge(&roots), &none).unwrap_err(),
        Index::update(&Disk::real(), &path, &signed, &judge(&roots), &none).unwrap_err(),
    ] {
        assert!(matches!(refused, ListError::Damaged { .. }), "{refused}");
        assert!(refused.hint().unwrap().contains("remove"));
    }
}
