//! Ten thousand at once. How long that takes is measured by `cargo bench -p jp_bench --bench kv`.

use std::{fs, sync::Arc};

use jp_broker::{due::Due, kv::Store};

use crate::host::NOW;

/// Returns the nanoseconds that this thread has computed, which others on the machine do not add to.
fn computed() -> u64 {
    let times = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    times.split(' ').next().unwrap().parse().unwrap()
}

/// Fires `count` reminders of ten users, `batch` at a time; returns what it took to compute.
fn fire(count: usize, batch: usize) -> u64 {
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
    let (before, mut fired) = (computed(), 0);
    loop {
        let events = due.claim(NOW, batch).unwrap();
        if events.is_empty() {
            break;
        }
        let ids: Vec<&str> = events.iter().map(|event| event.id.as_str()).collect();
        fired += due.ack(&ids, NOW).unwrap();
    }
    let took = computed() - before;
    assert_eq!(fired, count);
    took
}

#[test]
fn firing_grows_with_the_number_and_not_with_its_square() {
    // Small batches are the hard case: each must not look at all that waits. The quickest of a few
    // runs, since the first ones fill the caches.
    let quickest = |count| (0..3).map(|_| fire(count, 50)).min().unwrap();
    let (few, many) = (quickest(1000), quickest(10_000));
    assert!(
        many < few * 30,
        "ten times the number took {many} instead of {few} ns"
    );
}
