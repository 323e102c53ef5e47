//! Three tools stand for all: they are few bytes, and what is called is recorded under its own name.

use jp_serve::{Lazy, Options, Server};
use serde_json::{Value, json};

use crate::kit::{Client, User, modern};

fn client(user: &User, lazy: Lazy) -> Client {
    let mut options = Options::new("ada");
    options.lazy = lazy;
    Client::of(&Server::new(user.live(), options).unwrap())
}

async fn list(client: &mut Client) -> Vec<String> {
    let list = client.ask("tools/list", json!({})).await;
    let tools = list["result"]["tools"].as_array().unwrap();
    tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

fn said(answer: &Value) -> Value {
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn three_tools_find_describe_and_call_all_others() {
    let user = User::new();
    let mut client = client(&user, Lazy::On);
    client.hello("2025-11-25", json!({})).await;
    let listed = client.ask("tools/list", json!({})).await;
    assert!(listed["result"].to_string().len() < 2_048, "{listed}");
    assert_eq!(
        list(&mut client).await,
        ["call_tool", "describe_tools", "search_tools"]
    );
    let found = said(
        &client
            .call(
                "search_tools",
                json!({"query": "a bash interpreter with files"}),
            )
            .await,
    );
    assert_eq!(found["tools"][0]["name"], "bash", "{found}");
    let names = json!({"names": ["bash", "nothing"]});
    let described = said(&client.call("describe_tools", names).await);
    assert_eq!(described["tools"][0]["inputSchema"]["type"], "object");
    assert_eq!(described["tools"][1]["error"], "unknown tool");
    let call = json!({"name": "bash", "arguments": {"commands": "echo hi"}});
    let answer = client.call("call_tool", call).await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    // By its own name it can be called as well.
    client.call("bash", json!({"commands": "true"})).await;
    assert_eq!(user.records(), ["ada bash success", "ada bash success"]);
}

#[tokio::test]
async fn the_list_of_three_is_under_2_kib_however_many_tools_there_are() {
    let user = User::new();
    let tool = |n: usize| {
        format!("[conversation.tools.a_rather_long_name_of_a_tool_{n}]\nsource = 'builtin.bash'\n")
    };
    user.configure(&(0..1_000).map(tool).collect::<String>());
    let mut older = client(&user, Lazy::On);
    older.hello("2025-11-25", json!({})).await;
    let mut newest = client(&user, Lazy::On);
    for (client, params) in [
        (&mut older, json!({})),
        (&mut newest, modern(json!({}), json!({}))),
    ] {
        let listed = client.ask("tools/list", params).await;
        let tools = listed["result"]["tools"].as_array().unwrap();
        assert_eq!(tools.len(), 3, "{listed}");
        let text = listed.to_string();
        assert!(text.contains("among the 10"), "{text}");
        // The whole message, as it is sent.
        assert!(text.len() < 2_048, "{} bytes: {text}", text.len());
    }
}

#[tokio::test]
async fn wrong_arguments_of_the_three_are_told_to_the_model() {
    let user = User::new();
    let mut client = client(&user, Lazy::On);
    client.hello("2025-11-25", json!({})).await;
    for (tool, arguments, expected) in [
        ("search_tools", json!({}), "expected `query`"),
        ("describe_tools", json!({"names": []}), "expected `names`"),
        ("call_tool", json!({}), "expected `name`"),
        (
            "call_tool",
            json!({"name": "bsh", "arguments": {}}),
            "unknown tool: bsh; `search_tools`",
        ),
        (
            "call_tool",
            json!({"name": "bash", "arguments": 5}),
            "expected an object",
        ),
    ] {
        let answer = client.call(tool, arguments).await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(expected), "{text}");
    }
    assert!(user.records().is_empty());
}

#[tokio::test]
async fn a_short_list_is_handed_out_whole() {
    let user = User::new();
    let mut auto = client(&user, Lazy::Auto);
    auto.hello("2025-11-25", json!({})).await;
    assert!(list(&mut auto).await.contains(&"bash".to_owned()));
    // Sixty tools with long descriptions are too many.
    let tool = |n: usize| {
        let text = "what it does ".repeat(60);
        format!("[conversation.tools.t{n}]\nsource = 'builtin.bash'\ndescription = '{text}'\n")
    };
    user.configure(&(0..60).map(tool).collect::<String>());
    assert_eq!(list(&mut auto).await.len(), 3);
    let mut off = client(&user, Lazy::Off);
    off.hello("2025-11-25", json!({})).await;
    assert!(list(&mut off).await.len() > 60);
}
