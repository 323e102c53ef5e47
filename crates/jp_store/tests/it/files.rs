//! SQLite's side: whose the files are, and what becomes of files that are not what they should be.

use std::{
    fs,
    io::{Seek as _, SeekFrom, Write as _},
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    thread,
};

use jp_store::{Damage, NewSpill, Quota, Spills as _, Store, StoreError, Tasks as _};
use rusqlite::Connection;

use crate::conformance::{NOW, TASK};

const ROOM: Quota = Quota {
    owner: u64::MAX,
    total: u64::MAX,
};

fn place() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap().join("store.sqlite");
    (dir, path)
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Returns all files below a directory.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let nested = entries.flat_map(|path| match path.is_dir() {
        true => files(&path),
        false => vec![path],
    });
    nested.collect()
}

#[test]
fn everything_is_its_owners_alone() {
    let (dir, _) = place();
    let path = dir.path().join("a/b/store.sqlite");
    let store = Store::open(&path, NOW).unwrap();
    store.create("ann", &TASK, NOW).unwrap();
    let found = files(&dir.path().join("a"));
    assert_eq!(found.len(), 5, "{found:?}");
    for file in &found {
        assert_eq!(mode(file), 0o600, "{}", file.display());
    }
    for below in ["a", "a/b", "a/b/store.sqlite.servers"] {
        assert_eq!(mode(&dir.path().join(below)), 0o700, "{below}");
    }
    drop(store);
    // What a careless copy gave away is taken back.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    Store::open(&path, NOW).unwrap();
    assert_eq!(mode(&path), 0o600);
}

#[test]
fn a_newer_store_is_refused_and_stays_as_it_was() {
    let (_dir, path) = place();
    drop(Store::open(&path, NOW).unwrap());
    let other = Connection::open(&path).unwrap();
    other.pragma_update(None, "user_version", 99).unwrap();
    other.close().unwrap();
    let before = fs::read(&path).unwrap();
    let error = Store::open(&path, NOW).unwrap_err();
    let expected = format!(
        "invalid store {}: expected version 2 or older, found 99; use a newer jp",
        path.display()
    );
    assert_eq!(error.to_string(), expected);
    assert!(matches!(error, StoreError::Newer { .. }));
    assert!(fs::read(&path).unwrap() == before);
}

#[test]
fn what_is_not_a_store_is_refused_and_stays_as_it_was() {
    let refused = |path: &Path, found: &str| {
        let error = Store::open(path, NOW).unwrap_err();
        assert!(matches!(error, StoreError::NotOurs { .. }), "{error}");
        let text = error.to_string();
        let expected = format!("invalid store {}: ", path.display());
        assert!(text.starts_with(&expected), "{text}");
        assert!(text.contains(&format!("found {found};")), "{text}");
    };
    let (_dir, path) = place();
    let text = "no database, and longer than a header of SQLite is ".repeat(9);
    fs::write(&path, &text).unwrap();
    refused(&path, "no SQLite database");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    fs::remove_file(&path).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE theirs(a)").unwrap();
    other.close().unwrap();
    let before = fs::read(&path).unwrap();
    refused(&path, "a database of another program");
    assert!(fs::read(&path).unwrap() == before);
    for make in [
        |path: &Path| fs::create_dir(path).unwrap(),
        |path: &Path| symlink("/dev/null", path).unwrap(),
    ] {
        let (_dir, path) = place();
        make(&path);
        refused(&path, "something that is not a regular file");
    }
}

/// What the error must say of a damaged store, whatever is damaged.
fn is_damaged(error: &StoreError, path: &Path) {
    let expected = format!(
        "cannot use the store {}: it is damaged; move it away, and jp makes a new one",
        path.display()
    );
    assert_eq!(error.to_string(), expected);
    assert!(matches!(error, StoreError::Damaged { .. }));
}

#[test]
fn a_damaged_store_says_which_file_and_what_to_do() {
    let (_dir, path) = place();
    drop(Store::open(&path, NOW).unwrap());
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(200)).unwrap();
    file.write_all(&[0x5a; 40_000]).unwrap();
    is_damaged(&Store::open(&path, NOW).unwrap_err(), &path);
    // Moved away, with its companions or without them, it is in nobody's way.
    fs::rename(&path, path.with_extension("old")).unwrap();
    Store::open(&path, NOW).unwrap();
}

