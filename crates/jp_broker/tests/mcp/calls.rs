//! Listing and calling: shapes, which server is meant, and what goes wrong.

use std::sync::atomic::Ordering;

use jp_broker::{Broker, Code, Services};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{
    kit::{broker, call, call_until, server, text, until},
    server::{Served, Way},
};

#[tokio::test]
async fn tools_are_listed_and_called_in_the_shapes_of_the_seed() {
    let served = Served::start(Way::Json);
    let broker = broker(vec![server("a", &served, &[])]);
    let hosts = [served.host.as_str()];
    let listed = call(&broker, &hosts, "mcp.list_tools", json!({}))
        .await
        .unwrap();
    assert_eq!(listed["status"], "ok");
    assert_eq!(listed["server"], "a");
    assert_eq!(listed["tools"]["tools"][1]["name"], "echo");
    for arguments in [
        json!({"tool": "echo", "arguments": {"x": 1}}),
        json!({"server": "a", "method": "echo", "payload": {"x": 1}, "user_id": "7"}),
    ] {
        let answer = call(&broker, &hosts, "mcp.call", arguments).await.unwrap();
        let result = json!({"content": [{"type": "text", "text": "{\"x\":1}"}], "isError": false});
        assert_eq!(
            answer,
            json!({"status": "ok", "server": "a", "result": result})
        );
    }
    let no = call(&broker, &hosts, "mcp.call", json!({"tool": "no"}))
        .await
        .unwrap();
    assert_eq!(no["result"]["isError"], true);
    let head = &served.of("tools/call")[0].head.to_lowercase();
    assert!(head.contains("mcp-session-id: s3ssion-1"), "{head}");
    assert!(head.contains("mcp-protocol-version: 2025-06-18"), "{head}");
    assert_eq!(served.of("initialize").len(), 1, "one session for all");
}

