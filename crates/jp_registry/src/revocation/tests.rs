//! What was taken back stays taken back.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};

use serde_json::json;

use super::{Revocation, RevocationList, Revocations, RevokedThing};
use crate::{
    Digest,
    disk::Disk,
    signature::{CLOCK_SKEW, Judge, ListError, ListKind, SignedList},
    testing::{SigningKey, sign_list},
    trust::{TrustRoots, TrustedRegistry},
};

const NOW: u64 = 1_800_000_000;

struct Registry {
    key: SigningKey,
    roots: TrustRoots,
}

impl Registry {
    fn new() -> Self {
        let key = SigningKey::new();
        let mut roots = TrustRoots::default();
        for name in ["main", "other"] {
            let trusted = TrustedRegistry {
                key: key.public().clone(),
                validates: false,
            };
            roots.trust_registry(name, trusted).unwrap();
        }
        Self { key, roots }
    }

    fn judge<'a>(&'a self, registry: &'a str) -> Judge<'a> {
        let roots = &self.roots;
        Judge {
            registry,
            roots,
            now: NOW,
        }
    }

    fn list(&self, number: u64, things: &[RevokedThing]) -> SignedList {
        self.list_at(number, NOW, things)
    }

    fn list_at(&self, number: u64, issued_at: u64, things: &[RevokedThing]) -> SignedList {
        let revoked = things.iter().map(|thing| Revocation {
            thing: thing.clone(),
            reason: "it leaks".to_owned(),
        });
        let revoked = revoked.collect();
        let list = RevocationList {
            number,
            issued_at,
            expires_at: None,
            revoked,
        };
        list.sign(&self.key).unwrap()
    }
}

fn artifact(text: &str) -> RevokedThing {
    RevokedThing::Artifact(Digest::of(text.as_bytes()))
}

fn versions(id: &str, versions: &str) -> RevokedThing {
    RevokedThing::Versions {
        id: id.parse().unwrap(),
        versions: versions.parse().unwrap(),
    }
}

#[test]
fn artifacts_keys_and_versions_are_found() {
    let registry = Registry::new();
    let stolen = SigningKey::new().public().id();
    let things = [
        artifact("a"),
        RevokedThing::Key(stolen),
        versions("ocr", "<1.3.0"),
        versions("ocr", "=2.0.0"),
    ];
    let mut all = Revocations::default();
    let judge = registry.judge("main");
    all.accept(&registry.list(1, &things), &judge).unwrap();
    let found = all.artifact(&Digest::of(b"a")).unwrap();
    assert_eq!((found.registry(), found.reason()), ("main", "it leaks"));
    assert!(all.artifact(&Digest::of(b"b")).is_none());
    assert!(all.key(&stolen).is_some() && all.key(&registry.key.public().id()).is_none());
    let revoked = |id: &str, version: &str| {
        let found = all.version(&id.parse().unwrap(), &version.parse().unwrap());
        found.is_some()
    };
    for version in [
        "1.2.9",
        "0.0.1",
        "2.0.0",
        "1.2.0-rc.1",
        "2.0.0-rc.1",
        "2.0.0+x",
    ] {
        assert!(revoked("ocr", version), "{version}");
    }
    assert!(!revoked("ocr", "1.3.0") && !revoked("ocr", "2.0.1"));
    assert!(!revoked("ocr.x", "1.0.0") && !revoked("oc", "1.0.0"));
    assert_eq!(all.last("main"), Some((1, NOW)));
    assert_eq!(all.registries["main"].revoked.len(), 4);
}

#[test]
fn what_a_later_list_omits_stays_revoked() {
    let registry = Registry::new();
    let judge = registry.judge("main");
    let mut all = Revocations::default();
    all.accept(&registry.list(1, &[artifact("a")]), &judge)
        .unwrap();
    all.accept(&registry.list(2, &[artifact("b")]), &judge)
        .unwrap();
    for text in ["a", "b"] {
        assert!(all.artifact(&Digest::of(text.as_bytes())).is_some());
    }
}

#[test]
fn an_older_list_and_another_of_the_same_number_are_refused() {
    let registry = Registry::new();
    let judge = registry.judge("main");
    let mut all = Revocations::default();
    let seen = registry.list(5, &[artifact("a")]);
    all.accept(&seen, &judge).unwrap();
    let before = all.clone();
    let refused = all.accept(&registry.list(4, &[artifact("b")]), &judge);
    let refused = refused.unwrap_err();
    assert!(matches!(
        refused,
        ListError::Rollback {
            number: 4,
            seen: 5,
            ..
        }
    ));
    assert!(refused.hint().is_some());
    let refused = all.accept(&registry.list(5, &[artifact("b")]), &judge);
    assert!(matches!(
        refused,
        Err(ListError::Conflict { number: 5, .. })
    ));
    all.accept(&seen, &judge).unwrap();
    assert_eq!(all, before, "nothing changed by any of them");
    // Numbers are each registry's own.
    let other = registry.judge("other");
    all.accept(&registry.list(1, &[artifact("b")]), &other)
        .unwrap();
}

