//! What servers want to know from a person: of both revisions, for the right call, and of nobody else.

use std::{
    sync::{Mutex, mpsc},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use jp_broker::mcp::{Call, Called, McpError, Respond, Servers};
use jp_tool::Form;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    kit::{pool, server},
    server::{Seen, write},
    streamer::{PATIENCE, Wire, scripted},
};

/// A person with answers.
#[derive(Default)]
struct Person {
    answers: Option<Value>,
    asked: Mutex<Vec<Form>>,
}

#[async_trait]
impl Respond for Person {
    fn known(&self, form: &Form) -> Option<Map<String, Value>> {
        self.asked.lock().unwrap().push(form.clone());
        self.answers.as_ref()?.as_object().cloned()
    }

    async fn respond(&self, form: &Form) -> Option<Map<String, Value>> {
        self.known(form)
    }
}

async fn call(pool: &Servers, person: &Person) -> Result<Called, McpError> {
    let call = Call {
        tool: "work",
        arguments: Map::new(),
        digest: None,
        deadline: Instant::now() + Duration::from_secs(300),
        cancel: &CancellationToken::new(),
        max_result: 1_000_000,
        trace: None,
        progress: &|_| {},
        respond: person,
    };
    pool.call("a", &call).await
}

fn wanted() -> Value {
    json!({"message": "Which branch?", "requestedSchema": {"type": "object", "properties": {
        "branch": {"type": "string", "default": "main"}, "sure": {"type": "boolean"},
    }, "required": ["sure"]}})
}

fn reply(wire: &mut Wire, request: &Seen, result: &Value) {
    let message = json!({"jsonrpc": "2.0", "id": request.body["id"], "result": result});
    let status = "200 OK\r\nMcp-Session-Id: s3ssion";
    write(
        &mut wire.stream,
        status,
        "application/json",
        &message.to_string(),
    );
}

/// Starts a server with a handshake that asks over its stream of its own, and answers a call with what it
/// was told.
fn asking() -> crate::server::Served {
    let (ask, asked) = mpsc::channel::<Value>();
    let (tell, told) = mpsc::channel::<Value>();
    let (asked, told) = (Mutex::new(asked), Mutex::new(told));
    scripted(move |wire, request| {
        if request.head.starts_with("GET ") {
            wire.open();
            let Ok(message) = asked.lock().unwrap().recv_timeout(PATIENCE) else {
                return;
            };
            wire.event(&message);
            return wire.wait_for_the_end();
        }
        match request.method() {
            "initialize" => {
                let answer = request.answer().unwrap();
                reply(wire, request, &answer["result"]);
            }
            "tools/call" => {
                let message = json!({"jsonrpc": "2.0", "id": "q1", "method": "elicitation/create",
                    "params": wanted()});
                ask.send(message).unwrap();
                let answer = told.lock().unwrap().recv_timeout(PATIENCE).unwrap();
                let text = json!({"type": "text", "text": answer["result"].to_string()});
                reply(wire, request, &json!({"content": [text]}));
            }
            "" if request.body["id"] == "q1" => {
                tell.send(request.body.clone()).unwrap();
                wire.plainly(&Seen {
                    head: String::new(),
                    body: json!({}),
                });
            }
            _ => wire.plainly(request),
        }
    })
}

#[tokio::test]
async fn a_server_that_asks_during_a_call_is_told_what_its_caller_says_and_the_defaults() {
    let served = asking();
    let pool = pool(vec![server("a", &served, &[])]);
    let person = Person {
        answers: Some(json!({"sure": true})),
        ..Person::default()
    };
    let text = call(&pool, &person).await.unwrap().text();
    let told: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        told,
        json!({"action": "accept", "content": {"branch": "main", "sure": true}})
    );
    let asked = person.asked.lock().unwrap();
    assert_eq!(asked[0].text, "MCP server `a` asks: Which branch?");
}

#[tokio::test]
async fn a_server_that_asks_where_nobody_answers_is_told_so_and_the_call_ends_with_the_question() {
    let served = asking();
    let pool = pool(vec![server("a", &served, &[])]);
    let called = call(&pool, &Person::default()).await.unwrap();
    assert_eq!(called.wants.len(), 1);
    assert_eq!(called.text(), "");
    let seen = served.seen.lock().unwrap();
    let mut told = seen.iter().filter(|one| one.body["id"] == "q1");
    assert_eq!(
        told.next().unwrap().body["result"],
        json!({"action": "cancel"})
    );
}

#[tokio::test]
async fn a_tool_of_the_newer_revision_is_called_again_with_answers_and_with_its_state() {
    let served = scripted(|wire, request| match request.method() {
        "server/discover" => reply(
            wire,
            request,
            &json!({
                "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
            }),
        ),
        "tools/list" => reply(
            wire,
            request,
            &json!({"resultType": "complete", "ttlMs": 0,
            "cacheScope": "private", "tools": [{"name": "work", "inputSchema": {"type": "object"}}]}),
        ),
        "tools/call" => {
            let params = &request.body["params"];
            match params["inputResponses"].is_null() {
                true => reply(
                    wire,
                    request,
                    &json!({"resultType": "input_required",
                    "requestState": "opaque", "inputRequests":
                        {"q": {"method": "elicitation/create", "params": wanted()}}}),
                ),
                false => {
                    let said =
                        json!([params["inputResponses"], params["requestState"]]).to_string();
                    reply(
                        wire,
                        request,
                        &json!({"resultType": "complete",
                        "content": [{"type": "text", "text": said}]}),
                    );
                }
            }
        }
        _ => wire.plainly(request),
    });
    let pool = pool(vec![server("a", &served, &[])]);
    let unknown = call(&pool, &Person::default()).await.unwrap();
    assert_eq!(unknown.wants.len(), 1);
    assert_eq!(unknown.wants[0].questions.len(), 2);
    let person = Person {
        answers: Some(json!({"branch": "dev", "sure": false})),
        ..Person::default()
    };
    let text = call(&pool, &person).await.unwrap().text();
    let said: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        said[0]["q"]["content"],
        json!({"branch": "dev", "sure": false})
    );
    assert_eq!(said[1], "opaque");
    // Nobody was greeted in the older way, and each message says all of itself.
    assert!(served.of("initialize").is_empty());
    let meta = &served.of("tools/call")[0].body["params"]["_meta"];
    assert_eq!(
        meta["io.modelcontextprotocol/protocolVersion"],
        "2026-07-28"
    );
}
