//! HTTP requests that a component makes itself, with `wasi:http`: to granted hosts and to no others,
//! within the limits of its call, each written down.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, mpsc},
    thread,
};

use jp_llm::{
    ExecutionOutcome,
    broker::{Secret, SecretValue},
    tool::ErrorKind,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    capabilities::{desk as with_broker, parsed, places},
    kit::{Desk, Ended, call, wasm},
};

const SECRET: &str = "correct-horse-battery-staple";

/// A server on this machine, as long as the test runs.
struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
    arrived: Mutex<mpsc::Receiver<()>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let (tell, arrived) = mpsc::channel();
        let requests = Arc::clone(&seen);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (requests, tell) = (Arc::clone(&requests), tell.clone());
                thread::spawn(move || serve(&stream, &requests, &tell));
            }
        });
        Self {
            address,
            seen,
            arrived: Mutex::new(arrived),
        }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    /// Waits for a request.
    fn wait(&self) {
        self.arrived.lock().unwrap().recv().unwrap();
    }
}

/// Answers the requests of one connection.
fn serve(stream: &TcpStream, seen: &Mutex<Vec<String>>, tell: &mpsc::Sender<()>) {
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    loop {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if line == "\r\n" {
                break;
            }
            let lower = line.to_ascii_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            head.push_str(&line);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let body = String::from_utf8_lossy(&body).into_owned();
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let echo = format!("{head}\r\n{body}");
        seen.lock().unwrap().push(echo.clone());
        let _ = tell.send(());
        let ok = |body: &str| format!("200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        let answer = match path.as_str() {
            "/echo" => ok(&echo),
            "/away" => "302 Found\r\nlocation: /echo\r\ncontent-length: 0\r\n\r\n".to_owned(),
            "/large" => "200 OK\r\ncontent-length: 20000000\r\n\r\n".to_owned(),
            "/secret" => format!(
                "200 OK\r\nx-token: {SECRET}\r\ncontent-length: {}\r\n\r\n{SECRET}",
                SECRET.len()
            ),
            // Nothing ever comes.
            "/silent" => continue,
            other => ok(other),
        };
        if writer
            .write_all(format!("HTTP/1.1 {answer}").as_bytes())
            .is_err()
        {
            return;
        }
    }
}

/// The parameters of `fetch`, and no files.
const FETCH: &str = r#"grant.workspace = "none"
parameters.url = { type = "string", required = true }
parameters.method.type = "string"
parameters.headers.type = "object"
parameters.body.type = "string"
parameters.fill.type = "integer"
parameters.times.type = "integer"
"#;

/// A workspace with the tool `fetch`, which may reach these hosts if the user says so too.
fn desk(asked: &[String], allowed: &[String]) -> Desk {
    let list = |hosts: &[String]| format!("net = {}", json!(hosts));
    let more = match asked {
        [] => String::new(),
        asked => format!("grant.{}", list(asked)),
    };
    let tool = wasm("fetch", &format!("{FETCH}{more}"));
    let user = format!("[policy]\n{}\n", list(allowed));
    let desk = with_broker(&tool, &user);
    desk.guest("fetch", "fetch").trusted().agreed()
}

fn granted(server: &Server) -> Desk {
    let hosts = [server.address.to_string()];
    desk(&hosts, &hosts)
}

