//! Prompts of the configuration and of the knowledge base, and what can be completed.

use serde_json::{Value, json};

use crate::kit::{Client, User, modern};

fn user() -> User {
    let user = User::new();
    user.write("kb/rust/errors.md", "# Errors");
    user.write("kb/rust/traits.md", "# Traits");
    user.write("kb/go/errors.md", "# Errors");
    user.write("picture.png", [1, 2, 3]);
    user.configure(
        r#"
[kb.topic.rust]
subjects = "kb/rust"
[kb.topic.go]
subjects = "kb/go"
[serve.resources.readme]
uri = "docs://readme"
text = "Read me"
[serve.resources.page]
uri_template = "docs://page/{id}"
text = "Page {id}"
[serve.prompts.review]
title = "Review"
description = "Reviews a change"
arguments = [
    { name = "focus", description = "What to look at", required = true, values = ["speed", "safety", "style"] },
    { name = "tone" },
]
messages = [
    { role = "user", text = "Look at {focus}, {tone}; not at {nothing}." },
    { role = "user", image = "picture.png", mime_type = "image/png" },
    { role = "assistant", resource = "docs://page/{focus}" },
]
[serve.prompts.asking]
arguments = [{ name = "why", required = true, ask = "Why is that?" }]
messages = [{ role = "user", text = "Because {why}." }]
[serve.prompts.simple]
messages = [{ role = "user", text = "Hello" }]
"#,
    );
    user
}

async fn old_client(user: &User) -> Client {
    let mut client = user.client();
    client.hello("2025-11-25", json!({})).await;
    client
}

async fn get(client: &mut Client, name: &str, arguments: Value) -> Value {
    let params = json!({"name": name, "arguments": arguments});
    client.ask("prompts/get", params).await
}

#[tokio::test]
async fn prompts_are_listed_with_their_arguments_for_both_revisions() {
    let user = user();
    let mut client = user.client();
    let hello = client.hello("2025-11-25", json!({})).await;
    let offered = &hello["result"]["capabilities"];
    assert_eq!(offered["prompts"], json!({"listChanged": true}), "{hello}");
    assert!(offered["completions"].is_object(), "{hello}");
    let list = client.ask("prompts/list", json!({})).await;
    let prompts = list["result"]["prompts"].as_array().unwrap();
    let names: Vec<&str> = prompts
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["asking", "knowledge", "review", "simple"]);
    assert_eq!(prompts[2]["title"], "Review");
    assert_eq!(
        prompts[2]["arguments"],
        json!([
            {"name": "focus", "description": "What to look at", "required": true},
            {"name": "tone", "required": false},
        ])
    );
    assert_eq!(list["result"].get("ttlMs"), None);
    let mut newer = user.client();
    let list = newer
        .ask("prompts/list", modern(json!({}), json!({})))
        .await;
    assert!(
        list["result"]["ttlMs"].as_u64().is_some_and(|ttl| ttl > 0),
        "{list}"
    );
    assert_eq!(list["result"]["cacheScope"], "private");
}

#[tokio::test]
async fn a_prompt_is_made_of_its_messages_and_arguments() {
    let user = user();
    let mut client = old_client(&user).await;
    let answer = get(
        &mut client,
        "review",
        json!({"focus": "{tone}", "tone": "kindly"}),
    )
    .await;
    // The value of an argument is not looked into, and is no address.
    assert_eq!(answer["error"]["code"], -32002, "{answer}");
    let answer = get(&mut client, "review", json!({"focus": "speed"})).await;
    let result = &answer["result"];
    assert_eq!(result["description"], "Reviews a change");
    assert_eq!(
        result["messages"],
        json!([
            {"role": "user", "content": {"type": "text", "text": "Look at speed, ; not at {nothing}."}},
            {"role": "user", "content": {"type": "image", "data": "AQID", "mimeType": "image/png"}},
            {"role": "assistant", "content": {"type": "resource", "resource": {
                "uri": "docs://page/speed", "mimeType": "text/plain", "text": "Page speed"}}},
        ])
    );
    let mut newer = user.client();
    let params = modern(json!({"name": "simple"}), json!({}));
    let answer = newer.ask("prompts/get", params).await;
    assert_eq!(
        answer["result"]["messages"][0]["content"]["text"], "Hello",
        "{answer}"
    );
    assert_eq!(answer["result"]["resultType"], "complete");
}

