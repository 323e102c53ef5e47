//! What clients may send and should not.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::kit::User;

#[tokio::test]
async fn batches_and_nonsense_are_refused_and_the_connection_goes_on() {
    let user = User::new();
    let mut client = user.client();
    client.hello("2025-11-25", json!({})).await;
    client.line(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#).await;
    let refused = client.hear().await;
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    client.line("not json at all").await;
    client.line(&"[".repeat(100_000)).await;
    client
        .line(r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":7}}"#)
        .await;
    let answer = client.hear().await;
    assert!(answer.get("error").is_some(), "{answer}");
    let pong = client.ask("ping", json!({})).await;
    assert_eq!(pong["result"], json!({}));
}

#[tokio::test]
async fn a_line_that_never_ends_is_dropped() {
    let user = User::new();
    let mut client = user.client();
    client.hello("2025-11-25", json!({})).await;
    let long = "x".repeat(17 * 1024 * 1024);
    client
        .line(&format!(
            r#"{{"jsonrpc":"2.0","id":9,"method":"ping","params":{{"a":"{long}"}}}}"#
        ))
        .await;
    let pong = client.ask("ping", json!({})).await;
    assert_eq!(pong["result"], json!({}));
}

#[tokio::test]
async fn deep_arguments_are_refused() {
    let user = User::new();
    let mut client = user.client();
    client.hello("2025-11-25", json!({})).await;
    let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{{"name":"bash","arguments":{{"commands":{deep}}}}}}}"#
    );
    client.line(&call).await;
    let pong = client.ask("ping", json!({})).await;
    assert_eq!(pong["result"], json!({}));
}

#[tokio::test]
async fn a_server_that_is_stopped_ends() {
    let user = User::new();
    let mut client = user.client();
    client.hello("2025-11-25", json!({})).await;
    client.stop.cancel();
    client.serving.await.unwrap();
}

/// Waits until so many calls have left a record, and returns what the records say.
async fn records(user: &User, count: usize) -> Vec<String> {
    let started = Instant::now();
    loop {
        let records = user.records();
        if records.len() >= count {
            return records;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "{records:?}");
        tokio::task::yield_now().await;
    }
}

fn call(id: u64, commands: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": "bash", "arguments": {"commands": commands}}})
}

fn cancel(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
}

#[tokio::test]
async fn e55_an_id_that_is_taken_is_refused_and_its_request_can_still_be_cancelled() {
    let user = User::new();
    let mut client = user.client();
    client.hello("2025-11-25", json!({})).await;
    client.send(&call(70, "sleep 300")).await;
    for _ in 0..3 {
        client.send(&call(70, "echo the second")).await;
        let refused = client.hear().await;
        assert_eq!(refused["error"]["code"], -32600, "{refused}");
        // It must not pass for the answer to the first.
        assert_eq!(refused.get("id").filter(|id| !id.is_null()), None);
    }
    client.send(&cancel(70)).await;
    assert_eq!(records(&user, 1).await, ["ada bash cancelled"]);
    let pong = client.ask("ping", json!({})).await;
    assert_eq!(pong["result"], json!({}));
    // Once it is over, the id is free.
    client.send(&call(70, "echo again")).await;
    let answer = client.answer(70).await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert_eq!(user.records().len(), 2);
}

#[tokio::test]
async fn e55_cancels_that_race_with_their_calls_lose_nothing() {
    const CALLS: u64 = 200;
    let user = User::new();
    let mut client = user.client();
    client.hello("2025-11-25", json!({})).await;
    for id in 0..CALLS {
        let id = 1_000 + id;
        // Before the call, with it, twice, and for another one.
        client.send(&cancel(id)).await;
        client.send(&call(id, "true")).await;
        if id % 3 == 0 {
            tokio::task::yield_now().await;
        }
        client.send(&cancel(id)).await;
        client.send(&cancel(id)).await;
        client.send(&cancel(id + 50_000)).await;
    }
    let pong = client.ask("ping", json!({})).await;
    assert_eq!(pong["result"], json!({}));
    let count = usize::try_from(CALLS).unwrap();
    let records = records(&user, count).await;
    assert_eq!(records.len(), count);
    let known = ["ada bash cancelled", "ada bash success"];
    let other = records
        .iter()
        .find(|found| !known.contains(&found.as_str()));
    assert_eq!(other, None);
    let answer = client.call("bash", json!({"commands": "echo on"})).await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
}
