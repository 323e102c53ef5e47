//! Calls that wait for a person: decided once, spent once, whoever comes first.

use std::{sync::Barrier, thread};

use jp_store::{
    Arguments, Decided, Effect, Kind, NewGrant, NewRequest, SameCall, Standing, StoreError, Verdict,
};

use crate::{
    conformance::{Engine, NOW, Server},
    grants::grant,
};

const CALL: SameCall<'static> = SameCall {
    principal: "ann",
    tool: "t",
    workspace: "/w",
    arguments: &[1; 32],
    shown: &[2; 32],
};

/// A request about a call.
pub(crate) const fn new(call: SameCall<'_>) -> NewRequest<'_> {
    NewRequest {
        kind: Kind::Approval,
        call,
        configuration: None,
        run: "r",
        access: None,
        about: "{}",
        expires: NOW + 1_000,
        most: 100,
    }
}

pub(crate) const fn once() -> Verdict<'static> {
    Verdict::Allow {
        until: NOW + 5_000,
        remember: Vec::new(),
    }
}

const fn no() -> Verdict<'static> {
    Verdict::Deny {
        remember: Vec::new(),
    }
}

fn standing(server: &dyn Server, id: &jp_store::RequestId, now: u64) -> Standing {
    server.request(id, now).unwrap().unwrap().standing
}

pub(crate) fn a_permission_is_for_its_own_call_and_good_once(engine: &dyn Engine) {
    let server = engine.open(NOW);
    let id = server.file(&new(CALL), NOW).unwrap();
    assert_eq!(
        server.file(&new(CALL), NOW).unwrap(),
        id,
        "it waits already"
    );
    assert_eq!(server.redeem(&CALL, NOW).unwrap(), None, "nobody decided");
    let other = engine.open(NOW);
    let made = other
        .decide(&id, &once(), "ann at a terminal", NOW)
        .unwrap();
    assert_eq!(made, Decided::Made { grants: vec![] });
    assert_eq!(server.snapshot(NOW).unwrap().tickets.len(), 1);
    for wrong in [
        SameCall {
            principal: "bob",
            ..CALL
        },
        SameCall { tool: "u", ..CALL },
        SameCall {
            workspace: "/v",
            ..CALL
        },
        SameCall {
            arguments: &[3; 32],
            ..CALL
        },
        SameCall {
            shown: &[3; 32],
            ..CALL
        },
    ] {
        assert_eq!(server.redeem(&wrong, NOW).unwrap(), None, "{wrong:?}");
    }
    let spent = server.redeem(&CALL, NOW).unwrap().unwrap();
    assert_eq!((&spent.id, &*spent.author), (&id, "ann at a terminal"));
    assert_eq!(other.redeem(&CALL, NOW).unwrap(), None);
    assert_eq!(standing(&*other, &id, NOW), Standing::Spent);
    // The next one waits for a decision of its own.
    assert_ne!(server.file(&new(CALL), NOW).unwrap(), id);
}

pub(crate) fn whoever_decides_later_learns_what_was_decided(engine: &dyn Engine) {
    let server = engine.open(NOW);
    let id = server.file(&new(CALL), NOW).unwrap();
    server.decide(&id, &no(), "ann", NOW).unwrap();
    let late = server.decide(&id, &once(), "bob", NOW).unwrap();
    let expected = Decided::Before {
        standing: Standing::Denied,
        author: Some("ann".to_owned()),
    };
    assert_eq!(late, expected);
    assert_eq!(server.redeem(&CALL, NOW).unwrap(), None);
    let missing = "0".repeat(32).parse().unwrap();
    assert_eq!(
        server.decide(&missing, &once(), "bob", NOW).unwrap(),
        Decided::Unknown
    );
}

pub(crate) fn nothing_is_decided_or_spent_after_its_time(engine: &dyn Engine) {
    let server = engine.open(NOW);
    let id = server.file(&new(CALL), NOW).unwrap();
    let late = server.decide(&id, &once(), "ann", NOW + 1_000).unwrap();
    let expected = Decided::Before {
        standing: Standing::Expired,
        author: None,
    };
    assert_eq!(late, expected);
    assert_eq!(server.redeem(&CALL, NOW + 1_000).unwrap(), None);
    let id = server.file(&new(CALL), NOW + 2).unwrap();
    server.decide(&id, &once(), "ann", NOW + 2).unwrap();
    assert_eq!(server.redeem(&CALL, NOW + 5_000).unwrap(), None);
    assert_eq!(standing(&*server, &id, NOW + 5_000), Standing::Expired);
    assert!(server.redeem(&CALL, NOW + 4_999).unwrap().is_some());
    assert_eq!(server.sweep_requests(NOW + 5_000).unwrap(), 0);
    let day = 24 * 60 * 60 * 1_000;
    assert_eq!(server.sweep_requests(NOW + day + 5_000).unwrap(), 1);
}

pub(crate) fn what_is_taken_back_before_it_is_used_is_never_used(engine: &dyn Engine) {
    let server = engine.open(NOW);
    let id = server.file(&new(CALL), NOW).unwrap();
    server.decide(&id, &once(), "ann", NOW).unwrap();
    assert!(server.revoke(id.as_str(), NOW).unwrap());
    assert_eq!(server.redeem(&CALL, NOW).unwrap(), None);
    assert_eq!(standing(&*server, &id, NOW), Standing::Revoked);
    // With a remembered decision goes the permission that came with it.
    let id = server.file(&new(CALL), NOW).unwrap();
    let always = Verdict::Allow {
        until: NOW + 5_000,
        remember: vec![NewGrant {
            arguments: Arguments::Exact([1; 32]),
            ..grant("t")
        }],
    };
    let Decided::Made { grants } = server.decide(&id, &always, "ann", NOW).unwrap() else {
        panic!("not made");
    };
    assert!(server.revoke(grants[0].as_str(), NOW).unwrap());
    assert_eq!(server.redeem(&CALL, NOW).unwrap(), None);
    assert!(server.snapshot(NOW).unwrap().grants.is_empty());
}

