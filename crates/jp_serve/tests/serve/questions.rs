//! What tools ask reaches the client: while the call waits, or at its end.

use serde_json::{Value, json};

use crate::kit::{Client, User, modern};

fn all() -> Value {
    json!({"elicitation": {}, "sampling": {}, "roots": {}})
}

fn user() -> User {
    let user = User::new();
    user.bring("parts");
    user.bring("ask");
    user
}

/// Answers what a server asks while a call waits.
async fn serve_questions(client: &mut Client, id: u64) -> (Value, Vec<String>) {
    let mut asked = Vec::new();
    loop {
        let message = client.hear().await;
        if message.get("method").is_none() {
            assert_eq!(message["id"], id, "{message}");
            return (message, asked);
        }
        let Some(theirs) = message.get("id") else {
            continue;
        };
        let method = message["method"].as_str().unwrap();
        asked.push(method.to_owned());
        let result = match method {
            "elicitation/create" => json!({"action": "accept", "content": {"name": "Ada"}}),
            "sampling/createMessage" => json!({"role": "assistant", "model": "m",
                "content": {"type": "text", "text": "4"}}),
            "roots/list" => json!({"roots": [{"uri": "file:///w", "name": "w"}]}),
            other => panic!("{other}"),
        };
        client
            .send(&json!({"jsonrpc": "2.0", "id": theirs, "result": result}))
            .await;
    }
}

#[tokio::test]
async fn an_older_client_is_asked_while_the_call_waits() {
    let user = user();
    let mut client = user.client();
    client.hello("2025-11-25", all()).await;
    let params = json!({"name": "parts", "arguments": {"do": "ask"}});
    let id = client.request("tools/call", params).await;
    let (answer, asked) = serve_questions(&mut client, id).await;
    assert_eq!(
        asked,
        ["elicitation/create", "sampling/createMessage", "roots/list"]
    );
    let answers = &answer["result"]["structuredContent"]["answers"];
    assert_eq!(answers["name"], "Ada", "{answer}");
    assert_eq!(answers["sample"]["text"], "4");
    assert_eq!(answers["roots"][0]["uri"], "file:///w");
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_told_what_was_wanted() {
    let user = user();
    let mut client = user.client();
    client.hello("2025-11-25", json!({})).await;
    let answer = client.call("ask", json!({})).await;
    assert_eq!(answer["result"]["isError"], true);
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("Who are you?"), "{text}");
}

/// Makes a call whose answer is that input is required.
async fn required(client: &mut Client) -> (Value, String) {
    let params = modern(json!({"name": "parts", "arguments": {"do": "ask"}}), all());
    let answer = client.ask("tools/call", params).await;
    let result = &answer["result"];
    assert_eq!(result["resultType"], "input_required", "{answer}");
    let state = result["requestState"].as_str().unwrap().to_owned();
    (result["inputRequests"].clone(), state)
}

fn again(arguments: Value, state: &str, responses: Value) -> Value {
    let params = json!({"name": "parts", "arguments": arguments, "requestState": state,
        "inputResponses": responses});
    modern(params, all())
}

fn responses() -> Value {
    json!({
        "name": {"action": "accept", "content": {"name": "Ada"}},
        "sample": {"role": "assistant", "model": "m", "content": {"type": "text", "text": "4"}},
        "roots": {"roots": [{"uri": "file:///w"}]},
    })
}

#[tokio::test]
async fn a_newer_client_gets_what_is_wanted_and_calls_again_with_it_once() {
    let user = user();
    let mut client = user.client();
    let (requests, state) = required(&mut client).await;
    assert_eq!(requests["name"]["method"], "elicitation/create");
    assert_eq!(requests["sample"]["params"]["maxTokens"], 10);
    assert_eq!(requests["roots"]["method"], "roots/list");
    let arguments = json!({"do": "ask"});
    let answer = client
        .ask("tools/call", again(arguments.clone(), &state, responses()))
        .await;
    let answers = &answer["result"]["structuredContent"]["answers"];
    assert_eq!(answers["name"], "Ada", "{answer}");
    assert_eq!(answers["roots"][0]["uri"], "file:///w");
    // The state is spent.
    let replayed = client
        .ask("tools/call", again(arguments, &state, responses()))
        .await;
    assert_eq!(replayed["error"]["code"], -32602, "{replayed}");
}

#[tokio::test]
async fn e51_a_state_is_good_for_its_own_call_only() {
    let user = user();
    let mut client = user.client();
    let (_, state) = required(&mut client).await;
    let other = again(json!({"do": "all"}), &state, responses());
    let answer = client.ask("tools/call", other).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let mut tampered = state.clone().into_bytes();
    tampered[20] ^= 1;
    let tampered = String::from_utf8(tampered).unwrap();
    let answer = client
        .ask(
            "tools/call",
            again(json!({"do": "ask"}), &tampered, responses()),
        )
        .await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    // A state of another server opens nothing here.
    let mut others = user.client();
    let (_, foreign) = required(&mut others).await;
    let answer = client
        .ask(
            "tools/call",
            again(json!({"do": "ask"}), &foreign, responses()),
        )
        .await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let answer = client
        .ask(
            "tools/call",
            again(json!({"do": "ask"}), &state, responses()),
        )
        .await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
}

#[tokio::test]
async fn a_person_who_declines_ends_the_call() {
    let user = user();
    let mut client = user.client();
    let (_, state) = required(&mut client).await;
    let mut responses = responses();
    responses["name"] = json!({"action": "decline"});
    let answer = client
        .ask("tools/call", again(json!({"do": "ask"}), &state, responses))
        .await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("declined"), "{text}");
}
