//! `kill -9` during writes, over and over: what was answered is there, and the store works on.

use std::{
    collections::BTreeSet,
    env,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use jp_broker::{due::Due, kv::Store};
use serde_json::{Value, json};

use crate::host::{Host, NOW};

/// Set in a child: the store it writes to until it is killed.
const STORE: &str = "JP_TEST_KILLED_STORE";
const ROUNDS: u64 = 120;

/// Starts this test program again, running only `test` with `name` set.
pub(crate) fn again(test: &str, name: &str, value: &Path) -> Child {
    let exe = env::current_exe().unwrap();
    Command::new(exe)
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(name, value)
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

/// What the child does: writes, and says what was answered.
fn write_for_ever(path: &Path) {
    let host = Host::open(path);
    let mut out = std::io::stdout();
    for n in 0.. {
        let made = match n % 4 {
            0 => host.ann(
                "todo.create",
                json!({ "title": format!("{n}"), "notes": "x".repeat(3000) }),
            ),
            1 => host.ann("todo.create_many", json!({ "items": ["a", "b", "c"] })),
            2 => host.ann("todo.create", json!({ "title": "short" })),
            _ => host.ann(
                "planning.create",
                json!({ "title": "t", "goal": "g", "steps": ["s", "t"] }),
            ),
        };
        let ids: Vec<Value> = match n % 4 {
            1 => made["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|item| item["id"].clone())
                .collect(),
            3 => vec![json!(-made["plan"]["id"].as_i64().unwrap())],
            _ => vec![made["item"]["id"].clone()],
        };
        for id in ids {
            writeln!(out, "\nwrote {id}").unwrap();
        }
        out.flush().unwrap();
        if n % 16 == 15 {
            host.ann("planning.clear", json!({}));
            writeln!(out, "\nwrote 0").unwrap();
        }
    }
}

#[test]
fn a_hundred_kills_during_writes_lose_no_answered_row() {
    if let Some(path) = env::var_os(STORE) {
        return write_for_ever(Path::new(&path));
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kv.db");
    let mut answered = BTreeSet::new();
    let mut plans = BTreeSet::new();
    for round in 0..ROUNDS {
        let test = "kills::a_hundred_kills_during_writes_lose_no_answered_row";
        let mut child = again(test, STORE, &path);
        let reader = BufReader::new(child.stdout.take().unwrap());
        let pid = child.id();
        // Every other child is killed after so many answers, and the rest after a time, which on a fast machine is
        // sometimes while the store is opened.
        let after = (round % 2 == 1).then_some(10 + round * 7919 % 60);
        let killer = std::thread::spawn(move || {
            if after.is_some() {
                return;
            }
            std::thread::sleep(Duration::from_micros(2_000 + round * 7919 % 60_000));
            Command::new("kill")
                .args(["-9", &pid.to_string()])
                .status()
                .unwrap();
        });
        let mut seen = 0;
        for line in reader.split(b'\n') {
            let line = line.unwrap();
            let Some(id) = line.strip_prefix(b"wrote ") else {
                continue;
            };
            seen += 1;
            if Some(seen) == after {
                child.kill().unwrap();
            }
            // The last line may be cut off, and then end in anything but its last digit.
            let id: i64 = String::from_utf8_lossy(id).parse().unwrap();
            match id {
                0 => plans.clear(),
                id if id < 0 => drop(plans.insert(-id)),
                id => drop(answered.insert(id)),
            }
        }
        killer.join().unwrap();
        child.wait().unwrap();
        check(&path, &mut answered, &mut plans);
    }
    assert!(
        answered.len() > 500,
        "the child wrote too little: {}",
        answered.len()
    );
}

fn check(path: &Path, answered: &mut BTreeSet<i64>, plans: &mut BTreeSet<i64>) {
    if !path.exists() {
        return;
    }
    let host = Host::open(path);
    let connection = rusqlite::Connection::open(path).unwrap();
    let ids = |sql: &str| -> BTreeSet<i64> {
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let there = ids("SELECT id FROM todo_items WHERE user_id = 'ann'");
    let lost: Vec<_> = answered.difference(&there).collect();
    assert!(lost.is_empty(), "{lost:?} were answered and are lost");
    // A `clear` may have committed without the child living to say so; then all are gone.
    let plans_there = ids("SELECT id FROM plans");
    let kept = plans.intersection(&plans_there).count();
    assert!(
        kept == plans.len() || kept == 0,
        "{plans:?} became {plans_there:?}"
    );
    let whole: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(whole, "ok");
    // No row of the count yet, and a count of none, are the same.
    let counted: i64 = ids("SELECT rows FROM row_counts WHERE kind = 'todo_items'")
        .iter()
        .sum();
    assert_eq!(counted, i64::try_from(there.len()).unwrap());
    host.ann("todo.create", json!({ "title": "still works" }));
    // Room for the next round: a user may keep ten thousand.
    if there.len() > 8000 {
        host.ann("todo.clear", json!({ "status": "all" }));
        answered.clear();
    }
    plans.clear();
    host.ann("planning.clear", json!({}));
}

const CLAIMS: &str = "JP_TEST_KILLED_CLAIMER";

#[test]
fn a_killed_claimers_events_come_again_with_their_ids_and_marked() {
    if let Some(path) = env::var_os(CLAIMS) {
        let due = Due::new(Store::open(Path::new(&path)).unwrap().into());
        for event in due.claim(NOW, 3).unwrap() {
            println!("\nclaimed {}", event.id);
        }
        std::thread::sleep(Duration::from_secs(60));
        return;
    }
    let host = Host::new();
    for n in 0..5 {
        host.ann(
            "reminders.create",
            json!({ "title": format!("{n}"), "due_at": NOW }),
        );
    }
    let test = "kills::a_killed_claimers_events_come_again_with_their_ids_and_marked";
    let mut child = again(test, CLAIMS, &host.path);
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let claimed = lines
        .map(Result::unwrap)
        .filter_map(|line| line.strip_prefix("claimed ").map(str::to_owned));
    let claimed: Vec<String> = claimed.take(3).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    let due = Due::new(host.store.clone().unwrap());
    let rest = due.claim(NOW + 59, 10).unwrap();
    assert_eq!(rest.len(), 2);
    assert!(
        rest.iter()
            .all(|event| !event.redelivered && event.attempt == 1)
    );
    let again = due.claim(NOW + 60, 10).unwrap();
    let ids: Vec<&str> = again.iter().map(|event| event.id.as_str()).collect();
    assert_eq!(ids, claimed);
    assert!(
        again
            .iter()
            .all(|event| event.redelivered && event.attempt == 2)
    );
}
