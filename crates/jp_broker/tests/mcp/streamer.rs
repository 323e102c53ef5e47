//! An MCP server over HTTP whose answers are streams that a test writes as it goes.

use std::{
    io::{ErrorKind, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, atomic::AtomicUsize, atomic::Ordering},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::server::{Seen, Served, read, write};

/// How long a server waits for what must happen; a test that gets there has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Starts a server whose every request is answered by the script.
pub(crate) fn scripted(script: impl Fn(&mut Wire, &Seen) + Send + Sync + 'static) -> Served {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let served = Served {
        url: format!("http://{host}/mcp"),
        host,
        seen: Arc::default(),
        hung_up: Arc::default(),
    };
    let (seen, hung_up) = (Arc::clone(&served.seen), Arc::clone(&served.hung_up));
    let script = Arc::new(script);
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let (seen, hung_up) = (Arc::clone(&seen), Arc::clone(&hung_up));
            let script = Arc::clone(&script);
            thread::spawn(move || {
                if let Some(request) = read(&mut stream) {
                    seen.lock().unwrap().push(request.clone());
                    script(&mut Wire { stream, hung_up }, &request);
                }
            });
        }
    });
    served
}

/// Starts a server whose calls are answered by the script, and all else plainly.
pub(crate) fn streaming(script: impl Fn(&mut Wire, &Seen) + Send + Sync + 'static) -> Served {
    scripted(move |wire, request| match request.method() {
        "tools/call" => {
            wire.open();
            script(wire, request);
        }
        _ => wire.plainly(request),
    })
}

impl Seen {
    pub(crate) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    /// Returns what a server that does as it should answers; nothing to a notification.
    pub(crate) fn answer(&self) -> Option<Value> {
        let result = match self.method() {
            "initialize" => json!({
                "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "streamer", "version": "1"},
            }),
            "tools/list" => {
                let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
                json!({"tools": [tool("work"), tool("other")]})
            }
            _ => json!({"content": [{"type": "text", "text": "done"}]}),
        };
        let id = self.body.get("id")?;
        Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }

    /// Returns a report about how far the call is.
    pub(crate) fn progress(&self, done: u32) -> Value {
        let token = &self.body["params"]["_meta"]["progressToken"];
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {
            "progressToken": token, "progress": done, "total": 4, "message": format!("step {done}")}})
    }
}

/// One connection of the server.
pub(crate) struct Wire {
    pub(crate) stream: TcpStream,
    hung_up: Arc<AtomicUsize>,
}

impl Wire {
    /// Answers with JSON.
    pub(crate) fn plainly(&mut self, request: &Seen) {
        match request.answer() {
            Some(answer) => {
                let body = answer.to_string();
                write(&mut self.stream, "200 OK", "application/json", &body);
            }
            None => write(&mut self.stream, "202 Accepted", "text/plain", ""),
        }
    }

    /// Starts a stream of events.
    pub(crate) fn open(&mut self) {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\
                    Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
        let _ = self.stream.write_all(head.as_bytes());
    }

    /// Sends one chunk; returns whether it could be sent.
    pub(crate) fn raw(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        let bytes = bytes.as_ref();
        let size = format!("{:x}\r\n", bytes.len()).into_bytes();
        let chunk = [size.as_slice(), bytes, b"\r\n"].concat();
        self.stream.write_all(&chunk).is_ok()
    }

    pub(crate) fn event(&mut self, message: &Value) {
        self.raw(format!("event: message\ndata: {message}\n\n"));
    }

    /// Answers in the stream.
    pub(crate) fn answer(&mut self, request: &Seen) {
        if let Some(answer) = request.answer() {
            self.event(&answer);
        }
    }

    /// Ends the stream as it should end.
    pub(crate) fn end(&mut self) {
        let _ = self.stream.write_all(b"0\r\n\r\n");
    }

    /// Waits for the client to close the connection, and counts it.
    pub(crate) fn wait_for_the_end(&mut self) {
        if self.is_closed_within(PATIENCE) {
            self.hung_up.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Tells whether the client closes the connection in this time.
    pub(crate) fn is_closed_within(&mut self, time: Duration) -> bool {
        self.stream.set_read_timeout(Some(time)).unwrap();
        match self.stream.read(&mut [0]) {
            Ok(count) => count == 0,
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        }
    }
}