#[tokio::test]
async fn a_stream_of_events_is_read_to_its_end() {
    let served = Served::start(Way::Events);
    let broker = broker(vec![server("a", &served, &[])]);
    let arguments = json!({"tool": "echo", "arguments": {"y": "ü"}});
    let answer = call(&broker, &[&served.host], "mcp.call", arguments)
        .await
        .unwrap();
    assert_eq!(text(&answer), r#"{"y":"ü"}"#);
}

#[tokio::test]
async fn a_stream_that_ends_before_the_answer_is_an_error_and_not_a_wait() {
    let served = Served::start(Way::CutOff);
    let broker = broker(vec![server("a", &served, &[])]);
    let error = call(
        &broker,
        &[&served.host],
        "mcp.call",
        json!({"tool": "echo"}),
    )
    .await
    .unwrap_err();
    assert_eq!(error.code, Code::Upstream, "{error}");
}

#[tokio::test]
async fn the_only_server_may_be_left_out_and_no_other() {
    let (one, two) = (Served::start(Way::Json), Served::start(Way::Json));
    let both = broker(vec![server("a", &one, &[]), server("b", &two, &[])]);
    let hosts = [one.host.as_str(), two.host.as_str()];
    let ask = async |arguments| call(&both, &hosts, "mcp.list_tools", arguments).await;
    let error = ask(json!({})).await.unwrap_err();
    assert_eq!(
        (error.code, error.message.as_str()),
        (
            Code::InvalidArgs,
            "missing argument `server`: expected one of a, b"
        )
    );
    let error = ask(json!({"server": "c\u{1b}"})).await.unwrap_err();
    assert_eq!(error.code, Code::NotFound);
    assert_eq!(
        error.message,
        "unknown MCP server `c\\u{1b}`: expected one of a, b"
    );
    assert_eq!(ask(json!({"server": "b"})).await.unwrap()["server"], "b");
    let none = Broker::new(Services::default());
    let error = call(&none, &[], "mcp.list_tools", json!({}))
        .await
        .unwrap_err();
    assert_eq!((error.code, error.retryable), (Code::Unavailable, false));
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_named() {
    let served = Served::start(Way::Json);
    let broker = broker(vec![server("a", &served, &[])]);
    for (arguments, words) in [
        (json!({}), "missing argument `tool`"),
        (json!({"tool": 7}), "`tool`"),
        (json!({"tool": "echo", "arguments": [1]}), "`arguments`"),
        (
            json!({"tool": "echo", "extra": 1}),
            "unknown argument `extra`",
        ),
    ] {
        let error = call(&broker, &[&served.host], "mcp.call", arguments)
            .await
            .unwrap_err();
        assert_eq!(error.code, Code::InvalidArgs);
        assert!(error.message.contains(words), "{error}");
    }
    let error = call(
        &broker,
        &[&served.host],
        "mcp.call",
        json!({"tool": "ecko"}),
    )
    .await
    .unwrap_err();
    assert_eq!(error.code, Code::NotFound, "{error}");
}

#[tokio::test]
async fn a_tool_needs_the_network_for_the_server_itself() {
    let served = Served::start(Way::Json);
    let broker = broker(vec![server("a", &served, &[])]);
    let error = call(&broker, &["example.com"], "mcp.list_tools", json!({}))
        .await
        .unwrap_err();
    assert_eq!(error.code, Code::Forbidden);
    assert!(
        error.message.contains("`[policy]`") && error.message.contains("`grant.net = ["),
        "{error}"
    );
    assert!(served.seen.lock().unwrap().is_empty(), "nothing was sent");
}

#[tokio::test]
async fn an_answer_over_the_limit_is_refused() {
    let served = Served::start(Way::Json);
    let broker = broker(vec![server("a", &served, &[])]);
    let error = call(&broker, &[&served.host], "mcp.call", json!({"tool": "big"}))
        .await
        .unwrap_err();
    assert_eq!(error.code, Code::OutputLimit, "{error}");
    assert!(error.message.contains("1000000"), "{error}");
}

#[tokio::test]
async fn cancelling_hangs_up_and_tells_the_server() {
    let served = Served::start(Way::Json);
    let broker = broker(vec![server("a", &served, &[])]);
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let hosts = [served.host.as_str()];
    let waits = call_until(
        &broker,
        &hosts,
        "mcp.call",
        json!({"tool": "wait"}),
        &cancel,
    );
    let stops = async {
        until("the call arrives", || served.of("tools/call").len() == 1).await;
        stop.cancel();
    };
    let (ended, ()) = tokio::join!(waits, stops);
    assert_eq!(ended.unwrap_err().reason, Some("cancelled"));
    until("the server is told", || {
        served.of("notifications/cancelled").len() == 1
    })
    .await;
    until("the connection is closed", || {
        served.hung_up.load(Ordering::SeqCst) == 1
    })
    .await;
}

#[tokio::test]
async fn a_session_that_is_over_is_opened_again_by_the_next_call() {
    let served = Served::start(Way::Forgetful);
    let broker = broker(vec![server("a", &served, &[])]);
    let ask = async || {
        call(
            &broker,
            &[&served.host],
            "mcp.call",
            json!({"tool": "echo"}),
        )
        .await
    };
    let mut ends = Vec::new();
    for _ in 0..5 {
        ends.push(ask().await.is_ok());
    }
    assert_eq!(
        ends.iter().filter(|worked| !**worked).count(),
        1,
        "{ends:?}"
    );
    assert!(ends[4]);
    assert_eq!(served.of("initialize").len(), 2);
}

#[tokio::test]
async fn c29_redirects_are_not_followed() {
    let served = Served::start(Way::Redirect);
    let broker = broker(vec![server("a", &served, &[])]);
    let error = call(&broker, &[&served.host], "mcp.list_tools", json!({}))
        .await
        .unwrap_err();
    assert_eq!(error.code, Code::Upstream);
    assert!(error.message.contains("302"), "{error}");
}
