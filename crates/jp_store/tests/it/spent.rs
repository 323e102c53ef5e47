//! One-time states: exactly one spends each.

use std::{sync::Barrier, thread};

use crate::conformance::{Engine, NOW};

/// Returns a nonce that no other number has.
pub(crate) fn nonce(number: u128) -> [u8; 16] {
    number.to_be_bytes()
}

pub(crate) fn a_nonce_is_spent_once(engine: &dyn Engine) {
    let server = engine.open(NOW);
    assert!(server.spend("ann", &nonce(1), NOW + 9, NOW).unwrap());
    assert!(server.spend("ann", &nonce(2), NOW + 9, NOW).unwrap());
    let other = engine.open(NOW);
    for server in [server, other] {
        assert!(!server.spend("ann", &nonce(1), NOW + 9, NOW).unwrap());
        // Not with another time either.
        assert!(!server.spend("ann", &nonce(1), NOW + 99, NOW + 1).unwrap());
    }
    let next = engine.open(NOW);
    assert!(!next.spend("ann", &nonce(2), NOW + 9, NOW + 8).unwrap());
    assert!(next.spend("", &nonce(3), NOW + 9, NOW).is_err());
}

pub(crate) fn of_8_threads_exactly_one_spends_each_of_1000_nonces(engine: &dyn Engine) {
    // Four of the threads share a server, and the others have one each.
    let shared = engine.open(NOW);
    let start = Barrier::new(8);
    let won = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let (shared, start) = (&shared, &start);
                scope.spawn(move || {
                    let own = (thread >= 4).then(|| engine.open(NOW));
                    let server = own.as_deref().unwrap_or(&**shared);
                    start.wait();
                    let spend = |n| server.spend("ann", &nonce(n), NOW + 9, NOW).unwrap();
                    (0..1000).map(spend).collect::<Vec<_>>()
                })
            })
            .collect();
        let won = threads.into_iter().map(|thread| thread.join().unwrap());
        won.collect::<Vec<_>>()
    });
    for n in 0..1000 {
        let winners = won.iter().filter(|won| won[n]).count();
        assert_eq!(winners, 1, "nonce {n}");
    }
}

pub(crate) fn what_has_expired_cannot_be_spent(engine: &dyn Engine) {
    let server = engine.open(NOW);
    assert!(!server.spend("ann", &nonce(1), NOW, NOW).unwrap());
    assert!(!server.spend("ann", &nonce(1), NOW - 1, NOW).unwrap());
    assert!(server.spend("ann", &nonce(2), NOW + 1, NOW).unwrap());
    assert_eq!(server.sweep_spent(NOW).unwrap(), 0);
    assert_eq!(server.sweep_spent(NOW + 1).unwrap(), 1);
    assert_eq!(server.sweep_spent(NOW + 1).unwrap(), 0);
    assert!(!server.spend("ann", &nonce(2), NOW + 1, NOW + 1).unwrap());
    // What expires later is not touched by that.
    assert!(server.spend("ann", &nonce(3), NOW + 2, NOW + 1).unwrap());
}

pub(crate) fn a_clock_that_runs_ahead_makes_nothing_fresh_again(engine: &dyn Engine) {
    let (ahead, right) = (engine.open(NOW), engine.open(NOW));
    assert!(right.spend("ann", &nonce(1), NOW + 50, NOW).unwrap());
    assert!(right.spend("ann", &nonce(2), NOW + 500, NOW).unwrap());
    assert_eq!(ahead.sweep_spent(NOW + 400).unwrap(), 1);
    for (number, expires, expected) in [(1, 50, false), (2, 500, false), (3, 51, true)] {
        let spent = right.spend("ann", &nonce(number), NOW + expires, NOW + 1);
        assert_eq!(spent.unwrap(), expected, "{number}");
    }
}
