//! The store of `kv.sqlite.*`: a call of the broker, and a whole call through the pipeline, each
//! beside the same statement in bare SQLite, in turn, in one run; and firing what is due.
//!
//! Both sides have the same tables, triggers, pragmas and statement, and commit each row.
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
    thread,
    time::{Duration, Instant},
};

use jp_bench::{Samples, line, rounds, wanted};
use jp_broker::{Broker, Caller, Services, due::Due, kv::Store};
use jp_llm::{LazyBroker, PreparedTool, builtins};
use jp_policy::{Brokered, Capabilities, Grant, Policy, Request, compose};
use kit::{Workspace, bare_module::BareModule};
use rusqlite::{Connection, config::DbConfig};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// Calls of one kind before the other has its turn.
const BATCH: usize = 50;

/// Time between two arrivals: 1,000 calls a second of each kind.
const PERIOD: Duration = Duration::from_micros(500);

/// Instances that are made ahead, where any are.
const SPARES: usize = 8;

/// The statement of `kv.sqlite.todo.create`, which finds the position and counts what the user has.
const INSERT: &str =
    "INSERT OR IGNORE INTO todo_items(user_id, title, notes, position, created_at, updated_at,
    t_shirt_size, story_points, estimate_optimistic_minutes, estimate_likely_minutes,
    estimate_pessimistic_minutes, dependency_refs, plan_step_ref)
    VALUES(?1, ?2, ?3,
        ifnull(?4, iif(ifnull((SELECT rows FROM row_counts
                               WHERE user_id = ?1 AND kind = 'todo_items'), 0) < ?13,
                       ifnull((SELECT max(position) FROM todo_items WHERE user_id = ?1), 0) + 1,
                       NULL)),
        ?5, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
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
    if wanted("arrivals") {
        arrivals(&runtime);
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
    let grant = Arc::new(grant());
    let arguments = json!({"title": "buy milk"});
    let mut naked = Samples::new("sqlite/insert/1");
    let mut whole = Samples::new("broker/todo-create/1");
    // A user may keep ten thousand, so the last ones come close.
    for round in 0..rounds(190) {
        for _ in 0..rounds(BATCH) {
            let started = Instant::now();
            insert(&bare);
            (round > 0).then(|| naked.add(started.elapsed()));
        }
        for _ in 0..rounds(BATCH) {
            let started = Instant::now();
            let caller = caller(&grant);
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

/// The builtin `todo` in both ways: through the pipeline, audited, and as the same module in bare
/// wasmtime with the statement in bare SQLite after it.
struct Both {
    module: BareModule,
    bare: Connection,
    workspace: Workspace,
    tool: Arc<PreparedTool>,
    arguments: Map<String, Value>,
    module_alone: Samples,
    naked: Samples,
    whole: Samples,
    _stores: [TempDir; 2],
}

impl Both {
    fn new(spares: usize, [module_alone, naked, whole]: [&'static str; 3]) -> Self {
        let (dir, store) = store();
        let (bare_dir, _) = store_file();
        let builtin = builtins().iter().find(|builtin| builtin.name == "todo");
        let mut workspace = Workspace::of(&[], spares);
        let broker = LazyBroker::new(move || {
            Ok(Broker::new(Services {
                store: Some(Arc::clone(&store)),
                ..Services::default()
            }))
        });
        workspace.rebuild(|host| host.broker(broker));
        Self {
            module: BareModule::new(builtin.unwrap().wasm, "todo"),
            bare: connect(&bare_dir.path().join("kv.db")),
            tool: workspace.tool("todo"),
            workspace,
            arguments: serde_json::from_str(ARGUMENTS).unwrap(),
            module_alone: Samples::new(module_alone),
            naked: Samples::new(naked),
            whole: Samples::new(whole),
            _stores: [dir, bare_dir],
        }
    }

    fn call_bare(&mut self, runtime: &Runtime, counts: bool) {
        runtime.block_on(async {
            let started = Instant::now();
            let answer = self.module.call(ARGUMENTS).await;
            let called = started.elapsed();
            insert(&self.bare);
            counts.then(|| self.naked.add(started.elapsed()));
            counts.then(|| self.module_alone.add(called));
            assert!(answer.contains("kv.sqlite.todo.create"), "{answer}");
        });
    }

    fn call_whole(&mut self, runtime: &Runtime, counts: bool) {
        let call = kit::call(&self.arguments);
        runtime.block_on(async {
            let started = Instant::now();
            kit::run(&self.tool, call, &self.workspace.host).await;
            counts.then(|| self.whole.add(started.elapsed()));
        });
    }

    fn report(&self) {
        self.module_alone.report(None);
        self.naked.report(None);
        self.whole.report(Some(&self.naked));
    }
}

/// One call after the other: without spares, and with those that a host keeps which calls often.
fn whole(runtime: &Runtime) {
    let names = [
        "wasmtime/bare-todo/1",
        "wasmtime/bare-todo+sqlite/1",
        "pipeline/todo-create/1",
    ];
    one_by_one(runtime, Both::new(0, names));
    let names = [names[0], names[1], "pipeline/todo-create-spares/1"];
    one_by_one(runtime, Both::new(SPARES, names));
}

fn one_by_one(runtime: &Runtime, mut both: Both) {
    for round in 0..rounds(190) {
        for _ in 0..rounds(BATCH) {
            both.call_bare(runtime, round > 0);
        }
        for _ in 0..rounds(BATCH) {
            both.call_whole(runtime, round > 0);
        }
    }
    both.report();
}

/// Calls that arrive at a fixed rate, every second one bare, with spares.
fn arrivals(runtime: &Runtime) {
    let names = [
        "wasmtime/bare-todo-at-1000-per-s/1",
        "wasmtime/bare-todo+sqlite-at-1000-per-s/1",
        "pipeline/todo-create-at-1000-per-s/1",
    ];
    let mut both = Both::new(SPARES, names);
    for round in 0..rounds(9000) {
        thread::sleep(PERIOD);
        both.call_bare(runtime, round > 100);
        thread::sleep(PERIOD);
        both.call_whole(runtime, round > 100);
    }
    both.report();
}

/// The statement, which is a transaction by itself; its row is read whole.
fn insert(connection: &Connection) {
    let mut statement = connection.prepare_cached(INSERT).unwrap();
    let nothing = None::<String>;
    let values = rusqlite::params![
        "bench",
        "buy milk",
        nothing,
        nothing,
        1_700_000_000,
        "XS",
        1,
        41,
        75,
        138,
        "[]",
        nothing,
        10_000
    ];
    let mut rows = statement.query(values).unwrap();
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
    // Without it the statement would be prepared anew each time.
    let stable = DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG;
    connection.set_db_config(stable, true).unwrap();
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

fn caller(grant: &Arc<Grant>) -> Caller {
    let deadline = Instant::now() + Duration::from_secs(5);
    Caller::new("bench", "todo", Arc::clone(grant), deadline)
}
