//! What cannot be seen from outside: disks that are full, steps of later versions, settings.

use std::{error::Error as _, fs, path::Path, time::Duration};

use super::{
    schema::{STEPS, migrate},
    *,
};
use crate::{Change, NewSpill, NewTask, Quota, Spent as _, Spills as _, State};

const NOW: Millis = 1_700_000_000_000;
const ROOM: Quota = Quota {
    owner: u64::MAX,
    total: u64::MAX,
};
const TASK: NewTask<'_> = NewTask {
    tool: "report",
    ttl: 60_000,
    poll_interval: 500,
    message: None,
    most: u64::MAX,
};

#[test]
fn a_full_disk_is_an_error_and_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("store.sqlite"), NOW).unwrap();
    let small = NewSpill {
        mime_type: "text/plain",
        bytes: b"small",
        expires: NOW + 9,
    };
    let kept = store.keep("ann", &small, &ROOM, NOW).unwrap();
    let task = store.create("ann", &TASK, NOW).unwrap();
    // As good as a full disk: the file may have no page more.
    let limit = |pages: u32| {
        let writer = lock(&store.writer);
        let free = "PRAGMA page_count";
        let now: u32 = writer.query_row(free, [], |row| row.get(0)).unwrap();
        let most = format!("PRAGMA max_page_count = {}", now + pages);
        writer.query_row(&most, [], |_| Ok(())).unwrap();
    };
    limit(8);
    let bytes = &[7; 1 << 20];
    let large = NewSpill { bytes, ..small };
    let result = &format!("\"{}\"", "r".repeat(1 << 20));
    let errors = [
        store.keep("ann", &large, &ROOM, NOW).unwrap_err(),
        store
            .update("ann", &task, &Change::Completed { result }, NOW)
            .unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, StoreError::Full { .. }), "{error}");
        let text = error.to_string();
        assert!(text.ends_with("store.sqlite: the disk is full"), "{text}");
        assert!(error.source().is_some());
    }
    let slice = store.read("ann", &kept, 0, 9, NOW).unwrap().unwrap();
    assert_eq!(slice.bytes, b"small");
    let found = store.get("ann", &task, NOW).unwrap().unwrap();
    assert_eq!(found.state, State::Working);
    let usage = "SELECT sum(bytes) FROM spill_usage";
    let usage = lock(&store.reader).query_row(usage, [], |row| number(row, 0));
    assert_eq!(usage.unwrap(), 4096, "what was not kept does not count");
    // With room again it goes on.
    limit(4096);
    let done = Change::Completed { result };
    store.update("ann", &task, &done, NOW).unwrap();
    store.keep("ann", &large, &ROOM, NOW).unwrap();
    assert!(store.spend("ann", &[1; 16], NOW + 9, NOW).unwrap());
}

#[test]
fn others_that_keep_writing_are_an_error_and_no_one_who_looks_waits() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.sqlite");
    let (store, other) = [0; 2].map(|_| Store::open(&path, NOW).unwrap()).into();
    let id = store.create("ann", &TASK, NOW).unwrap();
    let writes = lock(&other.writer);
    writes.execute_batch("BEGIN IMMEDIATE").unwrap();
    lock(&store.writer).busy_timeout(Duration::ZERO).unwrap();
    let error = store.create("ann", &TASK, NOW).unwrap_err();
    assert!(matches!(error, StoreError::Busy { .. }), "{error}");
    assert!(store.get("ann", &id, NOW).unwrap().is_some());
    writes.execute_batch("ROLLBACK").unwrap();
    store.create("ann", &TASK, NOW).unwrap();
}

#[test]
fn every_write_waits_for_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("store.sqlite"), NOW).unwrap();
    let writer = lock(&store.writer);
    let pragma = |name: &str| writer.query_row(name, [], |row| row.get::<_, i64>(0));
    assert_eq!(pragma("PRAGMA synchronous").unwrap(), 2, "FULL");
    assert_eq!(pragma("PRAGMA foreign_keys").unwrap(), 1);
    assert_eq!(pragma("PRAGMA auto_vacuum").unwrap(), 2, "INCREMENTAL");
    let reader = lock(&store.reader);
    assert!(reader.execute("DELETE FROM tasks", []).is_err());
}

#[test]
fn a_later_step_is_taken_once_and_keeps_the_rows() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.sqlite");
    let store = Store::open(&path, NOW).unwrap();
    let id = store.create("ann", &TASK, NOW).unwrap();
    let more = [STEPS, &["ALTER TABLE tasks ADD COLUMN colour TEXT"]].concat();
    for _ in 0..2 {
        migrate(&mut lock(&store.writer), &path, &more).unwrap();
    }
    assert!(store.get("ann", &id, NOW).unwrap().is_some());
    let error = migrate(&mut lock(&store.writer), &path, STEPS).unwrap_err();
    assert!(matches!(error, StoreError::Newer { version: 3, .. }));
}

#[test]
fn a_step_that_fails_leaves_the_version_before_it() {
    let mut connection = Connection::open_in_memory().unwrap();
    let path = Path::new("memory");
    migrate(&mut connection, path, STEPS).unwrap();
    let broken = [STEPS, &["CREATE TABLE extra(id); CREATE TABLE tasks(id)"]].concat();
    migrate(&mut connection, path, &broken).unwrap_err();
    assert!(connection.prepare("SELECT * FROM extra").is_err());
    migrate(&mut connection, path, STEPS).unwrap();
}

#[test]
fn a_server_lives_where_that_cannot_be_found_out() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("store.sqlite"), NOW).unwrap();
    let (gone, odd) = ("0".repeat(32), "1".repeat(32));
    let odd_lock = dir
        .path()
        .join(format!("store.sqlite.servers/server-{odd}"));
    std::os::unix::fs::symlink(format!("server-{odd}"), &odd_lock).unwrap();
    assert!(fs::File::open(&odd_lock).is_err());
    assert!(store.servers.lives(&odd.parse().unwrap()));
    assert!(!store.servers.lives(&gone.parse().unwrap()));
    assert!(store.servers.lives(store.servers.own()));
}
