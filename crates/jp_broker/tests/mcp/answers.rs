//! Answers over HTTP that are no messages: a person reads what the server did, in whichever step.

use jp_broker::mcp::Servers;

use crate::{
    kit::{Ask, pool, server},
    server::{Served, write},
    streamer::scripted,
};

/// A server that gives this answer to a method, and the right one to all others.
fn answering(
    method: &'static str,
    status: &'static str,
    kind: &'static str,
    body: &'static str,
) -> (Served, std::sync::Arc<Servers>) {
    let served = scripted(move |wire, request| match request.method() == method {
        true => write(&mut wire.stream, status, kind, body),
        false => wire.plainly(request),
    });
    let pool = pool(vec![server("a", &served, &[])]);
    (served, pool)
}

/// The steps in which a server may go wrong.
const STEPS: [&str; 3] = ["initialize", "tools/list", "tools/call"];

async fn told(
    step: &'static str,
    status: &'static str,
    kind: &'static str,
    body: &'static str,
) -> String {
    let (_served, pool) = answering(step, status, kind, body);
    let error = Ask::default().call(&pool, "work").await.unwrap_err();
    let text = error.to_string();
    for word in ["rmcp", "Streamable", "Transport", "serde", "\u{1b}", "\n"] {
        assert!(!text.contains(word), "{step}: {word:?} in {text}");
    }
    assert!(text.len() < 700, "{step}: {text}");
    text
}

#[tokio::test]
async fn a_status_is_told_with_what_the_server_said() {
    for step in STEPS {
        let text = told(step, "500 Oops", "text/plain", "out\u{1b}[2J of\npaper").await;
        assert_eq!(
            text, "MCP server `a` cannot be used: the server answered HTTP 500: out[2J of paper",
            "{step}"
        );
        // A page would say little, and much of it.
        let text = told(step, "502 Bad Gateway", "text/html", "<html><b>nginx</b>").await;
        assert_eq!(
            text,
            "MCP server `a` cannot be used: the server answered HTTP 502"
        );
    }
}

#[tokio::test]
async fn a_refusal_for_want_of_a_credential_says_where_one_belongs() {
    for step in [&STEPS[..], &["notifications/initialized"]].concat() {
        for (status, number) in [("401 Unauthorized", "401"), ("403 Forbidden", "403")] {
            let text = told(step, status, "application/json", "{\"error\": \"no\"}").await;
            let start = format!("MCP server `a` cannot be used: the server answered HTTP {number}");
            assert!(text.starts_with(&start), "{step}: {text}");
            assert!(text.contains("`[providers.mcp.a]`"), "{step}: {text}");
            assert!(text.contains("jp secret set"), "{step}: {text}");
        }
    }
}

#[tokio::test]
async fn what_is_no_message_is_told_by_its_type_or_its_fault() {
    let many = format!("[{}]", vec!["{}"; 300_000].join(","));
    let many: &'static str = Box::leak(many.into_boxed_str());
    for step in STEPS {
        for (kind, body, words) in [
            (
                "text/html",
                "<html>",
                "the server answered text/html, not JSON",
            ),
            (
                "",
                "x",
                "the server answered without a content type, not JSON",
            ),
            (
                "text/x\u{9b}y",
                "x",
                "the server answered text/xy, not JSON",
            ),
            (
                "application/json",
                "{\"a\":\n nonsense\u{1b}",
                "the server answered invalid JSON (line 2, column 3)",
            ),
            (
                "application/json",
                "{\"nonsense\u{202e}\": 1}",
                "the server answered JSON that is not a JSON-RPC message",
            ),
            ("application/json", "", "the server answered invalid JSON"),
            (
                "application/json",
                many,
                "response rejected: more than 250000 JSON values",
            ),
        ] {
            let text = told(step, "200 OK", kind, body).await;
            let start = format!("MCP server `a` broke the protocol: {words}");
            assert!(text.starts_with(&start), "{step}: {text}");
            assert!(!text.contains("nonsense"), "{step}: {text}");
        }
    }
}

#[tokio::test]
async fn a_greeting_that_is_refused_by_the_protocol_is_told_in_its_words() {
    let refusal = r#"{"jsonrpc": "2.0", "id": 0, "error": {"code": -32000, "message": "closed on\nMondays"}}"#;
    let text = told("initialize", "200 OK", "application/json", refusal).await;
    assert_eq!(
        text,
        "MCP server `a` did not start: it rejected `initialize`: closed on Mondays (-32000)"
    );
    let other = r#"{"jsonrpc": "2.0", "id": 0, "result": {"tools": []}}"#;
    let text = told("initialize", "200 OK", "application/json", other).await;
    assert_eq!(
        text,
        "MCP server `a` did not start: it sent an unexpected response to `initialize`"
    );
}
