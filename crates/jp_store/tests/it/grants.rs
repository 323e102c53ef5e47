//! Remembered decisions: what holds, and how everybody hears of a change.

use jp_store::{
    Arguments, Effect, Generation, Grants as _, MAX_PATTERNS, NewGrant, Store, StoreError,
};

use crate::conformance::{Engine, NOW};

/// A decision about a tool, for all.
pub(crate) fn grant(tool: &str) -> NewGrant<'_> {
    NewGrant {
        effect: Effect::Allow,
        tool,
        principal: Some("ann"),
        workspace: None,
        configuration: None,
        run: None,
        arguments: Arguments::Any,
        shown: None,
        access: None,
        about: "{}",
        author: "ann",
        expires: None,
    }
}

pub(crate) fn a_decision_comes_back_as_it_was_made(engine: &dyn Engine) {
    let server = engine.open(NOW);
    let new = NewGrant {
        effect: Effect::Access,
        workspace: Some("/w"),
        configuration: Some("abc"),
        run: Some("r"),
        arguments: Arguments::Pattern("p".to_owned()),
        shown: Some([7; 32]),
        access: Some("a"),
        about: "words\u{202e}",
        expires: Some(NOW + 9),
        ..grant("t")
    };
    let id = server.remember(&new, NOW).unwrap();
    let found = engine.open(NOW).snapshot(NOW).unwrap().grants;
    assert_eq!(found.len(), 1);
    let found = &found[0];
    assert_eq!(
        (&found.id, found.effect, &*found.tool),
        (&id, Effect::Access, "t")
    );
    assert_eq!(found.principal.as_deref(), Some("ann"));
    assert_eq!(found.workspace.as_deref(), Some("/w"));
    assert_eq!(found.configuration.as_deref(), Some("abc"));
    assert_eq!(found.run.as_deref(), Some("r"));
    assert_eq!(found.arguments, Arguments::Pattern("p".to_owned()));
    assert_eq!((found.shown, found.created), (Some([7; 32]), NOW));
    assert_eq!(found.access.as_deref(), Some("a"));
    assert_eq!(found.about, "words\u{202e}");
    assert_eq!(found.expires, Some(NOW + 9));
    // What has expired is as if it were not there.
    assert!(server.snapshot(NOW + 9).unwrap().grants.is_empty());
    assert!(!server.revoke(id.as_str(), NOW + 9).unwrap());
    assert_eq!(server.sweep_grants(NOW + 9).unwrap(), 1);
}

pub(crate) fn a_decision_is_taken_back_once_and_for_all_servers(engine: &dyn Engine) {
    let (server, other) = (engine.open(NOW), engine.open(NOW));
    let id = server.remember(&grant("t"), NOW).unwrap();
    let kept = server.remember(&grant("u"), NOW).unwrap();
    let before = other.snapshot(NOW).unwrap();
    assert_eq!(before.grants.len(), 2);
    assert!(other.revoke(id.as_str(), NOW).unwrap());
    assert!(!server.revoke(id.as_str(), NOW).unwrap());
    assert!(!server.revoke("", NOW).unwrap());
    let now = server.snapshot(NOW).unwrap();
    assert_eq!(now.grants.len(), 1);
    assert_eq!(now.grants[0].id, kept);
    assert!(now.generation > before.generation);
}

pub(crate) fn what_every_call_would_be_compared_with_is_bounded(engine: &dyn Engine) {
    let server = engine.open(NOW);
    for _ in 0..MAX_PATTERNS {
        server.remember(&grant("t"), NOW).unwrap();
    }
    let refused = server.remember(&grant("t"), NOW);
    assert!(
        matches!(refused, Err(StoreError::TooManyGrants { found, .. }) if found == MAX_PATTERNS),
        "{refused:?}"
    );
    let exact = NewGrant {
        arguments: Arguments::Exact([1; 32]),
        ..grant("t")
    };
    server.remember(&exact, NOW).unwrap();
    server.remember(&grant("u"), NOW).unwrap();
    let nobody = NewGrant {
        principal: Some(""),
        ..grant("v")
    };
    assert!(matches!(
        server.remember(&nobody, NOW),
        Err(StoreError::NoOwner)
    ));
    let long = "x".repeat(1 << 20);
    for new in [
        grant(&long),
        NewGrant {
            about: &long,
            ..grant("v")
        },
        NewGrant {
            arguments: Arguments::Pattern(long.clone()),
            ..grant("v")
        },
    ] {
        assert!(matches!(
            server.remember(&new, NOW),
            Err(StoreError::TooLarge { .. })
        ));
    }
}

/// The file beside a store says the newest number before anything of it can be seen, whatever happens in
/// between.
#[test]
fn the_counter_beside_the_store_is_never_behind_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.sqlite");
    let store = Store::open(&path, NOW).unwrap();
    assert!(Generation::open(&path).unwrap().is_none());
    store.remember(&grant("t"), NOW).unwrap();
    let counter = Generation::open(&path).unwrap().unwrap();
    let known = |store: &Store| store.snapshot(NOW).unwrap().generation;
    assert_eq!(counter.read(), Some(known(&store)));
    // A change that was not made is not missed by anybody: the numbers differ until they are settled.
    let refused = store.remember(
        &NewGrant {
            about: &"x".repeat(1 << 20),
            ..grant("t")
        },
        NOW,
    );
    assert!(refused.is_err());
    // A process that was killed after it counted and before it committed.
    let beside = dir.path().join("store.sqlite.generation");
    std::fs::write(&beside, 100_u64.to_le_bytes()).unwrap();
    assert_ne!(counter.read(), Some(known(&store)));
    assert_eq!(store.settle().unwrap(), 101);
    assert_eq!(counter.read(), Some(known(&store)));
    // A power cut that the file did not survive.
    std::fs::write(&beside, 3_u64.to_le_bytes()).unwrap();
    assert_eq!(store.settle().unwrap(), 102);
    assert_eq!(counter.read(), Some(102));
    // Without the file nothing is known to be of now.
    std::fs::remove_file(&beside).unwrap();
    assert_eq!(counter.read(), None);
}
