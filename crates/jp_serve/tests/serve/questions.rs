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
async fn e54_a_state_that_is_tampered_replayed_or_not_the_callers_is_refused() {
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
    let replayed = again(json!({"do": "ask"}), &state, responses());
    let answer = client.ask("tools/call", replayed).await;
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("used before"), "{message}");
}

#[tokio::test]
async fn e54_a_state_of_another_principal_is_refused_and_stays_good_for_its_own() {
    let user = user();
    // Both seal with the same key, and note in the same place what was used.
    let mut ada = Client::of(&user.keeping("ada"));
    let mut bob = Client::of(&user.keeping("bob"));
    let (_, state) = required(&mut ada).await;
    let call = || again(json!({"do": "ask"}), &state, responses());
    let answer = bob.ask("tools/call", call()).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let answer = ada.ask("tools/call", call()).await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    // Another server of the same principal knows that it was used.
    let mut later = Client::of(&user.keeping("ada"));
    let answer = later.ask("tools/call", call()).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
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

/// Calls the tool `parts` as a client of the newest revision.
async fn modern_call(client: &mut Client, what: &str, capabilities: Value, more: Value) -> Value {
    let mut params = json!({"name": "parts", "arguments": {"do": what}});
    for (key, value) in more.as_object().unwrap() {
        params[key] = value.clone();
    }
    client.ask("tools/call", modern(params, capabilities)).await
}

#[tokio::test]
async fn a_form_has_a_request_of_its_own_with_every_kind_of_field() {
    let user = user();
    let mut client = user.client();
    let answer = modern_call(&mut client, "form", all(), json!({})).await;
    let request = &answer["result"]["inputRequests"]["form"];
    let message = "The tool `parts` asks:\nPlease fill in.";
    assert_eq!(request["params"]["message"], message, "{answer}");
    let schema = &request["params"]["requestedSchema"];
    assert_eq!(schema["required"], json!(["q0"]));
    assert_eq!(schema["properties"]["q2"]["type"], "integer");
    assert_eq!(schema["properties"]["q5"]["oneOf"][0]["title"], "A");
    assert_eq!(schema["properties"]["q6"]["enumNames"], json!(["A", "b"]));
    assert_eq!(schema["properties"]["q7"]["default"], json!(["a", "b"]));
    let content = json!({"q0": false, "q2": 4, "unasked": 1});
    let more = json!({"requestState": answer["result"]["requestState"],
        "inputResponses": {"form": {"action": "accept", "content": content}}});
    let answer = modern_call(&mut client, "form", all(), more).await;
    let form = &answer["result"]["structuredContent"]["answers"]["form"];
    assert_eq!(
        (&form["q0"], &form["q2"]),
        (&json!(false), &json!(4)),
        "{answer}"
    );
    assert_eq!((&form["q3"], form.get("unasked")), (&json!(1.5), None));
}

#[tokio::test]
async fn what_does_not_answer_is_wanted_again_and_what_nobody_asked_for_is_ignored() {
    let user = user();
    let mut client = user.client();
    let accept = |content: Value| json!({"action": "accept", "content": content});
    for unfit in [
        json!(12345),
        json!({"action": "accept"}),
        accept(json!({"q0": "yes"})),
        accept(json!({"other": true})),
    ] {
        let more = json!({"inputResponses": {"form": unfit, "else": accept(json!({}))}});
        let answer = modern_call(&mut client, "form", all(), more).await;
        assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
        assert!(answer["result"]["inputRequests"]["form"].is_object());
    }
    let more = json!({"inputResponses": {"form": accept(json!({"q0": true})),
        "else": {"action": "decline"}}});
    let answer = modern_call(&mut client, "form", all(), more).await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
}

#[tokio::test]
async fn what_the_client_did_not_declare_is_an_error_that_names_it() {
    let user = user();
    let mut client = user.client();
    for (what, declared, missing) in [
        (
            "ask",
            json!({"elicitation": {}, "roots": {}}),
            json!({"sampling": {}}),
        ),
        (
            "form",
            json!({"elicitation": {"url": {}}}),
            json!({"elicitation": {}}),
        ),
        (
            "ask",
            json!({}),
            json!({"elicitation": {}, "sampling": {}, "roots": {}}),
        ),
    ] {
        let answer = modern_call(&mut client, what, declared, json!({})).await;
        assert_eq!(answer["error"]["code"], -32021, "{answer}");
        assert_eq!(answer["error"]["data"]["requiredCapabilities"], missing);
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("`parts`"), "{message}");
    }
}

#[tokio::test]
async fn a_tool_that_needs_one_of_many_asks_for_what_the_client_has_declared() {
    let user = user();
    let mut client = user.client();
    let declared = json!({"roots": {}});
    let answer = modern_call(&mut client, "any", declared.clone(), json!({})).await;
    let requests = answer["result"]["inputRequests"].as_object().unwrap();
    assert_eq!(requests.keys().collect::<Vec<_>>(), ["roots"]);
    let more = json!({"inputResponses": {"roots": {"roots": [{"uri": "file:///w"}]}}});
    let answer = modern_call(&mut client, "any", declared, more).await;
    let answers = &answer["result"]["structuredContent"]["answers"];
    assert_eq!(
        *answers,
        json!({"roots": [{"uri": "file:///w"}]}),
        "{answer}"
    );
}

#[tokio::test]
async fn answers_of_earlier_rounds_are_not_asked_for_again() {
    let user = user();
    let mut client = user.client();
    let mut given = responses();
    given.as_object_mut().unwrap().remove("roots");
    let more = json!({"inputResponses": given});
    let answer = modern_call(&mut client, "ask", all(), more).await;
    let requests = answer["result"]["inputRequests"].as_object().unwrap();
    assert_eq!(requests.keys().collect::<Vec<_>>(), ["roots"], "{answer}");
    let more = json!({"requestState": answer["result"]["requestState"],
        "inputResponses": {"roots": {"roots": [{"uri": "file:///w"}]}}});
    let answer = modern_call(&mut client, "ask", all(), more).await;
    let answers = &answer["result"]["structuredContent"]["answers"];
    assert_eq!(answers["name"], "Ada", "{answer}");
}
