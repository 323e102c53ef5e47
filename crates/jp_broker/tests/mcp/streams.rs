//! Answers that are streams of events: what is heard while the server works, and when the call ends.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use jp_broker::mcp::McpError;
use serde_json::{Value, json};

use crate::{
    kit::{Ask, pool, server, until},
    server::Served,
    streamer::{PATIENCE, scripted, streaming},
};

async fn is_closed(served: &Served) {
    until("the connection is closed", || {
        served.hung_up.load(Ordering::SeqCst) == 1
    })
    .await;
}

#[tokio::test]
async fn progress_is_heard_before_the_answer_is_sent() {
    let (heard, reports) = mpsc::channel();
    let reports = Mutex::new(reports);
    let served = streaming(move |wire, request| {
        let reports = reports.lock().unwrap();
        for step in 1..=3 {
            wire.event(&request.progress(step));
            // The next report, and the answer, come only after the test has heard this one.
            if reports.recv_timeout(PATIENCE) != Ok(f64::from(step)) {
                return;
            }
        }
        wire.answer(request);
    });
    let pool = pool(vec![server("a", &served, &[])]);
    let messages = Mutex::new(Vec::new());
    let ask = Ask {
        progress: &|report| {
            let mut messages = messages.lock().unwrap_or_else(PoisonError::into_inner);
            messages.push(report.message.unwrap_or_default());
            let _ = heard.send(report.progress);
        },
        ..Ask::default()
    };
    assert_eq!(ask.call(&pool, "work").await.unwrap().text(), "done");
    let messages = messages.lock().unwrap();
    assert_eq!(*messages, ["step 1", "step 2", "step 3"]);
}

#[tokio::test]
async fn the_answer_ends_the_call_though_the_stream_stays_open() {
    let served = streaming(|wire, request| {
        wire.answer(request);
        wire.wait_for_the_end();
    });
    let pool = pool(vec![server("a", &served, &[])]);
    let called = Ask::default().call(&pool, "work").await.unwrap();
    assert_eq!(called.text(), "done");
    is_closed(&served).await;
    assert!(served.of("notifications/cancelled").is_empty());
}

#[tokio::test]
async fn no_stream_that_stays_open_holds_a_connection_back() {
    let served = scripted(|wire, request| {
        wire.open();
        wire.answer(request);
        wire.wait_for_the_end();
    });
    let pool = pool(vec![server("a", &served, &[])]);
    let called = Ask::default().call(&pool, "work").await.unwrap();
    assert_eq!(called.text(), "done");
    until("all five are closed", || {
        served.hung_up.load(Ordering::SeqCst) == 5
    })
    .await;
    let seen = served.seen.lock().unwrap();
    let methods: Vec<_> = seen.iter().map(|one| one.method().to_owned()).collect();
    assert_eq!(
        methods,
        [
            "server/discover",
            "initialize",
            "notifications/initialized",
            "tools/list",
            "tools/call"
        ]
    );
}

#[tokio::test]
async fn cancelling_closes_the_stream_at_once_and_tells_the_server() {
    static IS_CLOSED: AtomicBool = AtomicBool::new(false);
    static WAS_IN_TIME: AtomicBool = AtomicBool::new(false);
    let served = scripted(|wire, request| match request.method() {
        "tools/call" => {
            wire.open();
            wire.event(&request.progress(1));
            IS_CLOSED.store(wire.is_closed_within(PATIENCE), Ordering::SeqCst);
        }
        // Nothing is answered here until the client gives up, so the stream cannot have waited for
        // the answer if it is closed before.
        "notifications/cancelled" => {
            while !IS_CLOSED.load(Ordering::SeqCst) {
                if wire.is_closed_within(Duration::from_millis(5)) {
                    return;
                }
            }
            WAS_IN_TIME.store(true, Ordering::SeqCst);
        }
        _ => wire.plainly(request),
    });
    let pool = pool(vec![server("a", &served, &[])]);
    let ask = Ask::default();
    let cancel = ask.cancel.clone();
    let ask = Ask {
        progress: &|_| cancel.cancel(),
        ..ask
    };
    let ended = ask.call(&pool, "work").await;
    assert!(matches!(ended, Err(McpError::Cancelled)), "{ended:?}");
    until("the stream is closed and the server told", || {
        IS_CLOSED.load(Ordering::SeqCst) && WAS_IN_TIME.load(Ordering::SeqCst)
    })
    .await;
    let told = served.of("notifications/cancelled");
    assert_eq!(told.len(), 1);
    let call = &served.of("tools/call")[0].body["id"];
    assert_eq!(&told[0].body["params"]["requestId"], call);
}