#[tokio::test]
async fn a_granted_host_is_asked_and_answers() {
    let server = Server::start();
    let desk = granted(&server);
    let said = desk.said("fetch", json!({"url": server.url("/plain?a=1")}));
    let said = parsed(&said.await.unwrap());
    assert_eq!(said["status"], 200);
    assert_eq!(said["body"], "/plain?a=1");
    let posted = json!({
        "url": server.url("/echo"), "method": "POST", "body": "some text",
        "headers": {"X-Mine": "yes"},
    });
    let said = parsed(&desk.said("fetch", posted).await.unwrap());
    let echo = said["body"].as_str().unwrap().to_ascii_lowercase();
    assert!(echo.starts_with("post /echo http/1.1\r\n"), "{echo}");
    assert!(echo.contains("x-mine: yes\r\n"), "{echo}");
    assert!(echo.contains("user-agent: jp/"), "{echo}");
    assert_eq!(echo.matches("\nhost:").count(), 1, "{echo}");
    assert!(echo.ends_with("\r\nsome text"), "{echo}");
    let of_http: Vec<String> = desk
        .records()
        .iter()
        .filter(|record| record.capability.as_deref() == Some("wasi:http"))
        .map(|record| format!("{}, {}", record.decision, record.outcome))
        .collect();
    assert_eq!(of_http, ["allowed, success", "allowed, success"]);
}

