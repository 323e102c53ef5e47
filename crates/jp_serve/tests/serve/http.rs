//! HTTP: who gets in, how much they may send, and sessions of older clients.

use std::time::Duration;

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
        Self::of(User::new()).await
    }

    async fn of(user: User) -> Self {
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

    /// Sends a request and leaves the answer to be read.
    async fn open(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> TcpStream {
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
        stream
    }

    async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = self.open(method, path, headers, body).await;
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
        let headers = [&KNOWN[..], more].concat();
        self.send("POST", "/mcp", &headers, &body.to_string()).await
    }
}

const BEARER: &str = "Bearer 0123456789abcdef0123456789abcdef";

/// What every request of a client says that may use the server.
const KNOWN: [(&str, &str); 3] = [
    ("Authorization", BEARER),
    ("Accept", "application/json, text/event-stream"),
    ("Content-Type", "application/json"),
];

/// Reads until a text has come.
async fn read_until(stream: &mut TcpStream, text: &str) -> String {
    let mut read = String::new();
    let reading = async {
        while !read.contains(text) {
            let mut bytes = [0; 4096];
            let count = stream.read(&mut bytes).await.unwrap();
            assert_ne!(count, 0, "{text:?} did not come: {read}");
            read.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
        }
    };
    tokio::time::timeout(Duration::from_secs(30), reading)
        .await
        .unwrap();
    read
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
async fn nobody_gets_in_without_the_token() {
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
async fn e53_foreign_origins_and_hosts_are_refused() {
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
    // A name of the attacker that leads here, and a page that another server of this machine serves.
    for (host, origin) in [
        ("evil.example", "http://evil.example"),
        (&*site.addr.to_string(), "http://localhost:1"),
        (&*site.addr.to_string(), "https://127.0.0.1"),
    ] {
        let answer = site
            .post(&[("Host", host), ("Origin", origin)], &hello())
            .await;
        assert_eq!(answer.status, 403, "{host} {origin}: {}", answer.head);
    }
}

#[tokio::test]
async fn a_page_of_the_server_itself_may_call_it() {
    let site = Site::start().await;
    let port = site.addr.port();
    for host in [format!("localhost:{port}"), format!("127.0.0.1:{port}")] {
        let origin = format!("http://{host}");
        let answer = site
            .post(&[("Host", &host), ("Origin", &origin)], &hello())
            .await;
        assert_eq!(answer.status, 200, "{host}: {}", answer.head);
    }
}

#[tokio::test]
async fn a_newer_client_calls_without_a_session() {
    let site = Site::start().await;
    let answer = site.post(&MODERN_CALL, &call()).await;
    // One message is one body, and no stream.
    let head = answer.head.to_lowercase();
    assert!(head.contains("content-type: application/json"), "{head}");
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
async fn e55_a_stream_that_is_closed_cancels_its_call() {
    let site = Site::start().await;
    let mut call = call();
    call["params"]["arguments"] = json!({"commands": "echo it began; sleep 300"});
    call["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = json!("info");
    let headers = [&KNOWN[..], &MODERN_CALL].concat();
    let mut stream = site.open("POST", "/mcp", &headers, &call.to_string()).await;
    read_until(&mut stream, "it began").await;
    drop(stream);
    let started = std::time::Instant::now();
    while site._user.records().is_empty() {
        assert!(started.elapsed() < Duration::from_secs(60), "it goes on");
        tokio::task::yield_now().await;
    }
    assert_eq!(site._user.records(), ["ada bash cancelled"]);
}

#[tokio::test]
async fn metrics_are_there_for_whoever_has_the_token_and_asks_this_machine() {
    let site = Site::start().await;
    site.post(&MODERN_CALL, &call()).await;
    site.post(&[], &hello()).await;
    let numbers = |headers: Vec<(&'static str, &'static str)>| {
        let site = &site;
        async move { site.send("GET", "/metrics", &headers, "").await }
    };
    assert_eq!(numbers(Vec::new()).await.status, 401);
    let foreign = numbers(vec![KNOWN[0], ("Host", "evil.example")]).await;
    assert_eq!(foreign.status, 403, "{}", foreign.head);
    let answer = numbers(vec![KNOWN[0]]).await;
    assert_eq!(answer.status, 200, "{}", answer.head);
    let head = answer.head.to_lowercase();
    assert!(
        head.contains("content-type: text/plain; version=0.0.4"),
        "{head}"
    );
    for line in [
        "jp_calls_total{tool=\"bash\",outcome=\"success\"} 1",
        "jp_call_duration_seconds_count{tool=\"bash\"} 1",
        "jp_http_responses_total{path=\"/mcp\",status=\"200\"} 2",
        "jp_http_responses_total{path=\"/metrics\",status=\"401\"} 1",
        "jp_http_responses_total{path=\"/metrics\",status=\"403\"} 1",
        "jp_sessions 1",
        "jp_tasks_running 0",
    ] {
        let found = answer.body.lines().any(|found| found == line);
        assert!(found, "{line}\n{}", answer.body);
    }
}

#[tokio::test]
async fn of_ten_thousand_sessions_those_beyond_the_cap_are_refused() {
    let site = Site::start().await;
    let mut refused = 0;
    for _ in 0..10_000 {
        match site.post(&[], &hello()).await.status {
            200 => {}
            503 => refused += 1,
            other => panic!("{other}"),
        }
    }
    assert_eq!(refused, 9_000);
    // Clients that need no session are served all the same.
    assert_eq!(site.post(&MODERN_CALL, &call()).await.status, 200);
}

#[tokio::test]
async fn a_call_of_a_session_goes_on_when_its_stream_breaks_and_its_answer_waits() {
    let site = Site::start().await;
    let answer = site.post(&[], &hello()).await;
    let lines = answer.head.lines();
    let mut ids = lines.filter_map(|line| line.strip_prefix("mcp-session-id: "));
    let session = [
        ("Mcp-Session-Id", ids.next().unwrap()),
        ("MCP-Protocol-Version", "2025-11-25"),
    ];
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(site.post(&session, &ready).await.status, 202);
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": {"name": "bash", "arguments": {"commands": "sleep 0.5; echo it went on"}}});
    let headers = [&KNOWN[..], &session].concat();
    let mut stream = site.open("POST", "/mcp", &headers, &call.to_string()).await;
    // The first event says from where to go on, and when to come back.
    let first = read_until(&mut stream, "retry: ").await;
    let (_, id) = first.split_once("\nid: ").unwrap();
    let id = id.lines().next().unwrap().to_owned();
    drop(stream);
    let resumed = [&KNOWN[..], &session, &[("Last-Event-ID", &id)]].concat();
    let mut stream = site.open("GET", "/mcp", &resumed, "").await;
    read_until(&mut stream, "it went on").await;
}

#[tokio::test]
async fn arguments_that_are_headers_too_must_be_the_same_there() {
    let user = User::new();
    user.bring("parts");
    let site = Site::of(user).await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list",
        "params": modern(json!({}), json!({}))});
    let listed = [
        ("MCP-Protocol-Version", MODERN),
        ("Mcp-Method", "tools/list"),
    ];
    // Until the tool has said what it takes, nobody can know which arguments are headers.
    while !site
        .post(&listed, &list)
        .await
        .body
        .contains("x-mcp-header")
    {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let params = json!({"name": "parts", "arguments": {"do": "no"}});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": modern(params, json!({}))});
    for (header, status) in [
        (Some("no"), 200),
        (Some("=?base64?bm8=?="), 200),
        (Some("=?base64?bm8?="), 400),
        (Some("yes"), 400),
        (None, 400),
    ] {
        let mut headers = vec![
            ("MCP-Protocol-Version", MODERN),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "parts"),
        ];
        headers.extend(header.map(|value| ("Mcp-Param-Do", value)));
        let answer = site.post(&headers, &call).await;
        assert_eq!(answer.status, status, "{header:?}: {}", answer.body);
        assert_eq!(
            answer.body.contains("-32020"),
            status == 400,
            "{}",
            answer.body
        );
    }
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
