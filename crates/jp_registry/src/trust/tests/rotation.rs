//! Keys that give their names to others.

use super::{id, is, key, names, speaks, trusting};
use crate::{
    key::PublicKey,
    revocation::{Revocation, RevocationList, Revocations, RevokedThing},
    signature::Judge,
    testing::SigningKey,
    trust::{
        AllNames, Rotated, RotationError, Rotations, SignedRotation, Standing, TrustError,
        TrustRoots, TrustedRegistry,
    },
};

fn to_bytes(list: &Rotations) -> Vec<u8> {
    serde_json::to_vec(list).unwrap()
}

fn statement(old: &SigningKey, new: &PublicKey, list: &[&str], number: u64) -> SignedRotation {
    SignedRotation::make(old, new.clone(), names(list), number).unwrap()
}

/// A registry's list in which a key is revoked.
fn revoking(key: &SigningKey) -> Revocations {
    let registry = SigningKey::new();
    let mut roots = TrustRoots::default();
    let trusted = TrustedRegistry {
        key: registry.public().clone(),
        validates: false,
    };
    roots.trust_registry("main", trusted).unwrap();
    let list = RevocationList {
        number: 1,
        issued_at: 100,
        expires_at: None,
        revoked: vec![Revocation {
            thing: RevokedThing::Key(key.public().id()),
            reason: "stolen".to_owned(),
        }],
    };
    let judge = Judge {
        registry: "main",
        roots: &roots,
        now: 100,
    };
    let mut revoked = Revocations::default();
    let signed = list.sign(&registry).unwrap();
    revoked.accept(&signed, &judge).unwrap();
    revoked
}

#[test]
fn a_key_gives_its_names_to_its_successor_and_is_done_with() {
    let (old, new) = (key(), key());
    let mut roots = trusting(&old, &["ocr", "pdf.*", "web.fetch"]);
    let moved = statement(&old, new.public(), &["ocr", "pdf.split", "other"], 1);
    let rotated = roots.rotate(&moved, &Revocations::default()).unwrap();
    let Rotated::Moved { names: got, .. } = rotated else {
        panic!("nothing moved");
    };
    // What the user trusted the old key for, and the old key gave away.
    assert_eq!(got, names(&["ocr", "pdf.split"]));
    assert!(speaks(&roots, &new, "ocr") && speaks(&roots, &new, "pdf.split"));
    for name in ["other", "pdf.merge", "web.fetch"] {
        assert!(!speaks(&roots, &new, name), "{name}");
    }
    for name in ["ocr", "pdf.split", "web.fetch"] {
        let standing = roots.standing(&old.public().id(), &id(name));
        assert!(matches!(standing, Standing::RotatedAway { .. }), "{name}");
    }
    let standing = roots.standing(&old.public().id(), &id("mail"));
    assert!(matches!(standing, Standing::OtherNames { .. }));
    let again = roots.trust(old.public(), &names(&["ocr"]), AllNames::Refused);
    assert!(is(again, |error| matches!(
        error,
        TrustError::RotatedAway { .. }
    )));
}

#[test]
fn a_statement_counts_once_and_an_old_one_never() {
    let (a, b, c) = (key(), key(), key());
    let none = Revocations::default();
    let mut roots = trusting(&a, &["ocr"]);
    let first = statement(&a, b.public(), &["ocr"], 5);
    roots.rotate(&first, &none).unwrap();
    assert_eq!(roots.rotate(&first, &none).unwrap(), Rotated::Already);
    // The chain goes on, with higher numbers only.
    for number in [0, 4, 5] {
        let stale = statement(&b, c.public(), &["ocr"], number);
        let refused = roots.rotate(&stale, &none).unwrap_err();
        assert!(matches!(refused, RotationError::Stale { seen: 5, .. }));
    }
    roots
        .rotate(&statement(&b, c.public(), &["ocr"], 6), &none)
        .unwrap();
    assert!(speaks(&roots, &c, "ocr") && !speaks(&roots, &b, "ocr"));
    // Nor does a replaced key speak again, or its successor go back to it.
    let d = key();
    for (from, to) in [(&a, &d), (&a, &c), (&b, &a), (&c, &a), (&c, &b)] {
        let refused = roots.rotate(&statement(from, to.public(), &["ocr"], 9), &none);
        assert!(matches!(refused, Err(RotationError::Retired { .. })));
    }
    // A key the user forgot does not come back by the statement that brought it in.
    assert!(roots.forget(&c.public().id()));
    let replayed = statement(&b, c.public(), &["ocr"], 6);
    assert_eq!(roots.rotate(&replayed, &none).unwrap(), Rotated::Already);
    assert!(!speaks(&roots, &c, "ocr"));
}

#[test]
fn only_the_old_key_can_say_it() {
    let (old, new, thief) = (key(), key(), key());
    let none = Revocations::default();
    let mut roots = trusting(&old, &["ocr"]);
    let forged = statement(&thief, new.public(), &["ocr"], 1);
    let refused = roots.rotate(&forged, &none).unwrap_err();
    assert!(
        matches!(refused, RotationError::Unknown { .. }),
        "{refused}"
    );
    // The thief's signature under a statement in the old key's name.
    let good = statement(&old, thief.public(), &["ocr"], 1);
    let text = serde_json::to_value(&forged).unwrap();
    let mut mixed = serde_json::to_value(&good).unwrap();
    mixed["value"] = text["value"].clone();
    let mixed: SignedRotation = serde_json::from_value(mixed).unwrap();
    let refused = roots.rotate(&mixed, &none).unwrap_err();
    assert!(matches!(refused, RotationError::BadSignature { .. }));
    // A true statement with another word in it.
    for (field, value) in [
        ("number", serde_json::json!(2)),
        ("names", serde_json::json!(["ocr", "pdf"])),
        ("new", serde_json::json!(new.public())),
    ] {
        let mut changed = serde_json::to_value(&good).unwrap();
        changed["statement"][field] = value;
        let changed: SignedRotation = serde_json::from_value(changed).unwrap();
        let refused = roots.rotate(&changed, &none).unwrap_err();
        assert!(
            matches!(refused, RotationError::BadSignature { .. }),
            "{field}"
        );
    }
    assert!(speaks(&roots, &old, "ocr"));
}