#[test]
fn a_log_that_was_left_behind_is_not_the_new_stores() {
    let (_dir, path) = place();
    let log = path.with_extension("sqlite-wal");
    let store = Store::open(&path, NOW).unwrap();
    let id = store.create("ann", &TASK, NOW).unwrap();
    let left = fs::read(&log).unwrap();
    drop(store);
    assert!(!left.is_empty());
    fs::remove_file(&path).unwrap();
    fs::write(&log, left).unwrap();
    let store = Store::open(&path, NOW).unwrap();
    assert_eq!(store.get("ann", &id, NOW).unwrap(), None);
    store.create("ann", &TASK, NOW).unwrap();
}

#[test]
fn what_a_server_leaves_that_is_killed_while_it_opens_is_opened() {
    let (_dir, path) = place();
    // Killed before the first table,
    fs::write(&path, "").unwrap();
    fs::write(path.with_extension("sqlite.lock"), "").unwrap();
    drop(Store::open(&path, NOW).unwrap());
    // and before the log.
    let other = Connection::open(&path).unwrap();
    let mode = "PRAGMA journal_mode = DELETE";
    let mode: String = other.query_row(mode, [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "delete");
    other.close().unwrap();
    let store = Store::open(&path, NOW).unwrap();
    store.create("ann", &TASK, NOW).unwrap();
    assert!(path.with_extension("sqlite-wal").exists());
}

#[test]
fn a_store_without_its_tables_or_its_bytes_is_damaged() {
    let (_dir, path) = place();
    let change = |sql: &str| {
        let other = Connection::open(&path).unwrap();
        other.execute_batch(sql).unwrap();
        other.close().unwrap();
    };
    let store = Store::open(&path, NOW).unwrap();
    let new = NewSpill {
        mime_type: "text/plain",
        bytes: &[7; 300_000],
        expires: NOW + 9,
    };
    let spill = store.keep("ann", &new, &ROOM, NOW).unwrap();
    let task = store.create("ann", &TASK, NOW).unwrap();
    drop(store);
    change("DELETE FROM spill_parts WHERE part = 1; UPDATE tasks SET state = 'odd'");
    let store = Store::open(&path, NOW).unwrap();
    is_damaged(
        &store.read("ann", &spill, 0, 300_000, NOW).unwrap_err(),
        &path,
    );
    is_damaged(&store.get("ann", &task, NOW).unwrap_err(), &path);
    drop(store);
    change("DROP TABLE spent");
    let error = Store::open(&path, NOW).unwrap_err();
    is_damaged(&error, &path);
    let StoreError::Damaged { source, .. } = error else {
        unreachable!()
    };
    assert!(matches!(source, Damage::NoTable("spent")));
}

#[test]
fn all_who_make_a_store_at_once_get_the_same() {
    let (_dir, path) = place();
    let stores: Vec<_> = thread::scope(|scope| {
        let open = || Store::open(&path, NOW).unwrap();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
        let stores = threads.into_iter().map(|thread| thread.join().unwrap());
        stores.collect()
    });
    for store in &stores {
        let id = store.create("ann", &TASK, NOW).unwrap();
        for other in &stores {
            assert!(other.get("ann", &id, NOW).unwrap().is_some());
        }
    }
}

#[test]
fn a_sweep_gives_the_room_back() {
    let (_dir, path) = place();
    let store = Store::open(&path, NOW).unwrap();
    let new = NewSpill {
        mime_type: "text/plain",
        bytes: &vec![7; 20 << 20],
        expires: NOW + 9,
    };
    store.keep("ann", &new, &ROOM, NOW).unwrap();
    store.sweep_spills(NOW + 9).unwrap();
    drop(store);
    let left: u64 = files(path.parent().unwrap())
        .iter()
        .map(|file| fs::metadata(file).unwrap().len())
        .sum();
    assert!(left < 2 << 20, "{left}");
}

#[test]
fn a_server_that_stops_leaves_no_lock() {
    let (_dir, path) = place();
    let locks = path.with_extension("sqlite.servers");
    let first = Store::open(&path, NOW).unwrap();
    let second = Store::open(&path, NOW).unwrap();
    assert_eq!(files(&locks).len(), 2);
    drop(first);
    assert_eq!(files(&locks).len(), 1);
    // What a killed server leaves is swept; other files are left alone.
    let dead = locks.join(format!("server-{}", "0".repeat(32)));
    for path in [&dead, &locks.join("notes")] {
        fs::write(path, "").unwrap();
    }
    let third = Store::open(&path, NOW).unwrap();
    assert!(!dead.exists());
    assert!(locks.join("notes").exists());
    assert_eq!(files(&locks).len(), 3);
    assert_ne!(second.server(), third.server());
}
