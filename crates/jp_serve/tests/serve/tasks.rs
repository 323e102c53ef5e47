//! Long calls become tasks: only their owner knows them, what they ask is answered, and cancel stops them.

use std::time::Duration;

use serde_json::{Value, json};

use crate::kit::{Client, User, modern};

fn all() -> Value {
    json!({"elicitation": {}, "sampling": {}, "roots": {},
        "extensions": {"io.modelcontextprotocol/tasks": {}}})
}

/// A user whose tools become tasks as a word of the configuration says.
fn user(mode: &str) -> User {
    let user = User::new();
    user.bring("parts");
    let path = user.root.join(".jp/config.toml");
    let config = std::fs::read_to_string(path).unwrap();
    user.configure(&format!(
        "{config}task = '{mode}'\n[conversation.tools.bash]\nsource = 'builtin'\ntask = '{mode}'\n"
    ));
    user
}

async fn ask(client: &mut Client, method: &str, params: Value) -> Value {
    client.ask(method, modern(params, all())).await
}

async fn bash(client: &mut Client, commands: &str) -> Value {
    let params = json!({"name": "bash", "arguments": {"commands": commands}});
    ask(client, "tools/call", params).await
}

fn id(created: &Value) -> String {
    assert_eq!(created["result"]["resultType"], "task", "{created}");
    created["result"]["taskId"].as_str().unwrap().to_owned()
}