pub(crate) fn a_decision_and_what_is_remembered_of_it_are_one(engine: &dyn Engine) {
    let server = engine.open(NOW);
    let id = server.file(&new(CALL), NOW).unwrap();
    let long = "x".repeat(1 << 20);
    let too_long = Verdict::Deny {
        remember: vec![NewGrant {
            effect: Effect::Never,
            about: &long,
            ..grant("t")
        }],
    };
    assert!(server.decide(&id, &too_long, "ann", NOW).is_err());
    assert_eq!(standing(&*server, &id, NOW), Standing::Waiting);
    let never = Verdict::Deny {
        remember: vec![NewGrant {
            effect: Effect::Never,
            ..grant("t")
        }],
    };
    server.decide(&id, &never, "ann", NOW).unwrap();
    assert_eq!(
        server.snapshot(NOW).unwrap().grants[0].effect,
        Effect::Never
    );
}

pub(crate) fn only_its_principal_adds_a_reason_and_only_to_a_proposal(engine: &dyn Engine) {
    let server = engine.open(NOW);
    let approval = server.file(&new(CALL), NOW).unwrap();
    let proposal = NewRequest {
        kind: Kind::Proposal,
        access: Some("{}"),
        ..new(CALL)
    };
    let id = server.file(&proposal, NOW).unwrap();
    assert_ne!(id, approval);
    assert!(!server.propose("ann", &approval, "please", NOW).unwrap());
    assert!(!server.propose("bob", &id, "please", NOW).unwrap());
    assert!(server.propose("ann", &id, "please", NOW).unwrap());
    let found = server.request(&id, NOW).unwrap().unwrap();
    assert_eq!(found.reason.as_deref(), Some("please"));
    assert_eq!(found.standing, Standing::Waiting, "it grants nothing");
    assert!(server.propose("ann", &id, &"x".repeat(3_000), NOW).is_err());
    server.decide(&id, &no(), "ann", NOW).unwrap();
    assert!(!server.propose("ann", &id, "again", NOW).unwrap());
}

pub(crate) fn a_principal_has_as_many_waiting_as_the_limit_says(engine: &dyn Engine) {
    let server = engine.open(NOW);
    let digests: Vec<[u8; 32]> = (0..4).map(|n| [n; 32]).collect();
    let file = |n: usize, principal| {
        let call = SameCall {
            arguments: &digests[n],
            principal,
            ..CALL
        };
        server.file(
            &NewRequest {
                most: 3,
                ..new(call)
            },
            NOW,
        )
    };
    for n in 0..3 {
        file(n, "ann").unwrap();
    }
    assert!(matches!(
        file(3, "ann"),
        Err(StoreError::TooManyRequests { most: 3, found: 3 })
    ));
    file(0, "ann").unwrap();
    file(3, "bob").unwrap();
    let bad = NewRequest {
        about: "[]",
        ..new(CALL)
    };
    assert!(matches!(
        server.file(&bad, NOW),
        Err(StoreError::NoObject { .. })
    ));
}

pub(crate) fn of_8_threads_one_decides_and_one_spends_200_times(engine: &dyn Engine) {
    let servers: Vec<_> = (0..8).map(|_| engine.open(NOW)).collect();
    for round in 0..200_u8 {
        let digest = [round; 32];
        let call = SameCall {
            arguments: &digest,
            ..CALL
        };
        let id = servers[0].file(&new(call), NOW).unwrap();
        let start = Barrier::new(8);
        let done: Vec<(bool, bool, bool)> = thread::scope(|scope| {
            let threads = servers.iter().enumerate().map(|(n, server)| {
                let (start, id) = (&start, &id);
                scope.spawn(move || {
                    start.wait();
                    let verdict = if n % 2 == 0 { once() } else { no() };
                    let author = format!("thread {n}");
                    let decided = server.decide(id, &verdict, &author, NOW).unwrap();
                    let spent = server.redeem(&call, NOW).unwrap();
                    let revoked = n == 7 && server.revoke(id.as_str(), NOW).unwrap();
                    (
                        matches!(decided, Decided::Made { .. }),
                        spent.is_some(),
                        revoked,
                    )
                })
            });
            let threads: Vec<_> = threads.collect();
            threads.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let winner = done
            .iter()
            .position(|(made, ..)| *made)
            .expect("a decision");
        assert_eq!(done.iter().filter(|(made, ..)| *made).count(), 1, "{round}");
        let used = done.iter().filter(|(_, spent, _)| *spent).count();
        let revoked = done.iter().filter(|(.., revoked)| *revoked).count();
        let found = servers[0].request(&id, NOW).unwrap().unwrap();
        assert_eq!(found.author, Some(format!("thread {winner}")));
        match found.standing {
            Standing::Denied => assert_eq!((winner % 2, used, revoked), (1, 0, 0)),
            Standing::Spent => assert_eq!((winner % 2, used, revoked), (0, 1, 0)),
            Standing::Revoked => assert_eq!((winner % 2, used, revoked), (0, 0, 1)),
            other => panic!("{round}: {other:?}"),
        }
    }
}