#[tokio::test]
async fn without_a_grant_a_request_is_denied_and_the_missing_line_is_named() {
    let server = Server::start();
    let host = server.address.to_string();
    let other = ["api.example.com".to_owned()];
    // Nothing granted; another host granted; asked for and not allowed by the user.
    for desk in [desk(&[], &[]), desk(&other, &other)] {
        let said = desk.said("fetch", json!({"url": server.url("/plain")}));
        let said = said.await.unwrap_err();
        assert!(said.contains("ErrorCode::HttpRequestDenied"), "{said}");
        assert!(said.contains(&format!("`net = [\"{host}\"]`")), "{said}");
        assert!(said.contains("[conversation.tools.fetch]"), "{said}");
        let records = desk.records();
        let denied = records
            .iter()
            .find(|record| record.capability.as_deref() == Some("wasi:http"))
            .unwrap();
        let decision = format!("{}, {}", denied.decision, denied.outcome);
        assert_eq!(decision, "denied, denied");
    }
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn every_host_is_not_this_machine() {
    let server = Server::start();
    let tool = wasm("fetch", &format!("{FETCH}grant.net = true"));
    let desk = with_broker(&tool, "[policy]\nnet = true\n");
    let desk = desk.guest("fetch", "fetch").trusted().agreed();
    let port = server.address.port();
    let spelled = format!("http://2130706433:{port}/");
    for url in [
        server.url("/plain"),
        spelled,
        "http://169.254.169.254/".into(),
    ] {
        let said = desk.said("fetch", json!({"url": url})).await.unwrap_err();
        assert!(said.contains("HttpRequestDenied"), "{url}: {said}");
    }
    let said = desk.said("fetch", json!({"url": "http://[::]:1/"})).await;
    let said = said.unwrap_err();
    assert!(said.contains("DestinationIpProhibited"), "{said}");
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let server = Server::start();
    let desk = granted(&server);
    let said = desk.said("fetch", json!({"url": server.url("/away")}));
    let said = parsed(&said.await.unwrap());
    assert_eq!(said["status"], 302);
    let location = json!(["location", "/echo"]);
    assert!(said["headers"].as_array().unwrap().contains(&location));
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn bodies_above_the_limit_are_refused_on_both_sides() {
    let server = Server::start();
    let desk = granted(&server);
    let said = desk.said("fetch", json!({"url": server.url("/large")}));
    let said = said.await.unwrap_err();
    assert!(
        said.contains("HttpResponseBodySize(Some(10485760))"),
        "{said}"
    );
    let fill = json!({"url": server.url("/echo"), "method": "POST", "fill": 10 * 1024 * 1024 + 1});
    let said = desk.said("fetch", fill).await.unwrap_err();
    assert!(
        said.contains("HttpRequestBodySize(Some(10485760))"),
        "{said}"
    );
    assert_eq!(server.seen().len(), 1, "what is too large is not sent");
}

#[tokio::test]
async fn what_belongs_to_a_connection_cannot_be_set() {
    let server = Server::start();
    let desk = granted(&server);
    for name in [
        "Host",
        "Connection",
        "Transfer-Encoding",
        "Upgrade",
        "TE",
        "Proxy-Authorization",
    ] {
        let headers = json!({name: "other.example"});
        let call = json!({"url": server.url("/echo"), "headers": headers});
        let said = desk.said("fetch", call).await.unwrap_err();
        assert!(said.contains("HeaderError::Forbidden"), "{name}: {said}");
    }
    let call = json!({"url": server.url("/echo"), "headers": {"X": "a\r\nHost: b"}});
    let said = desk.said("fetch", call).await.unwrap_err();
    assert!(said.contains("HeaderError::InvalidSyntax"), "{said}");
    let long = "a".repeat(600);
    let call = json!({"url": format!("http://{long}/")});
    let said = desk.said("fetch", call).await.unwrap_err();
    assert!(said.contains("cannot be described"), "{said}");
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn no_more_than_four_requests_are_held_at_once() {
    let server = Server::start();
    let desk = granted(&server);
    let call = |times: usize| json!({"url": server.url("/plain"), "times": times});
    let said = parsed(&desk.said("fetch", call(4)).await.unwrap());
    assert_eq!(said.as_array().map(Vec::len), Some(4));
    let said = desk.said("fetch", call(5)).await.unwrap_err();
    assert!(said.contains("ConnectionLimitReached"), "{said}");
}

#[tokio::test]
async fn waiting_for_a_response_counts_against_the_deadline() {
    let server = Server::start();
    let hosts = json!([server.address.to_string()]);
    let more = format!("{FETCH}grant.net = {hosts}\nlimits.time = \"300ms\"");
    let desk = with_broker(&wasm("fetch", &more), &format!("[policy]\nnet = {hosts}\n"));
    let desk = desk.guest("fetch", "fetch").trusted().agreed();
    let error = desk
        .call("fetch", json!({"url": server.url("/silent")}))
        .await
        .error();
    assert!(error.to_string().contains("time"), "{error}");
    assert_eq!(error.kind(), ErrorKind::Time, "{error}");
}

#[tokio::test]
async fn a_cancelled_call_ends_while_it_waits_for_a_response() {
    let server = Arc::new(Server::start());
    let desk = granted(&server);
    let cancel = CancellationToken::new();
    let (stop, waiting) = (cancel.clone(), Arc::clone(&server));
    let stopping = thread::spawn(move || {
        waiting.wait();
        stop.cancel();
    });
    let mut call = call(json!({"url": server.url("/silent")}));
    call.cancel = cancel;
    let ended = desk.make("fetch", call).await;
    stopping.join().unwrap();
    assert!(
        matches!(ended.result, Ok(ExecutionOutcome::Cancelled { .. })),
        "{:?}",
        ended.result
    );
}

#[tokio::test]
async fn a_secret_that_a_server_sends_back_does_not_reach_the_guest() {
    let server = Server::start();
    let desk = granted(&server);
    let store = jp_llm::broker::open_secrets(&places(&desk)).unwrap();
    store
        .set(&Secret {
            name: "forge".parse().unwrap(),
            value: SecretValue::new(SECRET.as_bytes().to_vec()).unwrap(),
            audience: vec!["https://forge.example.com".parse().unwrap()],
            reveal: false,
            created: 0,
        })
        .unwrap();
    let said = desk.said("fetch", json!({"url": server.url("/secret")}));
    let said = said.await.unwrap();
    assert!(!said.contains(SECRET), "{said}");
    assert_eq!(parsed(&said)["body"], "[secret:forge]");
    // Nothing is filled in for a guest: what it writes is what is sent.
    let call = json!({"url": server.url("/echo"), "headers": {"X-Key": "{{secret:forge}}"}});
    let said: Value = parsed(&desk.said("fetch", call).await.unwrap());
    let echo = said["body"].as_str().unwrap();
    assert!(echo.contains("{{secret:forge}}"), "{echo}");
    assert!(!server.seen().concat().contains(SECRET));
}
