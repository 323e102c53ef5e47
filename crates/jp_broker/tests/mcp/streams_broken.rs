//! Streams of events that are too long, cut off or full of other things: a clear error, and the
//! next call works.

use std::io::Write;

use jp_broker::mcp::{Limits, Servers};
use serde_json::json;

use crate::{
    kit::{Ask, pool, pool_with, server, until},
    server::{Seen, Served},
    streamer::{Wire, scripted, streaming},
};

/// A server that breaks the first call and answers all others.
fn once(script: impl Fn(&mut Wire, &Seen) + Send + Sync + 'static) -> Served {
    let calls = std::sync::atomic::AtomicUsize::new(0);
    streaming(
        move |wire, request| match calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 => script(wire, request),
            _ => wire.answer(request),
        },
    )
}

/// Returns what the first call said; the second must work.
async fn broken(served: &Served, pool: &Servers) -> String {
    let error = Ask::default().call(pool, "work").await.unwrap_err();
    let called = Ask::default().call(pool, "work").await.unwrap();
    assert_eq!(called.text(), "done");
    assert_eq!(served.of("initialize").len(), 1);
    error.to_string()
}

fn small() -> Limits {
    Limits {
        message_bytes: 10_000,
        stream_bytes: 50_000,
        stray_lines: 3,
        ..Limits::default()
    }
}