#[tokio::test]
async fn a_stream_without_an_end_ends_with_the_time_of_the_call() {
    for trickles in [false, true] {
        let served = streaming(move |wire, request| {
            while trickles && wire.raw(": still here\n\n") {
                wire.event(&request.progress(1));
                thread::sleep(Duration::from_millis(1));
            }
            wire.wait_for_the_end();
        });
        let pool = pool(vec![server("a", &served, &[])]);
        let ask = Ask {
            time: Duration::from_millis(500),
            ..Ask::default()
        };
        let ended = ask.call(&pool, "work").await;
        assert!(matches!(ended, Err(McpError::Timeout { .. })), "{ended:?}");
        is_closed(&served).await;
        until("the server is told", || {
            served.of("notifications/cancelled").len() == 1
        })
        .await;
    }
}

#[tokio::test]
async fn streams_of_two_calls_do_not_wait_for_each_other() {
    let (answered, other) = mpsc::channel();
    let other = Mutex::new(other);
    let served = streaming(move |wire, request| {
        if request.body["params"]["name"] == "work" {
            wire.event(&request.progress(1));
            if other.lock().unwrap().recv_timeout(PATIENCE).is_err() {
                return;
            }
        }
        wire.answer(request);
        wire.wait_for_the_end();
    });
    let pool = pool(vec![server("a", &served, &[])]);
    let started = tokio::sync::Notify::new();
    let slow = Ask {
        progress: &|_| started.notify_one(),
        ..Ask::default()
    };
    let quick = async {
        started.notified().await;
        let called = Ask::default().call(&pool, "other").await;
        let _ = answered.send(());
        called
    };
    let (slow, quick) = tokio::join!(slow.call(&pool, "work"), quick);
    assert_eq!(slow.unwrap().text(), "done");
    assert_eq!(quick.unwrap().text(), "done");
}

#[tokio::test]
async fn what_else_a_server_says_in_a_stream_is_heard_or_left_out() {
    let served = streaming(|wire, request| {
        let foreign = json!({"jsonrpc": "2.0", "id": 999, "result": {"content": []}});
        let ping = json!({"jsonrpc": "2.0", "id": "p", "method": "ping"});
        let sample = json!({"jsonrpc": "2.0", "id": "s", "method": "sampling/createMessage",
            "params": {"messages": [], "maxTokens": 1}});
        wire.raw("id: 1\nretry: 1\ndata:\n\n: hello\n\ndata: hello\n\nevent: x\ndata: {\n\n");
        [foreign, ping, sample]
            .iter()
            .for_each(|one| wire.event(one));
        wire.raw(b"data: \xff\xfe\n\n");
        wire.answer(request);
    });
    let pool = pool(vec![server("a", &served, &[])]);
    let called = Ask::default().call(&pool, "work").await.unwrap();
    assert_eq!(called.text(), "done");
    let reply = |id: &str| {
        let seen = served.seen.lock().unwrap();
        let mut replies = seen.iter().filter(|one| one.body["id"] == id);
        replies.next().map(|one| one.body.clone())
    };
    until("both requests have a reply", || {
        reply("p").is_some() && reply("s").is_some()
    })
    .await;
    assert_eq!(reply("p").unwrap()["result"], json!({}));
    assert!(reply("s").unwrap()["error"]["code"].is_i64());
}

#[tokio::test]
async fn a_stream_may_be_cut_anywhere() {
    let served = streaming(|wire, request| {
        let mut answer = request.answer().unwrap_or_default();
        answer["result"]["content"][0]["text"] = Value::from("ü€😀");
        let mut stream = "\u{feff}: hi\r\n\r\nevent: message\r\nid: ü\r\n".to_owned();
        let lines = serde_json::to_string_pretty(&answer).unwrap_or_default();
        lines
            .lines()
            .for_each(|line| stream += &format!("data: {line}\r\n"));
        for byte in (stream + "\r\n").as_bytes() {
            wire.raw([*byte]);
        }
        wire.wait_for_the_end();
    });
    let pool = pool(vec![server("a", &served, &[])]);
    let called = Ask::default().call(&pool, "work").await.unwrap();
    assert_eq!(called.text(), "ü€😀");
}
