//! Who speaks for which name, and how that changes hands.

mod file;
mod rotation;

use super::{AllNames, NamePattern, Standing, TrustError, TrustRoots, TrustedRegistry};
use crate::{InstallError, ToolId, testing::SigningKey};

fn key() -> SigningKey {
    SigningKey::new()
}

fn id(name: &str) -> ToolId {
    name.parse().unwrap()
}

fn names(list: &[&str]) -> Vec<NamePattern> {
    list.iter().map(|name| name.parse().unwrap()).collect()
}

/// Tells whether something was refused for such a reason.
fn is<T>(refused: Result<T, InstallError>, such: fn(&TrustError) -> bool) -> bool {
    refused.is_err_and(|error| error.cause().is_some_and(such))
}

fn trusting(key: &SigningKey, list: &[&str]) -> TrustRoots {
    let mut roots = TrustRoots::default();
    roots
        .trust(key.public(), &names(list), AllNames::Refused)
        .unwrap();
    roots
}

fn speaks(roots: &TrustRoots, key: &SigningKey, name: &str) -> bool {
    let standing = roots.standing(&key.public().id(), &id(name));
    matches!(standing, Standing::Trusted(_))
}

#[test]
fn a_key_speaks_for_its_names_and_no_other() {
    let key = key();
    let roots = trusting(&key, &["ocr", "pdf.*"]);
    for name in ["ocr", "pdf.split", "pdf.extract-text", "pdf.a.b"] {
        assert!(speaks(&roots, &key, name), "{name}");
    }
    for name in ["pdf", "pdfx.split", "ocr.x", "ocr2", "pdf-x.split", "oc"] {
        assert!(!speaks(&roots, &key, name), "{name}");
    }
    let standing = roots.standing(&key.public().id(), &id("pdf"));
    assert!(matches!(standing, Standing::OtherNames { .. }));
    let other = SigningKey::new();
    let standing = roots.standing(&other.public().id(), &id("ocr"));
    assert_eq!(standing, Standing::Unknown);
}

#[test]
fn a_pattern_is_a_name_or_all_below_one() {
    for good in ["ocr", "pdf.*", "a.b.*", "*"] {
        assert_eq!(good.parse::<NamePattern>().unwrap().to_string(), good);
    }
    for bad in [
        "", ".*", "p*", "pdf*", "*.pdf", "pdf.*.*", "PDF", "pdf.**", "**", " *", "pdf.",
    ] {
        assert!(bad.parse::<NamePattern>().is_err(), "{bad}");
    }
}

#[test]
fn what_two_patterns_share_is_the_narrower() {
    let meet = |a: &str, b: &str| {
        let [a, b]: [NamePattern; 2] = [a.parse().unwrap(), b.parse().unwrap()];
        assert_eq!(a.meet(&b), b.meet(&a));
        a.meet(&b).map(|shared| shared.to_string())
    };
    let cases = [
        ("*", "ocr", Some("ocr")),
        ("*", "pdf.*", Some("pdf.*")),
        ("*", "*", Some("*")),
        ("pdf.*", "pdf.split", Some("pdf.split")),
        ("pdf.*", "pdf.a.*", Some("pdf.a.*")),
        ("pdf.*", "pdf", None),
        ("pdf.*", "pdfx.*", None),
        ("ocr", "ocr", Some("ocr")),
        ("ocr", "ocr.*", None),
        ("ocr", "pdf", None),
    ];
    for (a, b, shared) in cases {
        assert_eq!(meet(a, b).as_deref(), shared, "{a} {b}");
    }
}

#[test]
fn all_names_are_given_only_explicitly() {
    let key = key();
    let mut roots = TrustRoots::default();
    let refused = roots.trust(key.public(), &names(&["*"]), AllNames::Refused);
    let refused = refused.unwrap_err();
    let cause = refused.cause::<TrustError>();
    assert!(
        matches!(cause, Some(TrustError::AllNames { .. })),
        "{refused}"
    );
    assert!(refused.hint().is_some());
    assert_eq!(roots, TrustRoots::default(), "nothing is left behind");
    let refused = roots.trust(key.public(), &[], AllNames::Allowed);
    assert!(is(refused, |error| matches!(
        error,
        TrustError::NoNames { .. }
    )));
    // The flag without `*` is no licence to add `*` later.
    let allowed = roots.trust(key.public(), &names(&["ocr"]), AllNames::Allowed);
    assert!(allowed.is_ok());
    let refused = roots.trust(key.public(), &names(&["*"]), AllNames::Refused);
    assert!(refused.is_err());
    let allowed = roots.trust(key.public(), &names(&["*"]), AllNames::Allowed);
    assert!(allowed.is_ok());
    assert!(speaks(&roots, &key, "anything.at-all"));
}

#[test]
fn names_are_added_and_a_forgotten_key_may_come_back() {
    let key = key();
    let mut roots = trusting(&key, &["ocr"]);
    let more = roots.trust(key.public(), &names(&["pdf.*", "ocr"]), AllNames::Refused);
    assert_eq!(more.unwrap().names, names(&["ocr", "pdf.*"]));
    assert!(roots.forget(&key.public().id()));
    assert!(!roots.forget(&key.public().id()));
    assert!(!speaks(&roots, &key, "ocr"));
    let again = roots.trust(key.public(), &names(&["ocr"]), AllNames::Refused);
    assert!(again.is_ok());
    assert_eq!(roots.publishers().count(), 1);
}

#[test]
fn a_revoked_key_never_comes_back() {
    let key = key();
    let mut roots = trusting(&key, &["ocr"]);
    let id_of = key.public().id();
    assert!(roots.revoke(&id_of, "stolen"));
    let reason = "stolen".to_owned();
    assert_eq!(
        roots.standing(&id_of, &id("ocr")),
        Standing::Revoked { reason }
    );
    let refused = roots.trust(key.public(), &names(&["ocr"]), AllNames::Refused);
    assert!(is(refused, |error| matches!(
        error,
        TrustError::Revoked { .. }
    )));
    assert!(!roots.forget(&id_of), "and is not forgotten");
    let registry = TrustedRegistry {
        key: key.public().clone(),
        validates: false,
    };
    assert!(roots.trust_registry("main", registry).is_err());
}

#[test]
fn a_registry_has_a_name_and_a_key() {
    let key = key();
    let registry = TrustedRegistry {
        key: key.public().clone(),
        validates: true,
    };
    let mut roots = TrustRoots::default();
    for bad in ["", "Main", "../x", "a b", "a/b"] {
        let refused = roots.trust_registry(bad, registry.clone());
        assert!(is(refused, |error| matches!(
            error,
            TrustError::RegistryName { .. }
        )));
    }
    roots.trust_registry("main", registry.clone()).unwrap();
    assert_eq!(roots.registry("main"), Some(&registry));
    assert_eq!(roots.registry("other"), None);
    // A registry's key is no publisher's.
    assert!(!speaks(&roots, &key, "ocr"));
    roots.revoke(&key.public().id(), "stolen");
    assert_eq!(roots.registry("main"), None);
}