#[tokio::test]
async fn wrong_arguments_are_named() {
    let user = user();
    let mut client = old_client(&user).await;
    for (name, arguments, words) in [
        ("review", json!({}), "missing argument `focus`"),
        (
            "review",
            json!({"focus": 7}),
            "invalid argument `focus`: expected a text",
        ),
        ("review", json!({"focus": null}), "invalid argument `focus`"),
        (
            "review",
            json!({"focus": "a", "other": "b"}),
            "unknown argument `other`",
        ),
        ("simple", json!({"x": "y"}), "unknown argument `x`"),
        ("nothing", json!({}), "unknown prompt `nothing`"),
        ("", json!({}), "unknown prompt"),
    ] {
        let answer = get(&mut client, name, arguments).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(words), "{message}");
    }
}

#[tokio::test]
async fn a_prompt_has_an_end_however_often_it_names_an_argument() {
    let user = User::new();
    let text = "{a}".repeat(100_000);
    user.configure(&format!(
        "[serve.prompts.bomb]\narguments = [{{ name = 'a' }}]\nmessages = [{{ role = 'user', text = '{text}' }}]\n"
    ));
    let mut client = old_client(&user).await;
    let answer = get(&mut client, "bomb", json!({"a": "x".repeat(100_000)})).await;
    assert_eq!(answer["error"]["code"], -32602);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("prompt too large"), "{message}");
}

