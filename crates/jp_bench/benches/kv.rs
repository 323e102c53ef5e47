//! The store of `kv.sqlite.*`: a call of the broker and the same statement in bare SQLite, in turn,
//! in one run; and firing what is due.
//!
//! `cargo bench -p jp_bench --bench kv`, or with the names of cases after `--`.

#![expect(clippy::unwrap_used, reason = "a bench that cannot go on stops")]

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use jp_bench::{Samples, line, rounds, wanted};
use jp_broker::{Broker, Caller, Services, due::Due, kv::Store};
use jp_policy::{Brokered, Capabilities, Grant, Policy, Request, compose};
use rusqlite::{Connection, TransactionBehavior};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// Calls of one kind before the other has its turn.
const BATCH: usize = 50;

/// What `kv.sqlite.todo.create` inserts.
const INSERT: &str =
    "INSERT INTO todo_items(user_id, title, notes, position, created_at, updated_at,
    t_shirt_size, story_points, estimate_optimistic_minutes, estimate_likely_minutes,
    estimate_pessimistic_minutes, dependency_refs, plan_step_ref)
    VALUES('ann', 'buy milk', NULL, ?1, ?2, ?2, 'XS', 1, 41, 75, 138, '[]', NULL)
    RETURNING id, user_id, title, notes, position, created_at, updated_at";

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    if wanted("create") {
        create(&runtime);
    }
    if wanted("due") {
        for count in [1000, 10_000] {
            due(count);
        }
    }
}

/// One to-do after the other, on two stores of the same size.
fn create(runtime: &Runtime) {
    let (_dir, store) = store();
    let (bare_dir, _bare) = store_file();
    let mut bare = connect(&bare_dir.path().join("kv.db"));
    let broker = Broker::new(Services {
        store: Some(store),
        ..Services::default()
    });
    let (grant, cancel) = (grant(), CancellationToken::new());
    let arguments = json!({"title": "buy milk"});
    let mut naked = Samples::new("sqlite/insert/1");
    let mut whole = Samples::new("broker/todo-create/1");
    let mut position = 0;
    // A user may keep ten thousand, so the last ones come close.
    for round in 0..rounds(190) {
        for _ in 0..rounds(BATCH) {
            position += 1;
            let started = Instant::now();
            insert(&mut bare, position);
            (round > 0).then(|| naked.add(started.elapsed()));
        }
        for _ in 0..rounds(BATCH) {
            let started = Instant::now();
            let caller = caller(&grant, &cancel);
            let name = "kv.sqlite.todo.create";
            runtime
                .block_on(broker.call(&caller, name, arguments.as_object().unwrap()))
                .unwrap();
            (round > 0).then(|| whole.add(started.elapsed()));
        }
    }
    naked.report(None);
    whole.report(Some(&naked));
}

/// The statement, in a transaction of its own.
fn insert(connection: &mut Connection, position: i64) {
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .unwrap();
    let read = |row: &rusqlite::Row<'_>| {
        let title: String = row.get(2)?;
        let id: i64 = row.get(0)?;
        Ok(json!({"id": id, "title": title}))
    };
    let mut statement = transaction.prepare_cached(INSERT).unwrap();
    let row: Value = statement
        .query_row([position, 1_700_000_000], read)
        .unwrap();
    assert!(row["id"].is_i64());
    drop(statement);
    transaction.commit().unwrap();
}

/// Fires reminders, a thousand at a time.
fn due(count: usize) {
    let mut took = Duration::MAX;
    for _ in 0..rounds(5) {
        let (dir, store) = store();
        fill(&dir.path().join("kv.db"), count);
        let due = Due::new(store);
        let started = Instant::now();
        let mut fired = 0;
        loop {
            let events = due.claim(2, 1000).unwrap();
            if events.is_empty() {
                break;
            }
            let ids: Vec<&str> = events.iter().map(|event| event.id.as_str()).collect();
            fired += due.ack(&ids, 2).unwrap();
        }
        assert_eq!(fired, count);
        took = took.min(started.elapsed());
    }
    line(&format!("due/fire/{count:<25} quickest {took:.2?}"));
}

fn fill(path: &Path, count: usize) {
    let mut connection = Connection::open(path).unwrap();
    let transaction = connection.transaction().unwrap();
    for n in 0..count {
        let sql = "INSERT INTO reminders(user_id, title, due_at, created_at, origin, wake_at)
                   VALUES(?1, ?2, 1, 1, 'tool:reminders', 1)";
        let values = (format!("user {}", n % 10), format!("reminder {n}"));
        let mut statement = transaction.prepare_cached(sql).unwrap();
        statement.execute(values).unwrap();
    }
    transaction.commit().unwrap();
}

fn store() -> (TempDir, Arc<Store>) {
    let (dir, store) = store_file();
    (dir, Arc::new(store))
}

fn store_file() -> (TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("kv.db")).unwrap();
    (dir, store)
}

/// Opens the file with the settings the store uses.
fn connect(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    let settings = "PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;";
    connection.execute_batch(settings).unwrap();
    connection
}

fn grant() -> Grant {
    let capabilities = Capabilities {
        brokered: Brokered::new(["kv.sqlite.*".parse().unwrap()]),
        ..Capabilities::default()
    };
    let policy = Policy {
        capabilities: capabilities.clone(),
        ..Policy::default()
    };
    let request = Request {
        capabilities,
        ..Request::default()
    };
    compose(&policy, &policy, &request).unwrap()
}

fn caller<'a>(grant: &'a Grant, cancel: &'a CancellationToken) -> Caller<'a> {
    Caller {
        user: "ann",
        tool: "todo",
        grant,
        grant_of: &|_| None,
        deadline: Instant::now() + Duration::from_secs(5),
        cancel,
    }
}