#[test]
fn a_statement_that_moves_nothing_is_refused() {
    let (old, new) = (key(), key());
    let none = Revocations::default();
    let mut roots = trusting(&old, &["ocr"]);
    let refused = roots.rotate(&statement(&old, new.public(), &["pdf.*"], 1), &none);
    assert!(matches!(refused, Err(RotationError::NoNames { .. })));
    let refused = roots.rotate(&statement(&old, old.public(), &["ocr"], 1), &none);
    assert!(matches!(refused, Err(RotationError::Itself { .. })));
    assert!(speaks(&roots, &old, "ocr"));
}

#[test]
fn all_names_move_only_where_the_user_gave_them() {
    let (old, new) = (key(), key());
    let none = Revocations::default();
    let mut narrow = trusting(&old, &["ocr"]);
    let all = statement(&old, new.public(), &["*"], 1);
    narrow.rotate(&all, &none).unwrap();
    assert!(speaks(&narrow, &new, "ocr") && !speaks(&narrow, &new, "pdf"));
    let mut wide = TrustRoots::default();
    wide.trust(old.public(), &names(&["*"]), AllNames::Allowed)
        .unwrap();
    wide.rotate(&all, &none).unwrap();
    assert!(speaks(&wide, &new, "pdf"));
}

#[test]
fn a_revoked_key_neither_gives_nor_gets() {
    let (old, new) = (key(), key());
    let moved = statement(&old, new.public(), &["ocr"], 1);
    for revoked in [revoking(&old), revoking(&new)] {
        let mut roots = trusting(&old, &["ocr"]);
        let refused = roots.rotate(&moved, &revoked).unwrap_err();
        assert!(matches!(
            refused,
            RotationError::Retired {
                source: TrustError::Revoked { .. }
            }
        ));
        assert!(!speaks(&roots, &new, "ocr"));
    }
    let mut roots = trusting(&old, &["ocr"]);
    roots.revoke(&old.public().id(), "stolen");
    assert!(roots.rotate(&moved, &Revocations::default()).is_err());
}

#[test]
fn a_list_of_statements_reads_back_and_nothing_else_does() {
    let (old, new) = (key(), key());
    let mut list = Rotations::default();
    let one = statement(&old, new.public(), &["ocr", "pdf.*"], 1);
    list.rotations.push(one);
    let read = Rotations::read(&to_bytes(&list)).unwrap();
    assert_eq!(read, list);
    for bad in [
        "",
        "[]",
        "{}",
        r#"{"rotations":[{}]}"#,
        r#"{"rotations":[],"x":1}"#,
    ] {
        assert!(Rotations::read(bad.as_bytes()).is_err(), "{bad}");
    }
    let many: Vec<String> = (0..257).map(|n| format!("t{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let mut wide = Rotations::default();
    wide.rotations.push(statement(&old, new.public(), &many, 1));
    assert!(Rotations::read(&to_bytes(&wide)).is_err());
}

#[test]
fn a_statement_cannot_make_those_of_another_publisher_stale() {
    let (rude, other, next) = (key(), key(), key());
    let none = Revocations::default();
    let mut roots = trusting(&rude, &["ocr"]);
    let pdf = names(&["pdf.*"]);
    roots
        .trust(other.public(), &pdf, AllNames::Refused)
        .unwrap();
    let moved = statement(&rude, other.public(), &["ocr"], 1 << 52);
    roots.rotate(&moved, &none).unwrap();
    let own = statement(&other, next.public(), &["pdf.*"], 1);
    assert!(roots.rotate(&own, &none).is_ok());
    assert!(speaks(&roots, &next, "pdf.split") && !speaks(&roots, &next, "ocr"));
}

#[test]
fn publishers_cannot_fill_the_file() {
    let none = Revocations::default();
    let first = key();
    let mut roots = TrustRoots::default();
    let all = names(&["*"]);
    roots
        .trust(first.public(), &all, AllNames::Allowed)
        .unwrap();
    let many: Vec<String> = (0..256).map(|n| format!("{}{n}", "t".repeat(60))).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let mut old = first;
    let refused = (1..1000).find_map(|number| {
        let new = key();
        let moved = statement(&old, new.public(), &many, number);
        let answer = roots.rotate(&moved, &none).err();
        old = new;
        answer
    });
    let full = RotationError::Retired {
        source: TrustError::Full,
    };
    assert_eq!(refused.unwrap().to_string(), full.to_string());
    assert!(!roots.revoke(&old.public().id(), "too eager"));
    assert!(roots.to_bytes().is_ok(), "the user can still revoke");
}

#[test]
fn a_chain_is_followed_in_whatever_order_it_comes() {
    let (a, b, c) = (key(), key(), key());
    let mut list = Rotations::default();
    list.rotations.push(statement(&b, c.public(), &["ocr"], 2));
    list.rotations.push(statement(&a, b.public(), &["ocr"], 1));
    let mut roots = trusting(&a, &["ocr"]);
    for signed in Rotations::read(&to_bytes(&list)).unwrap().rotations {
        roots.rotate(&signed, &Revocations::default()).unwrap();
    }
    assert!(speaks(&roots, &c, "ocr") && !speaks(&roots, &b, "ocr"));
}
