//! Sixteen writers on one file, in threads and in processes: no update is lost, nobody is turned
//! away.

use std::{env, path::Path, sync::Arc};

use jp_broker::kv::{Quotas, Store};
use serde_json::{Value, json};

use crate::{
    host::{Host, NOW},
    kills::again,
};

const STORE: &str = "JP_TEST_WRITERS_STORE";
const WRITERS: usize = 16;
const WRITES: usize = 40;

/// Adds rows, and moves the same rows of all writers on.
fn write(path: &Path, shared: &str) {
    // Each has its own store on the file, as processes do; all open it at once.
    let host = Host::open(path);
    for n in 0..WRITES {
        host.ann("todo.create", json!({ "title": format!("{shared} {n}") }));
        host.ann("todo.create_many", json!({ "items": ["a", "b"] }));
        host.ann("todo.list", json!({ "limit": 5 }));
        let id = host.ann(
            "reminders.create",
            json!({ "title": format!("{shared} {n}"), "due_at": NOW }),
        );
        host.ann("reminders.complete", json!({ "id": id["reminder"]["id"] }));
        host.ann("reminders.delete", json!({ "id": id["reminder"]["id"] }));
    }
}

fn check(path: &Path) {
    let host = Host::open(path);
    let connection = rusqlite::Connection::open(path).unwrap();
    let number = |sql: &str| -> i64 { connection.query_row(sql, [], |row| row.get(0)).unwrap() };
    let expected = i64::try_from(WRITERS * WRITES * 3).unwrap();
    assert_eq!(number("SELECT count(*) FROM todo_items"), expected);
    // Each position was computed from the one before: a lost update would show as a double.
    assert_eq!(
        number("SELECT count(DISTINCT position) FROM todo_items"),
        expected
    );
    assert_eq!(number("SELECT max(position) FROM todo_items"), expected);
    assert_eq!(number("SELECT count(*) FROM reminders"), 0);
    assert_eq!(
        number("SELECT rows FROM row_counts WHERE kind = 'todo_items'"),
        expected
    );
    let reminders = "SELECT rows FROM row_counts WHERE kind = 'reminders'";
    assert_eq!(number(reminders), 0);
    assert_eq!(
        host.ann("todo.list", json!({ "limit": 1 }))["items"][0]["position"],
        1
    );
}

#[test]
fn sixteen_threads_with_a_store_each_lose_no_update() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kv.db");
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let path = &path;
            scope.spawn(move || write(path, &writer.to_string()));
        }
    });
    check(&path);
}

#[test]
fn sixteen_processes_lose_no_update() {
    if let Some(path) = env::var_os(STORE) {
        return write(Path::new(&path), &std::process::id().to_string());
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kv.db");
    let children: Vec<_> = (0..WRITERS)
        .map(|_| again("writers::sixteen_processes_lose_no_update", STORE, &path))
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}");
    }
    check(&path);
}

#[test]
fn sixteen_threads_keep_no_more_than_the_quota_together() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kv.db");
    let quotas = Quotas {
        todos: 100,
        ..Quotas::default()
    };
    let made: usize = std::thread::scope(|scope| {
        let create = || {
            let store = Store::open_with(&path, quotas).unwrap();
            let host = Host::on(Some(Arc::new(store)), &path);
            let made = (0..10).map(|_| host.call("ann", "todo.create", json!({ "title": "t" })));
            made.filter(|made| match made {
                Ok(_) => true,
                Err(error) => {
                    assert_eq!(error.reason, Some("quota"), "{error}");
                    false
                }
            })
            .count()
        };
        let writers: Vec<_> = (0..WRITERS).map(|_| scope.spawn(create)).collect();
        writers.into_iter().map(|made| made.join().unwrap()).sum()
    });
    assert_eq!(made, 100);
    let host = Host::open(&path);
    let rows = host.each("todo.list", json!({ "limit": 1000 }), "items", "position");
    assert_eq!(rows, (1..=100).map(Value::from).collect::<Vec<_>>());
}

#[test]
fn one_store_serves_many_calls_at_once() {
    let host = Host::new();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_time()
        .build()
        .unwrap();
    let host = std::sync::Arc::new(host);
    let calls: Vec<_> = (0..200)
        .map(|n| {
            let host = std::sync::Arc::clone(&host);
            runtime.spawn(async move {
                let arguments = json!({ "title": format!("{n}") });
                let made = host
                    .call_async("ann", "todo.create", arguments.as_object().unwrap())
                    .await;
                made.unwrap()["item"]["position"].clone()
            })
        })
        .collect();
    let mut positions: Vec<i64> = calls
        .into_iter()
        .map(|call| runtime.block_on(call).unwrap())
        .map(|position: Value| position.as_i64().unwrap())
        .collect();
    positions.sort_unstable();
    assert_eq!(positions, (1..=200).collect::<Vec<_>>());
}

const NEIGHBOUR: &str = "JP_TEST_NEIGHBOUR_STORE";

/// Has another process open the store, add a to-do, and say what it sees.
fn neighbour(path: &Path) -> String {
    let test = "writers::a_second_store_in_one_process_leaves_the_locks_of_the_first";
    let output = again(test, NEIGHBOUR, path).wait_with_output().unwrap();
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).unwrap();
    let seen = said.lines().find_map(|line| line.strip_prefix("seen "));
    seen.unwrap().to_owned()
}

/// Tells whether this process has a lock on the file, as far as the system says.
fn is_locked(path: &Path) -> bool {
    let Ok(locks) = std::fs::read_to_string("/proc/locks") else {
        return true;
    };
    let inode = std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(path).unwrap());
    let (own, file) = (std::process::id().to_string(), format!(":{inode}"));
    let of_file = |line: &&str| line.split_whitespace().any(|word| word.ends_with(&file));
    let is_own = |line: &str| line.split_whitespace().any(|word| word == own);
    locks.lines().filter(of_file).any(is_own)
}

#[test]
fn a_second_store_in_one_process_leaves_the_locks_of_the_first() {
    if let Some(path) = env::var_os(NEIGHBOUR) {
        let host = Host::open(Path::new(&path));
        let titles = host.each("todo.list", json!({}), "items", "title");
        println!("\nseen {}", Value::from(titles));
        host.ann("todo.create", json!({ "title": "theirs" }));
        return;
    }
    let first = Host::new();
    first.ann("todo.create", json!({ "title": "one" }));
    // To look at the file and to close it again would, by the rules of POSIX, drop all locks this
    // process has on it. The neighbour would then clear away the log that is still in use.
    assert!(is_locked(&first.path));
    drop(Host::open(&first.path));
    assert!(is_locked(&first.path));
    assert_eq!(neighbour(&first.path), r#"["one"]"#);
    first.ann("todo.create", json!({ "title": "two" }));
    assert_eq!(neighbour(&first.path), r#"["one","theirs","two"]"#);
    let titles = first.each("todo.list", json!({}), "items", "title");
    assert_eq!(titles, ["one", "theirs", "two", "theirs"]);
}
