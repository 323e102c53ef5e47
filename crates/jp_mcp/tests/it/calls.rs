//! Calls: what is sent, what comes back, and how they end early.

use std::time::Duration;

use jp_mcp::McpError;
use serde_json::json;

use crate::kit::{Ask, call, limits, pool, pool_of, program, program_in, until};

/// How long the server sleeps, in milliseconds, where nobody waits for the end of it.
const AGES: u64 = 3_600_000;

#[tokio::test]
async fn arguments_are_sent_and_texts_come_back() {
    let pool = pool(&[]);
    let called = call(&pool, "echo", json!({"a": [1, {"b": "ü"}]}))
        .await
        .unwrap();
    assert_eq!(called.text(), r#"{"a":[1,{"b":"ü"}]}"#);
    assert!(!called.is_error);
    let mixed = call(&pool, "mixed", json!({})).await.unwrap();
    assert_eq!(
        mixed.text(),
        "one\n\n[image: image/png, 3 bytes, not shown as text]\n\ntwo"
    );
    let no = call(&pool, "no", json!({})).await.unwrap();
    assert!(no.is_error && no.text() == "not today");
}

#[tokio::test]
async fn a_tool_that_is_not_there_is_named_with_those_that_are() {
    let error = call(&pool(&[]), "ecko", json!({}))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("MCP server `s` has no tool `ecko`; its 14 tools: echo, env,"),
        "{error}"
    );
    let other = jp_mcp::Servers::new([], jp_mcp::Means::default());
    let error = call(&other, "x", json!({})).await.unwrap_err().to_string();
    assert_eq!(error, "unknown MCP server `s`; configured: none");
}

#[tokio::test]
async fn progress_is_passed_on_cleaned() {
    let (pool, ask) = (pool(&[]), Ask::default());
    ask.call(&pool, "sleep", json!({"ms": 500})).await.unwrap();
    let heard = ask.heard.lock().unwrap();
    assert!(heard.len() >= 8, "{heard:?}");
    assert_eq!(heard[0].total, Some(10.0));
    assert_eq!(heard[0].message.as_deref(), Some("sleeping[2J"));
}

#[tokio::test]
async fn cancelling_returns_at_once_and_tells_the_server() {
    let (pool, ask) = (pool(&[]), Ask::default());
    let cancel = async {
        ask.arrived().await;
        ask.cancel.cancel();
    };
    let (ended, ()) = tokio::join!(ask.call(&pool, "sleep", json!({"ms": AGES})), cancel);
    assert!(matches!(ended, Err(McpError::Cancelled)), "{ended:?}");
    until("the server hears of it", async || {
        call(&pool, "cancelled", json!({})).await.unwrap().text() == "1"
    })
    .await;
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_too() {
    let (pool, ask) = (pool(&[]), Ask::default());
    tokio::select! {
        ended = ask.call(&pool, "sleep", json!({"ms": AGES})) => panic!("{ended:?}"),
        () = ask.arrived() => {}
    }
    until("the server hears of it", async || {
        call(&pool, "cancelled", json!({})).await.unwrap().text() == "1"
    })
    .await;
}

#[tokio::test]
async fn a_call_that_is_late_is_cancelled_too() {
    let pool = pool(&[]);
    call(&pool, "echo", json!({})).await.unwrap();
    let mut time = Duration::from_millis(100);
    loop {
        let late = Ask {
            time,
            ..Ask::default()
        };
        let ended = late.call(&pool, "sleep", json!({"ms": AGES})).await;
        assert!(matches!(ended, Err(McpError::Timeout { .. })), "{ended:?}");
        // On a busy machine a call may be late before the server has seen it.
        if !late.heard.lock().unwrap().is_empty() {
            break;
        }
        time *= 2;
    }
    until("the server hears of it", async || {
        call(&pool, "cancelled", json!({})).await.unwrap().text() != "0"
    })
    .await;
}

#[tokio::test]
async fn calls_run_side_by_side() {
    let (pool, slow) = (pool(&[]), Ask::default());
    let quick = async {
        slow.arrived().await;
        for n in 0..20 {
            let called = call(&pool, "echo", json!({"n": n})).await.unwrap();
            assert_eq!(called.text(), format!("{{\"n\":{n}}}"));
        }
    };
    tokio::select! {
        ended = slow.call(&pool, "sleep", json!({"ms": AGES})) => panic!("{ended:?}"),
        () = quick => {}
    }
}

#[tokio::test]
async fn a_result_over_the_limit_is_refused_and_the_server_lives_on() {
    let pool = pool(&[]);
    let small = Ask {
        max_result: 100,
        ..Ask::default()
    };
    let error = small
        .call(&pool, "big", json!({"bytes": 1000}))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "MCP server `s` sent a result of more than 100 bytes"
    );
    assert_eq!(
        call(&pool, "big", json!({"bytes": 1000}))
            .await
            .unwrap()
            .text()
            .len(),
        1000
    );
}

