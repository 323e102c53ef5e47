//! An MCP server over HTTP, written by hand: one thread for each request.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::{Value, json};

/// How a server behaves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Answers with JSON, in a session.
    Json,
    /// Answers with a stream of events.
    Events,
    /// The same, and escapes a letter where it need not.
    Escaped,
    /// Ends the stream of a call before its answer.
    CutOff,
    /// Sends everybody elsewhere.
    Redirect,
    /// Wants another credential.
    Unauthorized,
    /// Forgets its sessions after the first call.
    Forgetful,
}

/// One request that came in.
#[derive(Clone)]
pub(crate) struct Seen {
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// A server on loopback.
pub(crate) struct Served {
    pub(crate) url: String,
    pub(crate) host: String,
    pub(crate) seen: Arc<Mutex<Vec<Seen>>>,
    /// Connections that were closed from the other side while the server waited for it.
    pub(crate) hung_up: Arc<AtomicUsize>,
}

impl Served {
    pub(crate) fn start(way: Way) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let served = Self {
            url: format!("http://{host}/mcp"),
            host,
            seen: Arc::default(),
            hung_up: Arc::default(),
        };
        let (seen, hung_up) = (Arc::clone(&served.seen), Arc::clone(&served.hung_up));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (seen, hung_up) = (Arc::clone(&seen), Arc::clone(&hung_up));
                thread::spawn(move || answer(stream, way, &seen, &hung_up));
            }
        });
        served
    }

    /// Returns the requests of a method.
    pub(crate) fn of(&self, method: &str) -> Vec<Seen> {
        let seen = self.seen.lock().unwrap();
        seen.iter()
            .filter(|one| one.body["method"] == method)
            .cloned()
            .collect()
    }
}

fn answer(mut stream: TcpStream, way: Way, seen: &Mutex<Vec<Seen>>, hung_up: &AtomicUsize) {
    let Some(request) = read(&mut stream) else {
        return;
    };
    let before = seen.lock().unwrap().len();
    seen.lock().unwrap().push(request.clone());
    let id = request.body["id"].clone();
    let method = request.body["method"].as_str().unwrap_or_default();
    let elsewhere = "302 Found\r\nLocation: http://127.0.0.1:9/";
    match way {
        Way::Redirect => return write(&mut stream, elsewhere, "text/plain", ""),
        Way::Unauthorized => {
            return write(
                &mut stream,
                "401 Unauthorized",
                "text/plain",
                "who are \u{1b}[31myou",
            );
        }
        Way::Forgetful if before >= 5 && request.head.contains("s3ssion-1") => {
            return write(&mut stream, "404 Not Found", "text/plain", "");
        }
        _ => {}
    }
    if id.is_null() {
        return write(&mut stream, "202 Accepted", "text/plain", "");
    }
    let result = match method {
        "initialize" => json!({
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "served", "version": "1"},
        }),
        "tools/list" => {
            let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
            json!({"tools": [tool("headers"), tool("echo"), tool("big"), tool("wait"), tool("no")]})
        }
        "tools/call" => match call(&mut stream, &request, hung_up) {
            Some(result) => result,
            None => return,
        },
        _ => json!({}),
    };
    let status = match (way, before) {
        (Way::Forgetful, 5..) => "200 OK\r\nMcp-Session-Id: s3ssion-2",
        _ => "200 OK\r\nMcp-Session-Id: s3ssion-1",
    };
    let mut message = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
    if way == Way::Escaped {
        message = message.replace("s3cret", "s\\u0033cret");
    }
    if !matches!(way, Way::Events | Way::Escaped | Way::CutOff) {
        return write(&mut stream, status, "application/json", &message);
    }
    let token = &request.body["params"]["_meta"]["progressToken"];
    let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress",
        "params": {"progressToken": token, "progress": 1, "total": 2}});
    let mut events = format!(": hello\n\nid: 1\nevent: message\ndata: {progress}\n\n");
    if way != Way::CutOff || method != "tools/call" {
        events.push_str(&format!("id: 2\nevent: message\ndata: {message}\n\n"));
    }
    write(
        &mut stream,
        status,
        "text/event-stream; charset=utf-8",
        &events,
    );
}

fn call(stream: &mut TcpStream, request: &Seen, hung_up: &AtomicUsize) -> Option<Value> {
    let params = &request.body["params"];
    let text = |text: String| json!({"content": [{"type": "text", "text": text}]});
    Some(match params["name"].as_str().unwrap_or_default() {
        "headers" => text(request.head.clone()),
        "big" => text("x".repeat(2_000_000)),
        "no" => json!({"content": [{"type": "text", "text": "not today"}], "isError": true}),
        "wait" => {
            // Nothing more is sent on this connection, so its end is all that can be read.
            stream
                .set_read_timeout(Some(Duration::from_secs(20)))
                .unwrap();
            if matches!(stream.read(&mut [0]), Ok(0)) {
                hung_up.fetch_add(1, Ordering::SeqCst);
            }
            return None;
        }
        _ => text(params["arguments"].to_string()),
    })
}

pub(crate) fn read(stream: &mut TcpStream) -> Option<Seen> {
    let (mut bytes, mut byte) = (Vec::new(), [0]);
    while !bytes.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        bytes.push(byte[0]);
    }
    let head = String::from_utf8(bytes).unwrap();
    let length = head.split("Content-Length: ").nth(1);
    let length = length.map_or(0, |rest| {
        rest.split("\r\n").next().unwrap().parse().unwrap()
    });
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Some(Seen { head, body })
}

pub(crate) fn write(stream: &mut TcpStream, status: &str, kind: &str, body: &str) {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
    );
    let _ = stream.write_all((head + body).as_bytes());
}
