//! What clients may send and should not.

use serde_json::json;

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