#[tokio::test]
async fn a_message_over_the_limit_ends_the_server_and_the_next_call_starts_it_again() {
    let few = jp_mcp::Limits {
        message_bytes: 100_000,
        ..limits()
    };
    let pool = pool_of(program(&[]), few);
    let error = call(&pool, "big", json!({"bytes": 1_000_000}))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "MCP server `s` sent a message of more than 100000 bytes"
    );
    assert_eq!(
        call(&pool, "big", json!({"bytes": 10}))
            .await
            .unwrap()
            .text()
            .len(),
        10
    );
}

#[tokio::test]
async fn e55_an_answer_that_is_none_is_an_error_and_not_a_wait() {
    let pool = pool(&[]);
    let error = call(&pool, "odd", json!({})).await.unwrap_err().to_string();
    assert!(
        error.contains("expected a JSON-RPC 2.0 message") || error.contains("something else"),
        "{error}"
    );
}

/// Makes the tests' server write this line, and says what became of the call.
async fn odd(pool: &jp_mcp::Servers, line: &str, times: usize) -> Result<jp_mcp::Called, McpError> {
    call(pool, "odd", json!({"line": line, "times": times})).await
}

#[tokio::test]
async fn e55_an_answer_nobody_can_read_is_an_error_at_once_and_the_server_lives_on() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let starts = dir.join("starts");
    let counting = program_in(&dir, &["counts", starts.to_str().unwrap()]);
    let pool = pool_of(counting, limits());
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":ID,"result":{}"#,
        "[".repeat(100_000)
    );
    for (line, words) in [
        (
            r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"\ud800"}]}}"#,
            "the server answered invalid JSON (line 1, column",
        ),
        (
            r#"{"jsonrpc":"2.0","result":{"structuredContent":1e999},"id":ID}"#,
            "the server answered invalid JSON (line 1, column",
        ),
        (
            deep.as_str(),
            "response rejected: JSON nested deeper than 127 levels",
        ),
    ] {
        let error = odd(&pool, line, 0).await.unwrap_err().to_string();
        let start = format!("MCP server `s` broke the protocol: {words}");
        assert!(error.starts_with(&start), "{error}");
    }
    assert_eq!(call(&pool, "echo", json!({})).await.unwrap().text(), "{}");
    assert_eq!(std::fs::read_to_string(starts).unwrap(), "x");
}

#[tokio::test]
async fn an_answer_of_millions_of_values_is_refused_before_it_is_read() {
    let pool = pool(&[]);
    let line = r#"{"jsonrpc":"2.0","id":ID,"result":{"structuredContent":[FILLER],"content":[]}}"#;
    let error = odd(&pool, line, 5_000_000).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "MCP server `s` broke the protocol: response rejected: more than 250000 JSON values"
    );
    let called = odd(&pool, line, 1000).await.unwrap();
    let structured = called.content.structured.unwrap();
    assert_eq!(structured.as_array().map(Vec::len), Some(1000));
}

#[tokio::test]
async fn e55_an_answer_that_names_no_request_ends_the_server_and_the_next_call_starts_it_again() {
    let pool = pool(&[]);
    for line in [
        r#"{"jsonrpc":"2.0","result":1e999}"#,
        "[".repeat(100_000).as_str(),
    ] {
        let error = odd(&pool, line, 0).await.unwrap_err().to_string();
        assert!(
            error.starts_with("MCP server `s` broke the protocol: "),
            "{error}"
        );
        assert_eq!(call(&pool, "echo", json!({})).await.unwrap().text(), "{}");
    }
}

#[tokio::test]
async fn a_block_of_an_unknown_type_does_not_lose_the_others() {
    let line = r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[
        {"type":"text","text":"kept"},{"type":"video","data":""}]}}"#;
    let called = odd(&pool(&[]), &line.replace('\n', ""), 0).await.unwrap();
    assert_eq!(
        called.text(),
        "kept\n\n[content of the unknown type `video` left out]"
    );
}

#[tokio::test]
async fn e55_stray_lines_are_tolerated_up_to_a_bound_and_kept() {
    let few = jp_mcp::Limits {
        stray_lines: 10,
        ..limits()
    };
    let pool = pool_of(program(&["greets", "3"]), few);
    assert_eq!(
        call(&pool, "noise", json!({"lines": 7}))
            .await
            .unwrap()
            .text(),
        "done"
    );
    let error = call(&pool, "noise", json!({"lines": 1}))
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("more than 10 lines"), "{error}");
    assert!(
        error.contains("stdout: hello 0") && error.contains("stdout: noise 6"),
        "{error}"
    );
}
