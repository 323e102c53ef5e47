//! Clients that measure: they send what was written before and read to the end of the answer, and no more.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    process::{ChildStdin, ChildStdout},
};

use serde_json::{Value, json};

use crate::server::TOKEN;

/// The newest revision, which needs no handshake.
const MODERN: &str = "2026-07-28";

/// A request that can be sent again and again, each time with another id.
pub(crate) struct Prepared {
    method: &'static str,
    tool: String,
    /// What stands behind the id.
    rest: String,
}

impl Prepared {
    /// Writes a request of a client that shook hands.
    pub(crate) fn new(method: &'static str, params: &Value) -> Self {
        let tool = params["name"].as_str().unwrap_or_default().to_owned();
        let rest = format!(",\"method\":\"{method}\",\"params\":{params}}}");
        Self { method, tool, rest }
    }

    /// Writes a request of a client of the newest revision.
    pub(crate) fn modern(method: &'static str, mut params: Value) -> Self {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        });
        Self::new(method, &params)
    }

    fn text(&self, id: u64) -> String {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id}{}", self.rest)
    }
}

/// Something that requests can be sent on, one after the other.
pub(crate) trait Wire {
    /// Sends a request and returns the bytes of the answer.
    fn ask(&mut self, request: &Prepared) -> &[u8];
}

/// A client on the streams of its server.
pub(crate) struct Streams {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
    next: u64,
}

impl Streams {
    /// Shakes hands.
    pub(crate) fn new(input: ChildStdin, output: BufReader<ChildStdout>) -> Self {
        let mut client = Self::modern(input, output);
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"}});
        client.ask(&Prepared::new("initialize", &hello));
        let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        writeln!(client.input, "{done}").unwrap();
        client
    }

    /// Begins without a handshake.
    pub(crate) const fn modern(input: ChildStdin, output: BufReader<ChildStdout>) -> Self {
        Self {
            input,
            output,
            line: Vec::new(),
            next: 0,
        }
    }

    /// Sends a request and waits for nothing.
    pub(crate) fn send(&mut self, request: &Prepared) {
        self.next += 1;
        let mut text = request.text(self.next);
        text.push('\n');
        self.input.write_all(text.as_bytes()).unwrap();
    }

    /// Reads the next answer.
    pub(crate) fn hear(&mut self) -> &[u8] {
        self.line.clear();
        self.output.read_until(b'\n', &mut self.line).unwrap();
        assert!(!self.line.is_empty(), "the server ended");
        &self.line
    }
}

impl Wire for Streams {
    fn ask(&mut self, request: &Prepared) -> &[u8] {
        self.send(request);
        self.hear()
    }
}

/// A client on a connection that is kept.
pub(crate) struct Http {
    stream: BufReader<TcpStream>,
    line: String,
    body: Vec<u8>,
    next: u64,
}

impl Http {
    pub(crate) fn new(addr: SocketAddr) -> Self {
        let stream = TcpStream::connect(addr).unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream: BufReader::new(stream),
            line: String::new(),
            body: Vec::new(),
            next: 0,
        }
    }

    fn line(&mut self) -> &str {
        self.line.clear();
        self.stream.read_line(&mut self.line).unwrap();
        assert!(!self.line.is_empty(), "the connection ended");
        self.line.trim_end()
    }

    fn take(&mut self, size: usize) {
        let start = self.body.len();
        self.body.resize(start + size, 0);
        self.stream.read_exact(&mut self.body[start..]).unwrap();
    }
}

impl Wire for Http {
    fn ask(&mut self, request: &Prepared) -> &[u8] {
        self.next += 1;
        let body = request.text(self.next);
        let named = match request.tool.as_str() {
            "" => String::new(),
            tool => format!("Mcp-Name: {tool}\r\n"),
        };
        let message = format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n\
             Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
             MCP-Protocol-Version: {MODERN}\r\nMcp-Method: {}\r\n{named}Content-Length: {}\r\n\r\n{body}",
            request.method,
            body.len()
        );
        self.stream.get_mut().write_all(message.as_bytes()).unwrap();
        self.body.clear();
        let (mut length, mut is_chunked) = (0, false);
        loop {
            let line = self.line().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            is_chunked |= line.starts_with("transfer-encoding: chunked");
            if line.is_empty() {
                break;
            }
        }
        self.take(length);
        while is_chunked {
            let size = usize::from_str_radix(self.line(), 16).unwrap();
            self.take(size);
            self.line();
            is_chunked = size > 0;
        }
        &self.body
    }
}

/// Returns the message that an answer is.
pub(crate) fn message(bytes: &[u8]) -> Value {
    let text = std::str::from_utf8(bytes).unwrap();
    let lines = text
        .lines()
        .map(|line| line.strip_prefix("data:").unwrap_or(line));
    let mut found = lines.filter_map(|line| serde_json::from_str::<Value>(line.trim()).ok());
    found.find(Value::is_object).unwrap()
}
