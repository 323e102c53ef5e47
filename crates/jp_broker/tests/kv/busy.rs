//! A file that somebody else keeps to himself: calls wait, and stop waiting in time.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use jp_broker::{CallError, Caller, Code};
use rusqlite::Connection;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::host::{Host, grant};

/// Starts to write, and does not end.
fn hold(host: &Host) -> Connection {
    let connection = Connection::open(&host.path).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    connection
}

async fn create(
    host: &Host,
    patience: Duration,
    cancel: &CancellationToken,
) -> Result<Value, CallError> {
    let grant = Arc::new(grant(&["kv.sqlite.*"]));
    let caller = Caller {
        cancel: cancel.clone(),
        ..Caller::new("ann", "todo", grant, Instant::now() + patience)
    };
    let arguments = json!({ "title": "t" });
    let name = "kv.sqlite.todo.create";
    let call = host
        .broker
        .call(&caller, name, arguments.as_object().unwrap());
    call.await.map(|answer| answer.to_value())
}

#[tokio::test]
async fn a_call_waits_no_longer_than_its_deadline() {
    let host = Host::new();
    let _held = hold(&host);
    let never = CancellationToken::new();
    let error = create(&host, Duration::from_millis(50), &never)
        .await
        .unwrap_err();
    assert_eq!((error.code, error.retryable), (Code::Timeout, true));
    assert!(error.message.contains("the store is busy"), "{error}");
    // Reading does not wait for writers.
    let listed = host
        .call_async("ann", "todo.list", &serde_json::Map::new())
        .await;
    assert_eq!(listed.unwrap()["items"], json!([]));
}

#[tokio::test]
async fn a_cancelled_call_stops_waiting() {
    let host = Host::new();
    let _held = hold(&host);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let error = create(&host, Duration::from_secs(3600), &cancel)
        .await
        .unwrap_err();
    assert!(error.message.contains("cancelled"), "{error}");
}

#[tokio::test]
async fn a_call_that_waited_is_done_when_the_file_is_free() {
    let host = Host::new();
    let held = hold(&host);
    let release = async {
        tokio::time::sleep(Duration::from_millis(30)).await;
        held.execute_batch("COMMIT").unwrap();
    };
    let never = CancellationToken::new();
    let (made, ()) = tokio::join!(create(&host, Duration::from_secs(3600), &never), release);
    assert_eq!(made.unwrap()["item"]["id"], 1);
}
