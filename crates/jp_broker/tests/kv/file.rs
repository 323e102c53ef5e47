//! The file: what it is made like, what lasts in it, and which files are refused.

use std::{fs, path::Path};

use jp_broker::kv::{Store, StoreError};
use serde_json::json;

use crate::host::{Host, NOW};

fn refused(path: &Path) -> StoreError {
    let before = fs::read(path).unwrap();
    let error = Store::open(path).err().unwrap();
    assert!(
        fs::read(path).unwrap() == before,
        "{error}: the file was changed"
    );
    let beside = fs::read_dir(path.parent().unwrap()).unwrap();
    let mut names: Vec<_> = beside.map(|entry| entry.unwrap().file_name()).collect();
    names.retain(|name| !name.to_string_lossy().contains("other"));
    assert_eq!(names.len(), 1, "{names:?}");
    error
}

#[test]
fn what_was_answered_lasts_until_the_store_is_opened_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kv.db");
    let first = Host::open(&path);
    first.ann("todo.create", json!({ "title": "a" }));
    first.ann("todo.create", json!({ "title": "b" }));
    first.ann("todo.complete", json!({ "id": 1 }));
    first.ann("todo.delete", json!({ "id": 2 }));
    first.ann("reminders.create", json!({ "title": "r", "in_seconds": 5 }));
    first.ann(
        "tasks.schedule",
        json!({ "name": "t", "prompt": "p", "run_at": NOW }),
    );
    first.ann(
        "wakeup.create",
        json!({ "name": "w", "prompt": "p", "interval_minutes": 1 }),
    );
    let plan = first.ann(
        "planning.create",
        json!({ "title": "p", "goal": "g", "steps": ["s"] }),
    );
    drop(first);
    let again = Host::open(&path);
    assert_eq!(
        again.each("todo.list", json!({ "status": "all" }), "items", "title"),
        ["a", "s"]
    );
    assert_eq!(again.each("todo.list", json!({}), "items", "id"), [3]);
    assert_eq!(
        again.each("reminders.list", json!({}), "reminders", "due_at"),
        [NOW + 5]
    );
    assert_eq!(again.each("tasks.list", json!({}), "tasks", "name"), ["t"]);
    assert_eq!(again.each("wakeup.list", json!({}), "tasks", "name"), ["w"]);
    assert_eq!(
        again.ann("planning.get", json!({ "id": 1 }))["plan"],
        plan["plan"]
    );
}

#[test]
fn an_empty_file_becomes_a_store() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kv.db");
    fs::write(&path, b"").unwrap();
    Host::open(&path).ann("todo.create", json!({ "title": "a" }));
    assert_eq!(
        Host::open(&path).each("todo.list", json!({}), "items", "title"),
        ["a"]
    );
}

#[cfg(unix)]
#[test]
fn the_file_and_its_companions_are_their_owners_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let host = Host::new();
    host.ann("todo.create", json!({ "title": "a" }));
    let mut seen = 0;
    for entry in fs::read_dir(host.path.parent().unwrap()).unwrap() {
        let mode = entry.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        seen += 1;
    }
    assert_eq!(seen, 3);
    // Opened again it is made so again, and so are the companions.
    let files = || fs::read_dir(host.path.parent().unwrap()).unwrap();
    for entry in files() {
        let loose = fs::Permissions::from_mode(0o644);
        fs::set_permissions(entry.unwrap().path(), loose).unwrap();
    }
    let _again = Store::open(&host.path).unwrap();
    for entry in files() {
        let mode = entry.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn files_of_others_are_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kv.db");
    for bytes in [
        b"notes of mine".to_vec(),
        vec![0; 4096],
        b"SQLite format 3\0".to_vec(),
        b"S".to_vec(),
    ] {
        fs::write(&path, &bytes).unwrap();
        assert!(matches!(refused(&path), StoreError::NotOurs { .. }));
    }
    fs::remove_file(&path).unwrap();
    let foreign = rusqlite::Connection::open(&path).unwrap();
    foreign
        .execute_batch("CREATE TABLE todo_items(x); INSERT INTO todo_items VALUES(1)")
        .unwrap();
    drop(foreign);
    let error = refused(&path);
    assert!(matches!(error, StoreError::NotOurs { .. }));
    assert!(
        error.to_string().contains("a database of another program"),
        "{error}"
    );
    assert!(matches!(
        Store::open(dir.path()),
        Err(StoreError::NotOurs { .. })
    ));
    assert!(matches!(
        Store::open(&dir.path().join("no/kv.db")),
        Err(StoreError::Io { .. })
    ));
}

#[cfg(unix)]
#[test]
fn a_fifo_is_refused_without_waiting_for_its_other_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kv.db");
    let made = std::process::Command::new("mkfifo")
        .arg(&path)
        .status()
        .unwrap();
    assert!(made.success());
    assert!(matches!(
        Store::open(&path),
        Err(StoreError::NotOurs { .. })
    ));
}

#[test]
fn damaged_and_newer_stores_are_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kv.db");
    let host = Host::open(&path);
    for n in 0..200 {
        host.ann("todo.create", json!({ "title": format!("{n}") }));
    }
    drop(host);
    let whole = fs::read(&path).unwrap();
    let mut garbled = whole.clone();
    garbled[100..4096].fill(0xaa);
    for (what, bytes) in [
        ("cut short", &whole[..whole.len() / 2]),
        ("one page", &whole[..4096]),
        ("garbled", &garbled),
    ] {
        fs::write(&path, bytes).unwrap();
        let error = refused(&path);
        assert!(
            matches!(error, StoreError::Damaged { .. }),
            "{what}: {error}"
        );
    }
    fs::write(&path, &whole).unwrap();
    let change = |sql: &str| {
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.execute_batch(sql).unwrap();
    };
    change("PRAGMA user_version = 99");
    let error = refused(&path);
    assert!(
        matches!(error, StoreError::Newer { version: 99, .. }),
        "{error}"
    );
    change("PRAGMA user_version = -1");
    assert!(matches!(
        refused(&path),
        StoreError::Newer { version: -1, .. }
    ));
    change("PRAGMA user_version = 1; DROP TABLE wakeup_tasks");
    let error = refused(&path);
    assert!(
        matches!(
            error,
            StoreError::Lacks {
                table: "wakeup_tasks",
                ..
            }
        ),
        "{error}"
    );
    fs::write(&path, &whole).unwrap();
    let kept = Host::open(&path).each("todo.list", json!({ "limit": 1000 }), "items", "id");
    assert_eq!(kept.len(), 200);
}

#[test]
fn damage_found_later_is_an_error_and_not_a_crash() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kv.db");
    let host = Host::open(&path);
    for n in 0..20 {
        let items = vec![json!({ "title": format!("{n}"), "notes": "n".repeat(2000) }); 10];
        host.ann("todo.create_many", json!({ "items": items }));
    }
    drop(host);
    let mut bytes = fs::read(&path).unwrap();
    let end = bytes.len();
    bytes[32 * 4096..end].fill(0x5a);
    fs::write(&path, &bytes).unwrap();
    let host = Host::open(&path);
    let error = host
        .call("ann", "todo.list", json!({ "limit": 1000 }))
        .unwrap_err();
    assert_eq!(error.code.as_str(), "internal");
    assert!(error.message.contains("the store failed"), "{error}");
}
