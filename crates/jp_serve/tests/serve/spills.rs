//! Large results: a head, an honest size, and a resource that holds all of it.

use serde_json::{Value, json};

use crate::kit::{Client, User};

/// A call whose result is a text of many characters; returns the parts of the answer.
async fn large(client: &mut Client) -> Vec<Value> {
    client.hello("2025-11-25", json!({})).await;
    let answer = client.call("bash", json!({"commands": "seq 20000"})).await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    answer["result"]["content"].as_array().unwrap().clone()
}

async fn read(client: &mut Client, uri: &str) -> Value {
    client.ask("resources/read", json!({"uri": uri})).await
}

#[tokio::test]
async fn a_large_result_is_kept_and_read_in_parts() {
    let user = User::new();
    let mut client = Client::of(&user.keeping("ada"));
    let parts = large(&mut client).await;
    let [head, note, link] = parts.as_slice() else {
        panic!("{parts:?}")
    };
    assert!(head["text"].as_str().unwrap().chars().count() <= 8_001);
    let size = link["size"].as_u64().unwrap();
    let uri = link["uri"].as_str().unwrap();
    let text = note["text"].as_str().unwrap();
    assert!(
        text.contains(&size.to_string()) && text.contains(uri),
        "{text}"
    );
    let whole = read(&mut client, uri).await;
    let text = whole["result"]["contents"][0]["text"].as_str().unwrap();
    assert_eq!(text.len() as u64, size);
    assert!(text.contains("19999\\n20000"));
    let part = read(&mut client, &format!("{uri}?offset=10&length=5")).await;
    assert_eq!(part["result"]["contents"][0]["text"], text[10..15]);
}

#[tokio::test]
async fn a_kept_result_is_its_owners_alone() {
    let user = User::new();
    let mut ada = Client::of(&user.keeping("ada"));
    let parts = large(&mut ada).await;
    let uri = parts[2]["uri"].as_str().unwrap();
    let mut bob = Client::of(&user.keeping("bob"));
    bob.hello("2025-11-25", json!({})).await;
    for uri in [
        uri,
        "jp://result/0123456789abcdef0123456789abcdef",
        "file:///etc/passwd",
        "",
    ] {
        let answer = read(&mut bob, uri).await;
        assert_eq!(answer["error"]["code"], -32002, "{uri}: {answer}");
    }
    assert!(read(&mut ada, uri).await.get("result").is_some());
}

#[tokio::test]
async fn without_a_place_for_it_a_large_result_goes_out_whole() {
    let user = User::new();
    let mut client = user.client();
    let parts = large(&mut client).await;
    assert_eq!(parts.len(), 1);
    assert!(parts[0]["text"].as_str().unwrap().len() > 100_000);
}

#[tokio::test]
async fn how_long_and_how_much_is_kept_says_the_user() {
    let user = User::new();
    let own = user.places().config_dir().unwrap().join("config.toml");
    std::fs::create_dir_all(own.parent().unwrap()).unwrap();
    std::fs::write(&own, "[serve.results]\nage = '90m'\n").unwrap();
    let mut client = Client::of(&user.keeping("ada"));
    let parts = large(&mut client).await;
    let note = parts[1]["text"].as_str().unwrap();
    assert!(note.contains("for 90 minutes;"), "{note}");
    for (key, whose) in [("quota", "principal"), ("total", "all")] {
        std::fs::write(&own, format!("[serve.results]\n{key} = '100KB'\n")).unwrap();
        let mut client = Client::of(&user.keeping(whose));
        let parts = large(&mut client).await;
        let note = parts[1]["text"].as_str().unwrap();
        assert!(note.contains("could not be kept"), "{key}: {note}");
        assert_eq!(parts.len(), 2, "{parts:?}");
    }
}
