//! A broker on a store of its own, with a clock that stands still.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use jp_broker::{
    Broker, CallError, Caller, Services,
    kv::{Quotas, Store},
};
use jp_policy::{Brokered, Capabilities, Grant, Policy, Request, compose};
use serde_json::{Map, Value};
use tempfile::TempDir;

/// The time it is.
pub(crate) const NOW: i64 = 1_700_000_000;

/// A broker on a store.
pub(crate) struct Host {
    pub(crate) broker: Broker,
    pub(crate) store: Option<Arc<Store>>,
    pub(crate) path: PathBuf,
    clock: Arc<AtomicI64>,
    _dir: Option<TempDir>,
}

impl Host {
    pub(crate) fn new() -> Self {
        Self::with_quotas(Quotas::default())
    }

    pub(crate) fn with_quotas(quotas: Quotas) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("kv.db");
        let store = Arc::new(Store::open_with(&path, quotas).unwrap());
        let mut host = Self::on(Some(store), &path);
        host._dir = Some(dir);
        host
    }

    /// Opens what is there.
    pub(crate) fn open(path: &Path) -> Self {
        Self::on(Some(Arc::new(Store::open(path).unwrap())), path)
    }

    pub(crate) fn on(store: Option<Arc<Store>>, path: &Path) -> Self {
        let clock = Arc::new(AtomicI64::new(NOW));
        let now = Arc::clone(&clock);
        let services = Services {
            now: Arc::new(move || now.load(Ordering::SeqCst) * 1000 + 999),
            store: store.clone(),
            ..Services::default()
        };
        Self {
            broker: Broker::new(services),
            store,
            path: path.to_owned(),
            clock,
            _dir: None,
        }
    }

    pub(crate) fn set_clock(&self, now: i64) {
        self.clock.store(now, Ordering::SeqCst);
    }

    /// Calls `kv.sqlite.<name>` as the tool it belongs to.
    pub(crate) fn call(
        &self,
        user: &str,
        name: &str,
        arguments: Value,
    ) -> Result<Value, CallError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let Value::Object(arguments) = arguments else {
            panic!("arguments are an object");
        };
        runtime.block_on(self.call_async(user, name, &arguments))
    }

    pub(crate) async fn call_async(
        &self,
        user: &str,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Value, CallError> {
        let grant = Arc::new(grant(&["kv.sqlite.*"]));
        let tool = name.split('.').next().unwrap();
        let caller = Caller::new(user, tool, grant, Instant::now() + Duration::from_secs(60));
        let name = format!("kv.sqlite.{name}");
        let answer = self.broker.call(&caller, &name, arguments).await;
        answer.map(|answer| answer.to_value())
    }

    /// Calls as ann, who is allowed to and makes no mistakes.
    pub(crate) fn ann(&self, name: &str, arguments: Value) -> Value {
        let answer = self.call("ann", name, arguments.clone());
        answer.unwrap_or_else(|error| panic!("{name} {arguments}: {error}"))
    }

    /// Returns a field of each row of a list.
    pub(crate) fn each(&self, name: &str, arguments: Value, key: &str, field: &str) -> Vec<Value> {
        let answer = self.ann(name, arguments);
        let rows = answer[key].as_array().unwrap().iter();
        rows.map(|row| row[field].clone()).collect()
    }
}

/// Composes a grant of brokered names.
pub(crate) fn grant(names: &[&str]) -> Grant {
    let capabilities = Capabilities {
        brokered: Brokered::new(names.iter().map(|name| name.parse().unwrap())),
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

/// Asserts that an answer holds at least these fields, at any depth.
#[track_caller]
pub(crate) fn assert_holds(found: &Value, expected: &Value) {
    match expected {
        Value::Object(fields) => {
            for (name, expected) in fields {
                let field = found.get(name);
                assert!(field.is_some(), "no `{name}` in {found}");
                assert_holds(field.unwrap(), expected);
            }
        }
        Value::Array(rows) => {
            let found_rows = found.as_array().unwrap();
            assert_eq!(found_rows.len(), rows.len(), "{found}");
            found_rows
                .iter()
                .zip(rows)
                .for_each(|(found, row)| assert_holds(found, row));
        }
        expected => assert_eq!(found, expected),
    }
}
