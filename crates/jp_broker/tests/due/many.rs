//! Ten thousand at once.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use jp_broker::{due::Due, kv::Store};

use crate::host::NOW;

/// Fires `count` reminders of ten users, `batch` at a time.
fn fire(count: usize, batch: usize) -> Duration {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kv.db");
    let store = Arc::new(Store::open(&path).unwrap());
    let mut connection = rusqlite::Connection::open(&path).unwrap();
    let transaction = connection.transaction().unwrap();
    for n in 0..count {
        let sql = "INSERT INTO reminders(user_id, title, due_at, created_at, origin, wake_at)
                   VALUES(?1, ?2, ?3, 1, 'tool:reminders', ?3)";
        let values = (format!("user {}", n % 10), format!("reminder {n}"), NOW - 1);
        transaction
            .prepare_cached(sql)
            .unwrap()
            .execute(values)
            .unwrap();
    }
    transaction.commit().unwrap();
    let due = Due::new(store);
    let (before, mut fired) = (Instant::now(), 0);
    loop {
        let events = due.claim(NOW, batch).unwrap();
        if events.is_empty() {
            break;
        }
        let ids: Vec<&str> = events.iter().map(|event| event.id.as_str()).collect();
        fired += due.ack(&ids, NOW).unwrap();
    }
    let took = before.elapsed();
    assert_eq!(fired, count);
    took
}

#[test]
fn ten_thousand_due_reminders_fire_well_under_two_seconds() {
    let took = (0..3).map(|_| fire(10_000, 1000)).min().unwrap();
    assert!(took < Duration::from_secs(2), "{took:?}");
}

#[test]
fn firing_grows_with_the_number_and_not_with_its_square() {
    // Small batches are the hard case: each must not look at all that waits. The quickest of a few
    // runs, since others use this machine too.
    let quickest = |count| (0..3).map(|_| fire(count, 50)).min().unwrap();
    let (few, many) = (quickest(1000), quickest(10_000));
    let ratio = many.as_secs_f64() / few.as_secs_f64();
    assert!(
        ratio < 30.0,
        "ten times the number took {ratio:.1} times as long ({few:?}, {many:?})"
    );
}
