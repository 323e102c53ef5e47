//! A client that speaks just enough HTTP.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
};

use serde_json::{Value, json};

use crate::site::TOKEN;

pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    next: u64,
}

impl Client {
    pub(crate) fn new(addr: SocketAddr) -> Self {
        let stream = TcpStream::connect(addr).unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream: BufReader::with_capacity(4096, stream),
            next: 0,
        }
    }

    pub(crate) fn list(&mut self) -> Value {
        self.request("tools/list", "", json!({}))
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.call_again(tool, arguments, json!({}))
    }

    /// Makes a call with something beside its arguments.
    pub(crate) fn call_again(&mut self, tool: &str, arguments: &Value, mut with: Value) -> Value {
        with["name"] = json!(tool);
        with["arguments"] = arguments.clone();
        self.request("tools/call", tool, with)
    }

    /// Makes a call that becomes a task, and returns its name; nothing when the server is gone.
    pub(crate) fn task(&mut self, tool: &str, arguments: &Value) -> Option<String> {
        let params = json!({"name": tool, "arguments": arguments});
        let answer = self.try_request("tools/call", tool, params)?;
        let task = answer["result"]["taskId"].as_str();
        Some(task.unwrap_or_else(|| panic!("{answer}")).to_owned())
    }

    pub(crate) fn request(&mut self, method: &str, name: &str, params: Value) -> Value {
        self.try_request(method, name, params)
            .unwrap_or_else(|| panic!("{method}: the connection ended"))
    }

    fn try_request(&mut self, method: &str, name: &str, mut params: Value) -> Option<Value> {
        self.next += 1;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":
                {"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}},
            "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "1"},
        });
        let message =
            json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        let body = message.to_string();
        let named = match name {
            "" => String::new(),
            name => format!("Mcp-Name: {name}\r\n"),
        };
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n\
             Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
             MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{named}Content-Length: {}\r\n\r\n",
            body.len()
        );
        let stream = self.stream.get_mut();
        stream.write_all(format!("{head}{body}").as_bytes()).ok()?;
        let text = self.response()?;
        let json = text.lines().find_map(|line| {
            let line = line.strip_prefix("data:").unwrap_or(line).trim();
            serde_json::from_str::<Value>(line)
                .ok()
                .filter(|found| found["id"] == self.next)
        });
        Some(json.unwrap_or_else(|| panic!("no answer in {text}")))
    }

    /// Reads a whole response.
    fn response(&mut self) -> Option<String> {
        let (mut length, mut chunked) = (None, false);
        loop {
            let line = self.line()?;
            let lower = line.to_ascii_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().ok();
            }
            chunked |= lower.starts_with("transfer-encoding: chunked");
            if line.is_empty() {
                break;
            }
        }
        let mut body = Vec::new();
        if !chunked {
            self.take(length.unwrap_or(0), &mut body)?;
            return String::from_utf8(body).ok();
        }
        loop {
            let size = usize::from_str_radix(&self.line()?, 16).ok()?;
            self.take(size, &mut body)?;
            self.line()?;
            if size == 0 {
                return String::from_utf8(body).ok();
            }
        }
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.stream.read_line(&mut line).ok()?;
        (read > 0).then(|| line.trim_end().to_owned())
    }

    fn take(&mut self, size: usize, body: &mut Vec<u8>) -> Option<()> {
        let start = body.len();
        body.resize(start + size, 0);
        self.stream.read_exact(&mut body[start..]).ok()
    }
}
