//! A server behind a URL that answers with a stream of events: its progress reaches whoever watches the
//! pipeline while the server still works.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    thread,
};

use jp_broker::mcp::{HttpServer, McpExchange, Reach, Server};
use jp_policy::Net;
use serde_json::Value;

use super::*;

/// How long the server waits for the report to be heard; a test that gets there has failed.
const PATIENCE: Duration = Duration::from_secs(20);

/// Sends on what it hears about.
struct Watcher(Mutex<mpsc::Sender<Option<f32>>>);

impl Events for Watcher {
    fn report(&self, _: &str, _: &str, status: ToolStatus) {
        if status.message.as_deref() == Some("half") {
            let _ = self.0.lock().unwrap().send(status.percent_complete);
        }
    }
}

fn read(stream: &TcpStream) -> Value {
    let (mut reader, mut length) = (BufReader::new(stream), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    serde_json::from_slice(&body).unwrap_or_default()
}

/// Answers a call only after the report about it was heard.
fn answer(mut stream: TcpStream, heard: &Mutex<mpsc::Receiver<Option<f32>>>) {
    let request = read(&stream);
    let result = match request["method"].as_str().unwrap_or_default() {
        "initialize" => json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "http", "version": "1"}}),
        "tools/list" => json!({"tools": [{"name": "work", "inputSchema": {"type": "object"}}]}),
        _ => json!({"content": [{"type": "text", "text": "done"}]}),
    };
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    if request["method"] == "tools/call" {
        let token = &request["params"]["_meta"]["progressToken"];
        let report = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params":
            {"progressToken": token, "progress": 1, "total": 2, "message": "half"}});
        stream
            .write_all(format!("data: {report}\n\n").as_bytes())
            .unwrap();
        if heard.lock().unwrap().recv_timeout(PATIENCE) != Ok(Some(50.0)) {
            return;
        }
    }
    let message = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
    let _ = stream.write_all(format!("data: {message}\n\n").as_bytes());
}

#[tokio::test]
async fn progress_over_http_reaches_the_pipeline_before_the_answer_is_sent() {
    let (sender, heard) = mpsc::channel();
    let heard = Arc::new(Mutex::new(heard));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let heard = Arc::clone(&heard);
            thread::spawn(move || answer(stream, &heard));
        }
    });
    let server = Server {
        id: "s".to_owned(),
        reach: Reach::Url(HttpServer {
            url: format!("http://{address}/mcp"),
            headers: Vec::new(),
            net: Net::hosts([address.parse().unwrap()]),
        }),
        startup: None,
    };
    let means = Means {
        http: Some(Arc::new(McpExchange::new(Arc::new(|_, _| None)))),
        ..Means::default()
    };
    let servers = Arc::new(Servers::new([server], means));
    let never = CancellationToken::new();
    let listed = servers.list_tools("s", &never).await.unwrap();
    let digest = listed.get("work").unwrap().digest();
    let mut tool = ToolDefinition::native("work", Box::new(Nobody), Request::default());
    tool.body = Body::Server(ServerTool {
        servers,
        server: "s".to_owned(),
        tool: "work".to_owned(),
        digest,
        told: listed,
    });
    let held = tempfile::tempdir().unwrap();
    let policy: PolicyConfig = serde_json::from_str(ALL).unwrap();
    let caller = Caller {
        events: Some(Arc::new(Watcher(Mutex::new(sender)))),
        ..Caller::default()
    };
    let host = Host::builder(held.path().into(), policy.to_policy().unwrap());
    let host = host.caller(caller).build();
    let answer = said(&tool, call(json!({})), &host).await;
    assert_eq!(answer, Ok("done".to_owned()));
}
