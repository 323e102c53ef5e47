//! HTTP: who gets in, how much they may send, and sessions of older clients.

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_util::sync::CancellationToken;

use jp_serve::Token;

use crate::kit::{MODERN, User, modern};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A server on a port of this machine.
struct Site {
    addr: std::net::SocketAddr,
    stop: CancellationToken,
    _user: User,
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Site {
    async fn start() -> Self {
        let user = User::new();
        let server = user.server();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let (token, stopped) = (Token::from_text(TOKEN).unwrap(), stop.clone());
        tokio::spawn(async move { server.on_tcp(listener, token, stopped).await });
        Self {
            addr,
            stop,
            _user: user,
        }
    }

    async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = TcpStream::connect(self.addr).await.unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head.push_str(&format!("Host: {}\r\n", self.addr));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        // A server that has said no reads no further.
        let _ = stream.write_all(head.as_bytes()).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        let text = String::from_utf8(answer).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).unwrap_or("0").parse().unwrap();
        Answer {
            status,
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    async fn post(&self, more: &[(&str, &str)], body: &Value) -> Answer {
        let token = format!("Bearer {TOKEN}");
        let mut headers = vec![
            ("Authorization", token.as_str()),
            ("Accept", "application/json, text/event-stream"),
            ("Content-Type", "application/json"),
        ];
        headers.extend_from_slice(more);
        self.send("POST", "/mcp", &headers, &body.to_string()).await
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn hello() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}}})
}

fn call() -> Value {
    let params = json!({"name": "bash", "arguments": {"commands": "echo over http"}});
    json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": modern(params, json!({}))})
}

const MODERN_CALL: [(&str, &str); 3] = [
    ("MCP-Protocol-Version", MODERN),
    ("Mcp-Method", "tools/call"),
    ("Mcp-Name", "bash"),
];

#[tokio::test]
async fn e53_nobody_gets_in_without_the_token() {
    let site = Site::start().await;
    let wrong = "Bearer 0123456789abcdef0123456789abcdeX";
    for headers in [
        &[][..],
        &[("Authorization", wrong)],
        &[("Authorization", TOKEN)],
    ] {
        let answer = site
            .send("POST", "/mcp", headers, &hello().to_string())
            .await;
        assert_eq!(answer.status, 401, "{}", answer.head);
        assert!(
            answer
                .head
                .to_lowercase()
                .contains("www-authenticate: bearer")
        );
    }
    for path in ["/healthz", "/readyz"] {
        assert_eq!(site.send("GET", path, &[], "").await.status, 200);
    }
    assert_eq!(site.send("GET", "/other", &[], "").await.status, 404);
}

#[tokio::test]
async fn e54_foreign_origins_and_hosts_are_refused() {
    let site = Site::start().await;
    for header in [
        ("Origin", "https://evil.example"),
        ("Origin", "null"),
        ("Host", "evil.example"),
        ("Host", "evil.example:80"),
    ] {
        let answer = site.post(&[header], &hello()).await;
        assert_eq!(answer.status, 403, "{header:?}: {}", answer.head);
    }
}

#[tokio::test]
async fn a_newer_client_calls_without_a_session() {
    let site = Site::start().await;
    let answer = site.post(&MODERN_CALL, &call()).await;
    assert_eq!(answer.status, 200, "{}", answer.head);
    assert!(answer.body.contains("over http"), "{}", answer.body);
    assert!(!answer.head.to_lowercase().contains("mcp-session-id"));
}

#[tokio::test]
async fn headers_that_contradict_the_message_are_refused() {
    let site = Site::start().await;
    let mut headers = MODERN_CALL;
    headers[2].1 = "learn";
    let answer = site.post(&headers, &call()).await;
    assert_eq!(answer.status, 400, "{}", answer.head);
    assert!(answer.body.contains("-32020"), "{}", answer.body);
}

#[tokio::test]
async fn an_older_client_gets_a_session_and_ends_it() {
    let site = Site::start().await;
    let answer = site.post(&[], &hello()).await;
    assert_eq!(answer.status, 200, "{}", answer.head);
    let lower = answer.head.to_lowercase();
    let line = lower
        .lines()
        .find(|line| line.starts_with("mcp-session-id:"))
        .unwrap();
    let id = line.split_once(": ").unwrap().1.to_owned();
    let session = [
        ("Mcp-Session-Id", id.as_str()),
        ("MCP-Protocol-Version", "2025-11-25"),
    ];
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let answer = site.post(&session, &list).await;
    assert!(answer.body.contains("\"bash\""), "{}", answer.body);
    let token = format!("Bearer {TOKEN}");
    let headers = [("Authorization", token.as_str()), session[0]];
    let ended = site.send("DELETE", "/mcp", &headers, "").await;
    assert!(ended.status < 300, "{}", ended.head);
    assert_eq!(site.post(&session, &list).await.status, 404);
}

#[tokio::test]
async fn batches_and_large_requests_are_refused() {
    let site = Site::start().await;
    let batch = site.post(&[], &json!([hello(), hello()])).await;
    assert_eq!(batch.status, 400);
    assert!(batch.body.contains("-32600"), "{}", batch.body);
    let large = json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "x": "y".repeat(5 << 20)});
    assert_eq!(site.post(&[], &large).await.status, 413);
    let text = "z".repeat(20_000);
    assert_eq!(site.post(&[("X-Long", &text)], &hello()).await.status, 431);
}

#[tokio::test]
async fn e55_sessions_are_bounded_in_number() {
    let site = Site::start().await;
    let mut refused = 0;
    for _ in 0..1_100 {
        match site.post(&[], &hello()).await.status {
            200 => {}
            503 => refused += 1,
            other => panic!("{other}"),
        }
    }
    assert_eq!(refused, 100);
    // Clients that need no session are served all the same.
    assert_eq!(site.post(&MODERN_CALL, &call()).await.status, 200);
}

#[tokio::test]
async fn a_subscription_is_a_stream_until_the_server_is_stopped() {
    let site = Site::start().await;
    let wanted = modern(
        json!({"notifications": {"promptsListChanged": true}}),
        json!({}),
    );
    let request =
        json!({"jsonrpc": "2.0", "id": 9, "method": "subscriptions/listen", "params": wanted});
    let headers = [
        ("MCP-Protocol-Version", MODERN),
        ("Mcp-Method", "subscriptions/listen"),
    ];
    let meanwhile = async {
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        let prompt = "[serve.prompts.p]\nmessages = [{ role = 'user', text = 'x' }]\n";
        site._user.configure(prompt);
        tokio::time::sleep(std::time::Duration::from_secs(4)).await;
        site.stop.cancel();
    };
    let (answer, ()) = tokio::join!(site.post(&headers, &request), meanwhile);
    assert_eq!(answer.status, 200, "{}", answer.head);
    for method in ["subscriptions/acknowledged", "prompts/list_changed"] {
        let found = answer.body.contains(&format!("notifications/{method}"));
        assert!(found, "{method}: {}", answer.body);
    }
}