/// Looks at a task until its status is no longer this one.
async fn after(client: &mut Client, id: &str, status: &str) -> Value {
    loop {
        let task = ask(client, "tasks/get", json!({"taskId": id})).await;
        assert!(task.get("error").is_none(), "{task}");
        if task["result"]["status"] != status {
            return task["result"].clone();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_call_becomes_a_task_and_its_result_is_found_there() {
    let user = user("always");
    let mut client = Client::of(&user.keeping("ada"));
    let created = bash(&mut client, "echo done").await;
    let id = id(&created);
    assert!(created["result"]["ttlMs"].as_u64().unwrap() > 0);
    assert!(created["result"].get("requestState").is_none());
    let task = after(&mut client, &id, "working").await;
    assert_eq!(task["status"], "completed", "{task}");
    assert_eq!(task["result"]["isError"], false, "{task}");
    assert!(
        task["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("done")
    );
    // What a tool refuses is a result too.
    let created = bash(&mut client, "").await;
    let params = json!({"name": "parts", "arguments": {"do": "no"}});
    let refused = ask(&mut client, "tools/call", params).await;
    for created in [created, refused] {
        let task = after(&mut client, &self::id(&created), "working").await;
        assert_eq!(task["status"], "completed", "{task}");
    }
}

#[tokio::test]
async fn a_task_is_its_owners_alone() {
    let user = user("always");
    let mut ada = Client::of(&user.keeping("ada"));
    let mut bob = Client::of(&user.keeping("bob"));
    let id = id(&bash(&mut ada, "sleep 300").await);
    let update = json!({"taskId": id, "inputResponses": {}});
    for (method, params) in [
        ("tasks/get", json!({"taskId": id})),
        ("tasks/update", update),
        ("tasks/cancel", json!({"taskId": id})),
        ("tasks/get", json!({"taskId": "../../etc/passwd"})),
    ] {
        let answer = ask(&mut bob, method, params).await;
        assert_eq!(answer["error"]["code"], -32602, "{method}: {answer}");
    }
    let task = ask(&mut ada, "tasks/get", json!({"taskId": id})).await;
    assert_eq!(task["result"]["status"], "working");
    ask(&mut ada, "tasks/cancel", json!({"taskId": id})).await;
}

#[tokio::test]
async fn a_cancelled_task_stops_and_stays_cancelled() {
    let user = user("always");
    let mut client = Client::of(&user.keeping("ada"));
    let id = id(&bash(&mut client, "sleep 300").await);
    let acked = ask(&mut client, "tasks/cancel", json!({"taskId": id})).await;
    assert_eq!(acked["result"]["resultType"], "complete", "{acked}");
    assert!(acked["result"].get("taskId").is_none());
    let task = after(&mut client, &id, "working").await;
    assert_eq!(task["status"], "cancelled");
    while user.records().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(user.records(), ["ada bash cancelled"]);
    let again = ask(&mut client, "tasks/cancel", json!({"taskId": id})).await;
    assert_eq!(again["result"]["resultType"], "complete");
    assert_eq!(
        after(&mut client, &id, "working").await["status"],
        "cancelled"
    );
}

#[tokio::test]
async fn what_a_task_asks_is_answered_by_an_update() {
    let user = user("always");
    let mut client = Client::of(&user.keeping("ada"));
    let params = json!({"name": "parts", "arguments": {"do": "ask"}});
    let id = id(&ask(&mut client, "tools/call", params).await);
    let task = after(&mut client, &id, "working").await;
    assert_eq!(task["status"], "input_required", "{task}");
    assert_eq!(task["inputRequests"]["roots"]["method"], "roots/list");
    let some = json!({"roots": {"roots": [{"uri": "file:///w"}]}});
    ask(
        &mut client,
        "tasks/update",
        json!({"taskId": id, "inputResponses": some}),
    )
    .await;
    let rest = json!({
        "name": {"action": "accept", "content": {"name": "Ada"}},
        "sample": {"role": "assistant", "model": "m", "content": {"type": "text", "text": "4"}},
    });
    let acked = ask(
        &mut client,
        "tasks/update",
        json!({"taskId": id, "inputResponses": rest}),
    )
    .await;
    assert_eq!(acked["result"]["resultType"], "complete", "{acked}");
    let task = after(&mut client, &id, "working").await;
    assert_eq!(task["status"], "completed", "{task}");
    let answers = &task["result"]["structuredContent"]["answers"];
    assert_eq!(answers["name"], "Ada", "{task}");
    assert_eq!(answers["roots"][0]["uri"], "file:///w");
}

#[tokio::test]
async fn a_required_task_is_made_when_everything_is_known() {
    let user = user("required");
    let mut client = Client::of(&user.keeping("ada"));
    let params = json!({"name": "bash", "arguments": {"commands": "true"}});
    let refused = client.ask("tools/call", modern(params, json!({}))).await;
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    let mut call = json!({"name": "parts", "arguments": {"do": "ask"}});
    let asked = ask(&mut client, "tools/call", call.clone()).await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    call["requestState"] = asked["result"]["requestState"].clone();
    call["inputResponses"] = json!({
        "name": {"action": "accept", "content": {"name": "Alice"}},
        "sample": {"role": "assistant", "model": "m", "content": {"type": "text", "text": "4"}},
        "roots": {"roots": []},
    });
    let id = id(&ask(&mut client, "tools/call", call).await);
    let task = after(&mut client, &id, "working").await;
    assert_eq!(
        task["result"]["structuredContent"]["answers"]["name"], "Alice",
        "{task}"
    );
}

#[tokio::test]
async fn clients_that_know_no_tasks_get_results_and_no_task() {
    let user = user("always");
    let mut client = Client::of(&user.keeping("ada"));
    let params = json!({"name": "bash", "arguments": {"commands": "echo plain"}});
    let answer = client.ask("tools/call", modern(params, json!({}))).await;
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    let params = modern(
        json!({"taskId": "0123456789abcdef0123456789abcdef"}),
        json!({}),
    );
    let refused = client.ask("tasks/get", params).await;
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    let found = client
        .ask("server/discover", modern(json!({}), json!({})))
        .await;
    let extensions = &found["result"]["capabilities"]["extensions"];
    assert!(
        extensions.get("io.modelcontextprotocol/tasks").is_some(),
        "{found}"
    );
}

#[tokio::test]
async fn a_call_that_takes_long_becomes_a_task_by_itself() {
    let user = user("auto");
    let mut client = Client::of(&user.keeping("ada"));
    let quick = bash(&mut client, "echo quick").await;
    assert_eq!(quick["result"]["resultType"], "complete", "{quick}");
    let id = id(&bash(&mut client, "sleep 300").await);
    ask(&mut client, "tasks/cancel", json!({"taskId": id})).await;
    let never = self::user("never");
    let mut client = Client::of(&never.keeping("ada"));
    let answer = bash(&mut client, "sleep 3.5; echo late").await;
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
}

#[tokio::test]
async fn a_client_that_goes_away_before_there_is_a_task_stops_the_call() {
    let user = user("auto");
    let mut client = Client::of(&user.keeping("ada"));
    let params = json!({"name": "bash", "arguments": {"commands": "sleep 300"}});
    let id = client.request("tools/call", modern(params, all())).await;
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": id}});
    client.send(&cancel).await;
    while user.records().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(user.records(), ["ada bash cancelled"]);
}