#[tokio::test]
async fn a_call_that_is_taken_without_an_answer_is_an_error_at_once() {
    for status in ["202 Accepted", "204 No Content"] {
        let served = scripted(move |wire, request| match request.method() {
            "tools/call" => {
                let head =
                    format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
                let _ = wire.stream.write_all(head.as_bytes());
            }
            _ => wire.plainly(request),
        });
        let pool = pool(vec![server("a", &served, &[])]);
        let error = Ask::default().call(&pool, "work").await.unwrap_err();
        assert!(
            error.to_string().contains("but sent no response"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn an_event_over_the_limit_is_refused_before_it_ends() {
    let served = once(|wire, _| {
        wire.raw("data: ");
        while wire.raw([b'x'; 1000]) {}
    });
    let pool = pool_with(vec![server("a", &served, &[])], small());
    assert_eq!(
        broken(&served, &pool).await,
        "MCP server `a` sent a message of more than 10000 bytes"
    );
}

#[tokio::test]
async fn a_stream_over_the_limit_is_refused_before_it_ends() {
    for filler in [": still here\n\n", ":", "event: x\ndata: 1\n\n"] {
        let served = once(move |wire, _| while wire.raw(filler.repeat(50)) {});
        let pool = pool_with(vec![server("a", &served, &[])], small());
        assert_eq!(
            broken(&served, &pool).await,
            "MCP server `a` sent a stream of events of more than 50000 bytes"
        );
    }
}

#[tokio::test]
async fn a_stream_that_is_cut_off_says_so() {
    let half = |request: &Seen| {
        let whole = format!("data: {}\n\n", request.answer().unwrap_or_default());
        whole[..whole.len() / 2].to_owned()
    };
    let in_a_chunk = once(|wire, request| {
        wire.event(&request.progress(1));
        let _ = std::io::Write::write_all(&mut wire.stream, b"ff\r\ndata: {\"jsonrpc\"");
    });
    let between_chunks = once(move |wire, request| {
        wire.raw(half(request));
    });
    for served in [in_a_chunk, between_chunks] {
        let pool = pool(vec![server("a", &served, &[])]);
        let error = broken(&served, &pool).await;
        let host = &served.host;
        assert_eq!(
            error,
            format!(
                "MCP server `a` ended before it answered: the exchange with {host} failed: the \
                 connection closed in the middle of a response"
            )
        );
    }
}

#[tokio::test]
async fn a_stream_that_ends_without_the_answer_is_not_waited_for() {
    let asks_to_come_back = once(|wire, request| {
        let report = request.progress(1);
        wire.raw(format!("retry: 100000000\nid: 1\ndata: {report}\n\n"));
        wire.end();
    });
    let half_an_event = once(|wire, request| {
        wire.raw(format!("data: {}\n", request.answer().unwrap_or_default()));
        wire.end();
    });
    for served in [asks_to_come_back, half_an_event, once(|wire, _| wire.end())] {
        let pool = pool(vec![server("a", &served, &[])]);
        assert_eq!(
            broken(&served, &pool).await,
            "MCP server `a` ended before it answered: its stream of events closed without an answer"
        );
    }
}

#[tokio::test]
async fn a_stream_of_other_things_is_left_after_a_while() {
    let served = once(|wire, request| {
        let foreign = json!({"jsonrpc": "2.0", "id": 999, "result": {}});
        for _ in 0..3 {
            wire.event(&foreign);
        }
        wire.raw("data: no message\n\n");
        wire.answer(request);
        wire.wait_for_the_end();
    });
    let pool = pool_with(vec![server("a", &served, &[])], small());
    assert_eq!(
        broken(&served, &pool).await,
        "MCP server `a` broke the protocol: its stream has more than 3 events that are not messages \
         for this request"
    );
}

#[tokio::test]
async fn an_answer_that_is_none_or_has_no_id_is_an_error_and_not_a_wait() {
    let none = once(|wire, request| {
        wire.event(&json!({"id": request.body["id"], "result": {"content": 7}}));
        wire.wait_for_the_end();
    });
    let nameless = once(|wire, _| {
        let error = json!({"code": -32603, "message": "out of paper\u{1b}"});
        wire.event(&json!({"jsonrpc": "2.0", "id": null, "error": error}));
        wire.wait_for_the_end();
    });
    let deep = once(|wire, request| {
        let id = &request.body["id"];
        let deep = "[".repeat(1000);
        wire.raw(format!(
            "data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{deep}\n\n"
        ));
        wire.wait_for_the_end();
    });
    let infinite = once(|wire, _| {
        wire.raw("data: {\"jsonrpc\":\"2.0\",\"result\":1e999}\n\n");
        wire.wait_for_the_end();
    });
    for (served, words) in [
        (
            deep,
            "broke the protocol: response rejected: JSON nested deeper than 127 levels",
        ),
        (
            infinite,
            "broke the protocol: the server answered invalid JSON (line 1, column 31)",
        ),
        (
            none,
            "broke the protocol: invalid answer: expected a JSON-RPC 2.0 message",
        ),
        (nameless, "refused the request: out of paper (-32603)"),
    ] {
        let pool = pool(vec![server("a", &served, &[])]);
        let error = broken(&served, &pool).await;
        assert!(error.ends_with(words), "{error}");
    }
}

#[tokio::test]
async fn a_compressed_stream_is_refused() {
    let served = crate::streamer::scripted(|wire, request| match request.method() {
        "tools/call" => {
            let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
                         Content-Encoding: gzip\r\n\r\n";
            let _ = std::io::Write::write_all(&mut wire.stream, head);
            wire.wait_for_the_end();
        }
        _ => wire.plainly(request),
    });
    let pool = pool(vec![server("a", &served, &[])]);
    let error = Ask::default().call(&pool, "work").await.unwrap_err();
    let error = error.to_string();
    assert!(error.contains("in the encoding `gzip`"), "{error}");
    until("the connection is closed", || {
        served.hung_up.load(std::sync::atomic::Ordering::SeqCst) == 1
    })
    .await;
}

#[tokio::test]
async fn a_greeting_that_is_a_broken_stream_says_what_is_wrong() {
    let served = crate::streamer::scripted(|wire, _| {
        wire.open();
        while wire.raw([b'x'; 1000]) {}
    });
    let pool = pool_with(vec![server("a", &served, &[])], small());
    let error = Ask::default().call(&pool, "work").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "MCP server `a` sent a message of more than 10000 bytes"
    );
}

#[tokio::test]
async fn d42_a_secret_that_comes_back_in_pieces_of_a_stream_is_not_revealed() {
    let served = streaming(|wire, request| {
        let mut answer = request.answer().unwrap_or_default();
        let name = request.body["params"]["name"].clone();
        answer["result"]["content"][0]["text"] = json!(format!("{name}: Bearer al-s3cret!"));
        let text = format!("data: {answer}\n\n");
        let (before, after) = text.split_once("-s3c").unwrap_or_default();
        for piece in [before, "-s3", "c", after] {
            wire.raw(piece);
        }
        wire.wait_for_the_end();
    });
    let header = ("Authorization", "Bearer {{secret:alpha}}");
    let pool = pool(vec![server("a", &served, &[header])]);
    let called = Ask::default().call(&pool, "work").await.unwrap();
    assert_eq!(called.text(), "\"work\": Bearer [secret:alpha]!");
    assert!(served.of("tools/call")[0].head.contains("al-s3cret"));
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_asked_for_again_from_where_it_was() {
    let asked = std::sync::Mutex::new(None);
    let served = scripted(move |wire, request| {
        if request.head.starts_with("GET ") {
            let head = request.head.to_lowercase();
            if head.contains("last-event-id: second\r\n") {
                wire.open();
                let call: Option<Seen> = asked.lock().unwrap().take();
                wire.answer(&call.unwrap());
            }
            return wire.end();
        }
        match request.method() {
            "tools/call" => {
                *asked.lock().unwrap() = Some(request.clone());
                wire.open();
                wire.raw("id: first\nretry: 1\ndata:\n\nid: second\ndata:\n\nid: third\ndata: cut");
                wire.end();
            }
            _ => wire.plainly(request),
        }
    });
    let pool = pool(vec![server("a", &served, &[])]);
    let called = Ask::default().call(&pool, "work").await.unwrap();
    assert_eq!(called.text(), "done");
    assert_eq!(served.of("tools/call").len(), 1);
}

#[tokio::test]
async fn a_stream_that_breaks_off_again_and_again_is_given_up() {
    let served = scripted(move |wire, request| {
        let is_get = request.head.starts_with("GET ");
        if is_get || request.method() == "tools/call" {
            wire.open();
            if !is_get {
                wire.raw("id: here\nretry: 1\ndata:\n\n");
            }
            return wire.end();
        }
        wire.plainly(request);
    });
    let pool = pool(vec![server("a", &served, &[])]);
    let error = Ask::default().call(&pool, "work").await.unwrap_err();
    let words = "its stream of events closed without an answer";
    assert!(error.to_string().contains(words), "{error}");
    let seen = served.seen.lock().unwrap();
    let asked = seen.iter().filter(|one| one.head.starts_with("GET "));
    assert_eq!(asked.count(), 5);
}
