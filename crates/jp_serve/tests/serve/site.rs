//! A server over HTTP with several principals, and requests of each.

use std::net::SocketAddr;

use jp_config::PolicyConfig;
use jp_serve::{Keep, Options, Server, Token, Tokens};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_util::sync::CancellationToken;

use crate::kit::{MODERN, User, modern};

/// The user's own token.
pub(crate) const OWN: &str = "0123456789abcdef0123456789abcdef";

/// A server on a port of this machine.
pub(crate) struct Site {
    pub(crate) addr: SocketAddr,
    pub(crate) stop: CancellationToken,
    pub(crate) user: User,
    pub(crate) tokens: Tokens,
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Site {
    pub(crate) async fn start(user: User) -> Self {
        let places = user.places();
        let tokens = Tokens::at(&places.serve_tokens().unwrap());
        let mut options = Options::new("ada");
        let keep = Keep::open(&places.serve_store().unwrap(), &places.serve_key().unwrap());
        options.keep = Some(keep.unwrap());
        options.tokens = Some(tokens.clone());
        let server = Server::new(user.live(), options).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let (token, stopped) = (Token::from_text(OWN).unwrap(), stop.clone());
        tokio::spawn(async move { server.on_tcp(listener, token, stopped).await });
        Self {
            addr,
            stop,
            user,
            tokens,
        }
    }

    /// Lets somebody in.
    pub(crate) fn add(&self, name: &str, policy: Option<PolicyConfig>) -> String {
        self.tokens.add(name, policy, None).unwrap()
    }

    /// Sends a request, and leaves the answer to be read.
    pub(crate) async fn open(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> TcpStream {
        let mut stream = TcpStream::connect(self.addr).await.unwrap();
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nConnection: close\r\nHost: {}\r\n",
            self.addr
        );
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        // A server that has said no reads no further.
        let _ = stream.write_all(head.as_bytes()).await;
        stream
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut stream = self.open(method, path, headers, body).await;
        Answer::read(&mut stream).await
    }

    /// Sends a message with a token.
    pub(crate) async fn post(&self, token: &str, more: &[(&str, &str)], body: &Value) -> Answer {
        let bearer = format!("Bearer {token}");
        let headers = [&known(&bearer)[..], more].concat();
        self.send("POST", "/mcp", &headers, &body.to_string()).await
    }

    /// Asks as a client of the newest revision that knows everything.
    pub(crate) async fn ask(&self, token: &str, method: &str, params: Value) -> Value {
        let answer = self.try_ask(token, method, params).await;
        assert!([200, 400, 404].contains(&answer.status), "{}", answer.head);
        answer.json()
    }

    pub(crate) async fn try_ask(&self, token: &str, method: &str, params: Value) -> Answer {
        let (name, body) = message(method, params);
        let mut headers = vec![("MCP-Protocol-Version", MODERN), ("Mcp-Method", method)];
        headers.extend(name.as_deref().map(|name| ("Mcp-Name", name)));
        self.post(token, &headers, &body).await
    }

    /// Calls a tool.
    pub(crate) async fn call(&self, token: &str, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        self.ask(token, "tools/call", params).await
    }

    /// Opens a session of an older client, and returns its id.
    pub(crate) async fn session(&self, token: &str) -> String {
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}}});
        let answer = self.post(token, &[], &hello).await;
        assert_eq!(answer.status, 200, "{}", answer.head);
        let id = answer.header("mcp-session-id").unwrap().to_owned();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let answer = self.post(token, &in_session(&id), &ready).await;
        assert_eq!(answer.status, 202, "{}", answer.head);
        id
    }
}

/// What every request of a client says.
pub(crate) fn known(bearer: &str) -> [(&'static str, &str); 3] {
    [
        ("Authorization", bearer),
        ("Accept", "application/json, text/event-stream"),
        ("Content-Type", "application/json"),
    ]
}

/// What every request within a session says.
pub(crate) fn in_session(id: &str) -> [(&'static str, &str); 2] {
    [
        ("Mcp-Session-Id", id),
        ("MCP-Protocol-Version", "2025-11-25"),
    ]
}

/// Makes a message of the newest revision, with the name that it goes by in the headers.
pub(crate) fn message(method: &str, params: Value) -> (Option<String>, Value) {
    let name = ["name", "uri", "taskId"]
        .iter()
        .find_map(|key| params[*key].as_str())
        .map(ToOwned::to_owned);
    let capabilities = json!({"elicitation": {}, "sampling": {}, "roots": {},
        "extensions": {"io.modelcontextprotocol/tasks": {}}});
    let params = modern(params, capabilities);
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    (name, body)
}

impl Answer {
    pub(crate) async fn read(stream: &mut (impl AsyncReadExt + Unpin)) -> Self {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes).await;
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).unwrap_or("0").parse().unwrap();
        let is_chunked = head.to_lowercase().contains("transfer-encoding: chunked");
        Self {
            status,
            head: head.to_owned(),
            body: if is_chunked {
                whole(body)
            } else {
                body.to_owned()
            },
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value)
    }

    /// Returns the message that answers, out of a stream of them or alone.
    pub(crate) fn json(&self) -> Value {
        let lines = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "));
        let mut messages = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let answer = messages.find(|message| message.get("method").is_none());
        answer.unwrap_or_else(|| {
            let read = serde_json::from_str(&self.body);
            read.unwrap_or_else(|_| panic!("{}\n\n{}", self.head, self.body))
        })
    }
}

/// Puts the chunks of a body together.
fn whole(mut body: &str) -> String {
    let mut text = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let Ok(size) = usize::from_str_radix(size, 16) else {
            break;
        };
        let Some((chunk, rest)) = rest.split_at_checked(size) else {
            text.push_str(rest);
            break;
        };
        text.push_str(chunk);
        body = rest.strip_prefix("\r\n").unwrap_or(rest);
    }
    text
}