#[test]
fn a_list_of_tomorrow_is_refused() {
    let registry = Registry::new();
    let judge = registry.judge("main");
    let mut all = Revocations::default();
    let late = registry.list_at(1, NOW + CLOCK_SKEW + 1, &[]);
    let refused = all.accept(&late, &judge).unwrap_err();
    assert!(matches!(refused, ListError::Future { .. }), "{refused}");
    assert!(refused.hint().unwrap().contains("clock"));
    all.accept(&registry.list_at(1, NOW + CLOCK_SKEW, &[]), &judge)
        .unwrap();
}

#[test]
fn only_the_registry_can_revoke() {
    let (registry, stranger) = (Registry::new(), Registry::new());
    let judge = registry.judge("main");
    let mut all = Revocations::default();
    let mut refuse = |list: &SignedList, judge: &Judge<'_>| all.accept(list, judge).unwrap_err();
    let good = registry.list(1, &[artifact("a")]);
    let foreign = stranger.list(1, &[artifact("a")]);
    assert!(matches!(
        refuse(&foreign, &judge),
        ListError::Unsigned { .. }
    ));
    let mixed = SignedList {
        document: foreign.document,
        signatures: registry.list(1, &[]).signatures,
    };
    assert!(matches!(
        refuse(&mixed, &judge),
        ListError::BadSignature { .. }
    ));
    // The same content, signed as an index.
    let content: serde_json::Value = serde_json::from_slice(&good.document).unwrap();
    let index = sign_list(ListKind::Index, &content, &registry.key).unwrap();
    assert!(matches!(
        refuse(&index, &judge),
        ListError::BadSignature { .. }
    ));
    let unknown = registry.judge("nobody");
    assert!(matches!(
        refuse(&good, &unknown),
        ListError::UnknownRegistry { .. }
    ));
    let broken = |document: &[u8], signatures: &[u8]| SignedList {
        document: document.to_vec(),
        signatures: signatures.to_vec(),
    };
    let list = broken(b"{", &good.signatures);
    assert!(matches!(refuse(&list, &judge), ListError::Document { .. }));
    let list = broken(&good.document, b"{");
    assert!(matches!(
        refuse(&list, &judge),
        ListError::Signatures { .. }
    ));
    let odd = json!({"number": 1, "issued_at": 1, "revoked": [{"reason": "of nothing"}]});
    let odd = sign_list(ListKind::Revocations, &odd, &registry.key).unwrap();
    assert!(matches!(refuse(&odd, &judge), ListError::Shape { .. }));
}

#[test]
fn a_registry_whose_own_key_was_revoked_says_nothing_more() {
    let registry = Registry::new();
    let judge = registry.judge("main");
    let mut all = Revocations::default();
    let own = RevokedThing::Key(registry.key.public().id());
    all.accept(&registry.list(1, &[own]), &judge).unwrap();
    let refused = all.accept(&registry.list(2, &[]), &judge).unwrap_err();
    assert!(matches!(refused, ListError::KeyRevoked { .. }), "{refused}");
}

#[test]
fn a_reason_cannot_fake_a_line() {
    let registry = Registry::new();
    let judge = registry.judge("main");
    let list = RevocationList {
        number: 1,
        issued_at: NOW,
        expires_at: None,
        revoked: vec![Revocation {
            thing: artifact("a"),
            reason: format!("x\nok: \u{1b}[2J\u{202e}{}", "y".repeat(1000)),
        }],
    };
    let mut all = Revocations::default();
    all.accept(&list.sign(&registry.key).unwrap(), &judge)
        .unwrap();
    let reason = all.artifact(&Digest::of(b"a")).unwrap().reason();
    assert!(!reason.contains(['\n', '\u{1b}', '\u{202e}']), "{reason:?}");
    assert_eq!(reason.chars().count(), 500);
    assert!(reason.ends_with('…'));
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("revocations.json");
    (dir, path)
}

#[test]
fn what_was_seen_is_kept_and_reads_back() {
    let (_dir, path) = place();
    let registry = Registry::new();
    let judge = registry.judge("main");
    assert_eq!(Revocations::load(&path).unwrap(), Revocations::default());
    let things = [artifact("a"), versions("ocr", "<1.3.0, >=1.0.0")];
    let kept =
        Revocations::update(&Disk::real(), &path, &registry.list(3, &things), &judge).unwrap();
    assert_eq!(Revocations::load(&path).unwrap(), kept);
    let refused = Revocations::update(&Disk::real(), &path, &registry.list(2, &[]), &judge);
    assert!(matches!(refused, Err(ListError::Rollback { .. })));
    assert_eq!(Revocations::load(&path).unwrap(), kept);
    let next = Revocations::update(&Disk::real(), &path, &registry.list(4, &[]), &judge).unwrap();
    assert!(next.artifact(&Digest::of(b"a")).is_some());
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_damaged_copy_is_refused_with_the_way_out() {
    let (_dir, path) = place();
    for bad in [
        "",
        "{",
        "[]",
        r#"{"registries":{"main":{}}}"#,
        r#"{"registries":{},"x":1}"#,
    ] {
        fs::write(&path, bad).unwrap();
        let refused = Revocations::load(&path).unwrap_err();
        assert!(matches!(refused, ListError::Damaged { .. }), "{bad}");
        assert!(refused.hint().unwrap().contains("remove"));
    }
    fs::write(&path, r#"{"registries":{}}"#).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    assert!(Revocations::load(&path).is_err());
}
