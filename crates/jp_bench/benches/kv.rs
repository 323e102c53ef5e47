//! The store of `kv.sqlite.*`: a call of the broker, and a whole call through the pipeline, each
//! beside the same statement in bare SQLite, in turn, in one run; and firing what is due.
//!
//! Both sides have the same tables, triggers and pragmas, and commit each row. The bare side is told
//! the position; the store finds it and counts what the user has in the statement itself.
//!
//! `cargo bench -p jp_bench --bench kv`, or with the names of cases after `--`.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a bench that cannot go on stops"
)]

mod kit;

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use jp_bench::{Samples, line, rounds, wanted};
use jp_broker::{Broker, Caller, Services, due::Due, kv::Store};
use jp_llm::{LazyBroker, builtins};
use jp_policy::{Brokered, Capabilities, Grant, Policy, Request, compose};
use kit::{Workspace, bare_module::BareModule};
use rusqlite::Connection;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// Calls of one kind before the other has its turn.
const BATCH: usize = 50;

/// The row that `kv.sqlite.todo.create` inserts, without finding its position and without counting.
const INSERT: &str =
    "INSERT INTO todo_items(user_id, title, notes, position, created_at, updated_at,
    t_shirt_size, story_points, estimate_optimistic_minutes, estimate_likely_minutes,
    estimate_pessimistic_minutes, dependency_refs, plan_step_ref)
    VALUES('bench', 'buy milk', NULL, ?1, ?2, ?2, 'XS', 1, 41, 75, 138, '[]', NULL)
    RETURNING id, user_id, title, notes, position, created_at, updated_at, completed_at, t_shirt_size,
    story_points, estimate_optimistic_minutes, estimate_likely_minutes,
    estimate_pessimistic_minutes, dependency_refs";

/// What the builtin `todo` is called with.
const ARGUMENTS: &str = r#"{"action":"create","title":"buy milk"}"#;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    if wanted("create") {
        create(&runtime);
    }
    if wanted("whole") {
        whole(&runtime);
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
    let bare = connect(&bare_dir.path().join("kv.db"));
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
            insert(&bare, position);
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

/// One call of the builtin `todo` through the pipeline, audited, against the same module in bare
/// wasmtime and then the statement in bare SQLite.
fn whole(runtime: &Runtime) {
    let (_dir, store) = store();
    let (bare_dir, _bare) = store_file();
    let bare = connect(&bare_dir.path().join("kv.db"));
    let builtin = builtins().iter().find(|builtin| builtin.name == "todo");
    let module = BareModule::new(builtin.unwrap().wasm);
    let mut workspace = Workspace::of(&[], 0);
    Arc::get_mut(&mut workspace.host).unwrap().broker = LazyBroker::new(move || {
        Ok(Broker::new(Services {
            store: Some(Arc::clone(&store)),
            ..Services::default()
        }))
    });
    let (tool, host) = (workspace.tool("todo"), &workspace.host);
    let arguments: Map<String, Value> = serde_json::from_str(ARGUMENTS).unwrap();
    let mut module_alone = Samples::new("wasmtime/bare-todo/1");
    let mut naked = Samples::new("wasmtime/bare-todo+sqlite/1");
    let mut whole = Samples::new("pipeline/todo-create/1");
    let mut position = 0;
    for round in 0..rounds(190) {
        for _ in 0..rounds(BATCH) {
            position += 1;
            runtime.block_on(async {
                let started = Instant::now();
                let answer = module.call(ARGUMENTS).await;
                let called = started.elapsed();
                insert(&bare, position);
                (round > 0).then(|| naked.add(started.elapsed()));
                (round > 0).then(|| module_alone.add(called));
                assert!(answer.contains("kv.sqlite.todo.create"), "{answer}");
            });
        }
        for _ in 0..rounds(BATCH) {
            let call = kit::call(&arguments);
            runtime.block_on(async {
                let started = Instant::now();
                kit::run(&tool, call, host).await;
                (round > 0).then(|| whole.add(started.elapsed()));
            });
        }
    }
    module_alone.report(None);
    naked.report(None);
    whole.report(Some(&naked));
}

/// The statement, which is a transaction by itself; its row is read whole.
fn insert(connection: &Connection, position: i64) {
    let mut statement = connection.prepare_cached(INSERT).unwrap();
    let mut rows = statement.query([position, 1_700_000_000]).unwrap();
    let row = rows.next().unwrap().unwrap();
    let text = |column: usize| row.get::<_, Option<String>>(column).unwrap();
    let number = |column: usize| row.get::<_, Option<i64>>(column).unwrap();
    let texts = [1, 2, 3, 8, 13].map(text);
    let numbers = [0, 4, 5, 6, 7, 9, 10, 11, 12].map(number);
    assert!(numbers[0].is_some() && texts[1].is_some());
    assert!(rows.next().unwrap().is_none());
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
        user: "bench",
        tool: "todo",
        grant,
        grant_of: &|_| None,
        deadline: Instant::now() + Duration::from_secs(5),
        cancel,
    }
}
