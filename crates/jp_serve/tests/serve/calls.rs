//! Tools are listed with what is true of them, and called with all that a result can be.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::kit::{User, modern};

fn tool<'a>(list: &'a Value, name: &str) -> &'a Value {
    let tools = list["result"]["tools"].as_array().unwrap();
    let found = tools.iter().find(|tool| tool["name"] == name);
    found.unwrap_or_else(|| panic!("{name} is not among {tools:?}"))
}

#[tokio::test]
async fn tools_are_listed_in_order_with_facts_from_their_grants() {
    let user = User::new();
    user.bring("parts");
    let mut client = user.client();
    let hello = client.hello("2025-11-25", json!({})).await;
    assert_eq!(hello["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(hello["result"]["serverInfo"]["name"], "jp");
    let instructions = hello["result"]["instructions"].as_str().unwrap();
    assert!(instructions.contains("run inside jp"), "{instructions}");
    let list = client.ask("tools/list", json!({})).await;
    let names: Vec<_> = list["result"]["tools"].as_array().unwrap().iter().collect();
    let names: Vec<_> = names
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(names.is_sorted() && names.contains(&"bash"), "{names:?}");
    let facts = &tool(&list, "parts")["annotations"];
    assert_eq!(
        *facts,
        json!({"readOnlyHint": true, "openWorldHint": false})
    );
    assert_eq!(tool(&list, "parts")["inputSchema"]["type"], "object");
    // What an older client does not know is not sent to it.
    assert_eq!(list["result"].get("ttlMs"), None, "{list}");
}

#[tokio::test]
async fn a_client_of_the_newest_revision_needs_no_handshake() {
    let user = User::new();
    let mut client = user.client();
    let found = client
        .ask("server/discover", modern(json!({}), json!({})))
        .await;
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    for version in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        assert!(versions.contains(&json!(version)), "{found}");
    }
    let instructions = found["result"]["instructions"].as_str().unwrap();
    assert!(instructions.contains("run inside jp"), "{instructions}");
    let list = client.ask("tools/list", modern(json!({}), json!({}))).await;
    assert_eq!(list["result"]["resultType"], "complete");
    assert_eq!(list["result"]["cacheScope"], "private");
    assert!(list["result"]["ttlMs"].as_u64().is_some_and(|ttl| ttl > 0));
    let arguments = json!({"name": "bash", "arguments": {"commands": "echo hi"}});
    let answer = client.ask("tools/call", modern(arguments, json!({}))).await;
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(answer["result"]["isError"], false);
}

#[tokio::test]
async fn results_keep_their_kind_and_calls_are_recorded() {
    let user = User::new();
    user.bring("parts");
    let mut client = user.client();
    client.hello("2025-06-18", json!({})).await;
    let answer = client.call("parts", json!({"do": "all"})).await;
    let result = &answer["result"];
    let kinds: Vec<_> = result["content"].as_array().unwrap().iter().collect();
    let kinds: Vec<_> = kinds
        .iter()
        .map(|part| part["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "text",
            "image",
            "audio",
            "resource",
            "resource",
            "resource_link"
        ]
    );
    assert_eq!(result["content"][1]["data"], "AAAA");
    assert_eq!(result["content"][1]["annotations"]["priority"], 0.5);
    assert_eq!(result["content"][4]["resource"]["blob"], "Ag==");
    assert_eq!(result["content"][5]["title"], "X");
    assert_eq!(result["structuredContent"], json!({"sum": 3}));
    assert_eq!(result["isError"], false);
    let no = client.call("parts", json!({"do": "no"})).await;
    assert_eq!(no["result"]["isError"], true, "{no}");
    assert_eq!(user.records(), ["ada parts success", "ada parts error"]);
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_of_the_protocol_and_a_limit_one_of_the_tool() {
    let user = User::new();
    user.configure("[conversation.tools.bash]\nsource = 'builtin'\nlimits.time = '200ms'\n");
    let mut client = user.client();
    client.hello("2025-11-25", json!({})).await;
    let unknown = client.call("nothing", json!({})).await;
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let spin = client
        .call("bash", json!({"commands": "while :; do :; done"}))
        .await;
    assert_eq!(spin["result"]["isError"], true, "{spin}");
    let text = spin["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("time") && text.len() < 8_000, "{text}");
    let invalid = client.call("bash", json!({"command": 5})).await;
    assert_eq!(invalid["result"]["isError"], true, "{invalid}");
}

#[tokio::test]
async fn a_cancelled_call_stops_and_the_connection_goes_on() {
    let user = User::new();
    let mut client = user.client();
    client.hello("2025-11-25", json!({})).await;
    let arguments = json!({"commands": "sleep 300"});
    let params = json!({"name": "bash", "arguments": arguments, "_meta": {"progressToken": "p"}});
    let id = client.request("tools/call", params).await;
    let listed = client.ask("tools/list", json!({})).await;
    assert!(listed.get("result").is_some());
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": id, "reason": "enough"}});
    client.send(&cancel).await;
    let before = Instant::now();
    while user.records().is_empty() {
        assert!(
            before.elapsed() < Duration::from_secs(30),
            "the call goes on"
        );
        tokio::task::yield_now().await;
    }
    assert_eq!(user.records(), ["ada bash cancelled"]);
    let again = client
        .call("bash", json!({"commands": "echo still here"}))
        .await;
    assert_eq!(again["result"]["isError"], false);
}

#[tokio::test]
async fn progress_grows_and_what_is_printed_is_logged_for_those_who_ask() {
    let user = User::new();
    user.bring("described");
    let mut client = user.client();
    client.hello("2025-11-25", json!({})).await;
    let level = client
        .ask("logging/setLevel", json!({"level": "info"}))
        .await;
    assert!(level.get("result").is_some(), "{level}");
    let params = json!({"name": "bash", "arguments": {"commands": "echo one; echo two"},
        "_meta": {"progressToken": 7}});
    let answer = client.ask("tools/call", params).await;
    assert_eq!(answer["result"]["isError"], false);
    let printed = client
        .heard
        .iter()
        .filter(|said| said["method"] == "notifications/message");
    let printed: String = printed
        .map(|said| said["params"]["data"]["text"].as_str().unwrap())
        .collect();
    assert_eq!(printed, "one\ntwo\n");
    client.heard.clear();
    let params = json!({"name": "described", "arguments": {"calls": []},
        "_meta": {"progressToken": 8}});
    client.ask("tools/call", params).await;
    let progress = client
        .heard
        .iter()
        .filter(|said| said["method"] == "notifications/progress");
    let progress: Vec<f64> = progress
        .inspect(|said| assert_eq!(said["params"]["progressToken"], 8))
        .map(|said| said["params"]["progress"].as_f64().unwrap())
        .collect();
    assert!(!progress.is_empty(), "{:?}", client.heard);
    assert!(progress.is_sorted_by(|a, b| a < b), "{progress:?}");
}

#[tokio::test]
async fn a_changed_configuration_is_noticed_by_the_next_request() {
    let user = User::new();
    let mut client = user.client();
    client.hello("2025-11-25", json!({})).await;
    client.ask("tools/list", json!({})).await;
    user.bring("parts");
    let list = client.ask("tools/list", json!({})).await;
    tool(&list, "parts");
    let answer = client.call("parts", json!({"do": "all"})).await;
    assert_eq!(answer["result"]["isError"], false);
}

#[tokio::test]
async fn names_with_dots_are_called_by_the_form_that_models_see() {
    let user = User::new();
    user.configure("[conversation.tools.\"text.shell\"]\nsource = 'builtin.bash'\n");
    let mut client = user.client();
    client.hello("2025-11-25", json!({})).await;
    let list = client.ask("tools/list", json!({})).await;
    tool(&list, "text__shell");
    let answer = client
        .call("text__shell", json!({"commands": "true"}))
        .await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert_eq!(user.records(), ["ada text.shell success"]);
}

#[tokio::test]
async fn what_a_tool_says_of_itself_is_listed_as_soon_as_it_was_asked() {
    let user = User::new();
    user.bring("parts");
    let mut client = user.client();
    client.hello("2025-11-25", json!({})).await;
    let before = Instant::now();
    let shown = loop {
        let list = client.ask("tools/list", json!({})).await;
        let shown = tool(&list, "parts").clone();
        if shown.get("title").is_some() {
            break shown;
        }
        // The list did not wait for it, and says nothing that may be wrong.
        assert_eq!(shown["inputSchema"], json!({"type": "object"}));
        assert!(before.elapsed() < Duration::from_secs(60), "{shown}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert_eq!(shown["title"], "All parts");
    assert_eq!(shown["description"], "Answers in parts.");
    assert_eq!(shown["outputSchema"]["required"], json!(["sum"]));
    assert_eq!(shown["annotations"]["readOnlyHint"], true);
    // Being asked what it is is no call.
    assert!(user.records().is_empty());
}

#[tokio::test]
async fn a_result_says_how_long_it_took_what_it_used_and_which_record_it_left() {
    let user = User::new();
    user.bring("parts");
    let mut client = user.client();
    client.hello("2025-11-25", json!({})).await;
    client.call("bash", json!({"commands": "true"})).await;
    let answer = client.call("parts", json!({"do": "all"})).await;
    let about = &answer["result"]["_meta"]["jp/call"];
    assert!(about["durationMs"].is_u64(), "{answer}");
    assert!(
        about["fuel"].as_u64().is_some_and(|fuel| fuel > 0),
        "{answer}"
    );
    let uri = format!("jp://audit/{}", about["record"]);
    let read = client.ask("resources/read", json!({ "uri": uri })).await;
    let text = read["result"]["contents"][0]["text"].as_str().unwrap();
    let record: Value = serde_json::from_str(text).unwrap();
    assert_eq!(record["tool"], "parts", "{record}");
    assert_eq!(record["fuel"], about["fuel"]);
    // What was refused has one too.
    let denied = client.call("bash", json!({"commands": 7})).await;
    let number = denied["result"]["_meta"]["jp/call"]["record"].as_u64();
    assert!(number > about["record"].as_u64(), "{denied}");
}

#[tokio::test]
async fn clients_that_defer_tools_are_told_what_is_true_of_them() {
    let user = User::new();
    user.configure(
        "[conversation.tools.bash]\nsource = 'builtin'\nenable = 'always'\nlimits.output = 20000\n",
    );
    let mut client = user.client();
    client.hello("2025-11-25", json!({})).await;
    let list = client.ask("tools/list", json!({})).await;
    let meta = &tool(&list, "bash")["_meta"];
    assert_eq!(meta["anthropic/alwaysLoad"], true, "{meta}");
    assert_eq!(meta["anthropic/maxResultSizeChars"], 20_000);
    let hint = meta["anthropic/searchHint"].as_str().unwrap();
    assert!(!hint.is_empty() && hint.chars().count() <= 200, "{hint}");
    user.configure("");
    let list = client.ask("tools/list", json!({})).await;
    let meta = &tool(&list, "bash")["_meta"];
    assert_eq!(meta.get("anthropic/alwaysLoad"), None, "{meta}");
    assert_eq!(meta.get("anthropic/maxResultSizeChars"), None, "{meta}");
}