#[tokio::test]
async fn the_knowledge_base_is_a_prompt_where_there_is_one() {
    let user = user();
    let mut client = old_client(&user).await;
    let answer = get(&mut client, "knowledge", json!({})).await;
    let text = answer["result"]["messages"][0]["content"]["text"]
        .as_str()
        .unwrap();
    assert!(
        text.contains("<knowledge>") && text.contains("rust"),
        "{text}"
    );
    let without = User::new();
    let mut client = old_client(&without).await;
    let list = client.ask("prompts/list", json!({})).await;
    assert_eq!(list["result"]["prompts"], json!([]));
    let answer = get(&mut client, "knowledge", json!({})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

async fn complete(client: &mut Client, of: Value, name: &str, value: &str) -> Value {
    let params = json!({"ref": of, "argument": {"name": name, "value": value}});
    client.ask("completion/complete", params).await
}

fn family(uri: &str) -> Value {
    json!({"type": "ref/resource", "uri": uri})
}

fn prompt(name: &str) -> Value {
    json!({"type": "ref/prompt", "name": name})
}

#[tokio::test]
async fn arguments_and_variables_are_completed() {
    let user = user();
    let mut client = old_client(&user).await;
    client.call("bash", json!({"commands": "echo 1"})).await;
    let subjects = || family("jp://knowledge/{topic}/{subject}");
    for (of, name, value, expected) in [
        (
            prompt("review"),
            "focus",
            "",
            json!(["speed", "safety", "style"]),
        ),
        (
            prompt("review"),
            "focus",
            "S",
            json!(["speed", "safety", "style"]),
        ),
        (prompt("review"), "focus", "sp", json!(["speed"])),
        (prompt("review"), "tone", "x", json!([])),
        (subjects(), "topic", "", json!(["go", "rust"])),
        (subjects(), "subject", "", json!(["errors", "traits"])),
        (family("jp://tool/{name}"), "name", "bas", json!(["bash"])),
        (family("docs://page/{id}"), "id", "", json!([])),
    ] {
        let answer = complete(&mut client, of, name, value).await;
        let found = &answer["result"]["completion"];
        assert_eq!(found["values"], expected, "{answer}");
        assert_eq!(found["total"], expected.as_array().unwrap().len());
        assert_eq!(found["hasMore"], false);
    }
    let numbers = complete(&mut client, family("jp://audit/{number}"), "number", "").await;
    let numbers = numbers["result"]["completion"]["values"]
        .as_array()
        .unwrap()
        .clone();
    assert_eq!(numbers.len(), 1);
    // What was chosen already narrows what is left.
    let params = json!({"ref": subjects(), "argument": {"name": "subject", "value": ""},
        "context": {"arguments": {"topic": "go"}}});
    let answer = client.ask("completion/complete", params).await;
    assert_eq!(
        answer["result"]["completion"]["values"],
        json!(["errors"]),
        "{answer}"
    );
}

#[tokio::test]
async fn what_cannot_be_completed_is_an_error() {
    let user = user();
    let mut client = old_client(&user).await;
    for (of, name) in [
        (prompt("nothing"), "focus"),
        (prompt("review"), "nothing"),
        (prompt("knowledge"), "x"),
        (family("docs://page/{id}"), "other"),
        (family("docs://readme"), "id"),
        (family("jp://audit/{number}"), "id"),
        (family("test://unknown/{id}"), "id"),
    ] {
        let answer = complete(&mut client, of, name, "").await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

#[tokio::test]
async fn at_most_a_hundred_suggestions_are_sent() {
    let user = User::new();
    for n in 0..250 {
        user.write(&format!("kb/s{n:03}.md"), "x");
    }
    user.configure("[kb.topic.t]\nsubjects = 'kb'\n");
    let mut client = old_client(&user).await;
    let subjects = family("jp://knowledge/{topic}/{subject}");
    let answer = complete(&mut client, subjects, "subject", "s").await;
    let found = &answer["result"]["completion"];
    assert_eq!(found["values"].as_array().unwrap().len(), 100);
    assert_eq!(
        (&found["total"], &found["hasMore"]),
        (&json!(250), &json!(true))
    );
}

fn asking(responses: Option<Value>) -> Value {
    let mut params = json!({"name": "asking"});
    if let Some(responses) = responses {
        params["inputResponses"] = responses;
    }
    modern(params, json!({"elicitation": {}}))
}

#[tokio::test]
async fn a_newer_client_is_asked_for_an_argument_that_was_left_out() {
    let user = user();
    let mut client = user.client();
    let answer = client.ask("prompts/get", asking(None)).await;
    let result = &answer["result"];
    assert_eq!(result["resultType"], "input_required", "{answer}");
    let request = &result["inputRequests"]["why"];
    assert_eq!(request["method"], "elicitation/create");
    assert_eq!(request["params"]["message"], "Why is that?");
    assert_eq!(
        request["params"]["requestedSchema"]["required"],
        json!(["why"])
    );
    let accepted = json!({"why": {"action": "accept", "content": {"why": "of {why}"}}});
    let answer = client.ask("prompts/get", asking(Some(accepted))).await;
    let text = &answer["result"]["messages"][0]["content"]["text"];
    assert_eq!(text, "Because of {why}.", "{answer}");
    // What is no answer is asked for again; a person who declines ends it.
    let wrong = json!({"why": {"action": "accept", "content": {"why": 7}}});
    let answer = client.ask("prompts/get", asking(Some(wrong))).await;
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    let declined = json!({"why": {"action": "decline"}});
    let answer = client.ask("prompts/get", asking(Some(declined))).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[tokio::test]
async fn an_older_client_is_asked_while_its_request_waits() {
    let user = user();
    let mut client = user.client();
    client.hello("2025-11-25", json!({"elicitation": {}})).await;
    let list = client.ask("prompts/list", json!({})).await;
    let prompts = list["result"]["prompts"].as_array().unwrap();
    let shown = prompts.iter().find(|one| one["name"] == "asking").unwrap();
    assert_eq!(shown["arguments"][0]["required"], false);
    let id = client
        .request("prompts/get", json!({"name": "asking"}))
        .await;
    let asked = client.hear().await;
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    let answer = json!({"action": "accept", "content": {"why": "I say so"}});
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer});
    client.send(&answer).await;
    let answer = client.answer(id).await;
    let text = &answer["result"]["messages"][0]["content"]["text"];
    assert_eq!(text, "Because I say so.", "{answer}");
}

#[tokio::test]
async fn an_argument_that_nobody_can_be_asked_for_is_missing() {
    let user = user();
    let mut client = old_client(&user).await;
    let answer = get(&mut client, "asking", json!({})).await;
    let message = answer["error"]["message"].as_str().unwrap();
    assert_eq!(message, "missing argument `why`");
}
