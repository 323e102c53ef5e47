//! Clients hear of what changes, and of nothing else.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time;

use crate::kit::{Client, User, modern};

const TOOLS: &str = "notifications/tools/list_changed";
const PROMPTS: &str = "notifications/prompts/list_changed";
const RESOURCES: &str = "notifications/resources/list_changed";
const UPDATED: &str = "notifications/resources/updated";

/// The watcher has looked and everybody was told after this long.
const SETTLED: Duration = Duration::from_millis(3_500);

fn user() -> User {
    let user = User::new();
    user.write("watched.txt", "1");
    user.configure("[serve.resources.w]\nuri = 'x:watched'\nfile = 'watched.txt'\n");
    user
}

async fn old_client(user: &User) -> Client {
    let mut client = user.client();
    client.hello("2025-11-25", json!({})).await;
    // The handshake has an effect after it was answered.
    client.ask("ping", json!({})).await;
    time::sleep(Duration::from_millis(300)).await;
    client
}

/// Returns the methods of everything that is said until nothing more can be.
async fn heard(client: &mut Client) -> Vec<String> {
    let mut methods = Vec::new();
    while let Ok(message) = time::timeout(SETTLED, client.hear()).await {
        methods.push(message["method"].as_str().unwrap_or("answer").to_owned());
    }
    methods
}

fn subscription(notifications: Value) -> Value {
    modern(json!({ "notifications": notifications }), json!({}))
}

/// Subscribes, and returns the id of the subscription and what was accepted.
async fn listen(client: &mut Client, notifications: Value) -> (u64, Value) {
    let id = client
        .request("subscriptions/listen", subscription(notifications))
        .await;
    let acknowledged = client.hear().await;
    let method = "notifications/subscriptions/acknowledged";
    assert_eq!(acknowledged["method"], method, "{acknowledged}");
    (id, acknowledged["params"]["notifications"].clone())
}

#[tokio::test]
async fn an_older_client_hears_of_lists_that_really_differ() {
    let user = user();
    let mut client = old_client(&user).await;
    user.configure(
        "[serve.resources.w]\nuri = 'x:watched'\nfile = 'watched.txt'\n\
         [serve.resources.new]\nuri = 'x:new'\ntext = 'new'\n\
         [serve.prompts.p]\nmessages = [{ role = 'user', text = 'x' }]\n",
    );
    let mut said = heard(&mut client).await;
    said.sort();
    assert_eq!(said, [PROMPTS, RESOURCES]);
    let list = client.ask("prompts/list", json!({})).await;
    assert_eq!(list["result"]["prompts"][0]["name"], "p");
    user.bring("parts");
    let mut said = heard(&mut client).await;
    said.sort();
    // The tool brings its own page.
    assert_eq!(said, [RESOURCES, TOOLS]);
    // Another configuration with the same lists.
    let text = std::fs::read_to_string(user.root.join(".jp/config.toml")).unwrap();
    user.configure(&format!("# nothing new\n{text}"));
    assert_eq!(heard(&mut client).await, [""; 0]);
}

#[tokio::test]
async fn new_subjects_are_new_resources() {
    let user = User::new();
    user.write("kb/deep/a.md", "a");
    user.configure("[kb.topic.t]\nsubjects = 'kb'\n");
    let mut client = old_client(&user).await;
    // Deep enough that the directory of the topic stays as it is.
    user.write("kb/deep/b.md", "b");
    assert_eq!(heard(&mut client).await, [RESOURCES]);
    user.write("kb/deep/b.md", "other text");
    assert_eq!(heard(&mut client).await, [""; 0]);
}

#[tokio::test]
async fn an_older_client_hears_of_resources_it_follows_until_it_does_not() {
    let user = user();
    let mut client = old_client(&user).await;
    let params = json!({"uri": "x:watched"});
    let answer = client.ask("resources/subscribe", params.clone()).await;
    assert_eq!(answer["result"], json!({}), "{answer}");
    user.write("watched.txt", "22");
    let message = client.hear().await;
    assert_eq!(message["method"], UPDATED);
    assert_eq!(message["params"]["uri"], "x:watched");
    // A file that goes is a change too.
    std::fs::remove_file(user.root.join("watched.txt")).unwrap();
    assert_eq!(client.hear().await["method"], UPDATED);
    let answer = client.ask("resources/unsubscribe", params).await;
    assert_eq!(answer["result"], json!({}), "{answer}");
    user.write("watched.txt", "333");
    assert_eq!(heard(&mut client).await, [""; 0]);
    let unknown = json!({"uri": "x:unknown"});
    let answer = client.ask("resources/subscribe", unknown.clone()).await;
    assert_eq!(answer["error"]["code"], -32002, "{answer}");
    let answer = client.ask("resources/unsubscribe", unknown).await;
    assert_eq!(answer["result"], json!({}), "{answer}");
    // Whoever speaks the older revision has no other way.
    let answer = client
        .ask("subscriptions/listen", json!({"notifications": {}}))
        .await;
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
}

#[tokio::test]
async fn a_newer_client_hears_what_it_subscribed_to_and_nothing_else() {
    let user = user();
    let mut client = user.client();
    let wanted = json!({"promptsListChanged": true,
        "resourceSubscriptions": ["x:watched", "x:unknown", "jp://audit/recent"]});
    let (id, accepted) = listen(&mut client, wanted).await;
    assert_eq!(
        accepted,
        json!({"promptsListChanged": true, "resourceSubscriptions": ["x:watched", "jp://audit/recent"]})
    );
    user.write("watched.txt", "22");
    let message = client.hear().await;
    assert_eq!(message["method"], UPDATED, "{message}");
    assert_eq!(message["params"]["uri"], "x:watched");
    let key = "io.modelcontextprotocol/subscriptionId";
    assert_eq!(message["params"]["_meta"][key], id, "{message}");
    user.configure(
        "[serve.resources.w]\nuri = 'x:watched'\nfile = 'watched.txt'\n\
         [serve.resources.new]\nuri = 'x:new'\ntext = 'new'\n\
         [serve.prompts.p]\nmessages = [{ role = 'user', text = 'x' }]\n",
    );
    assert_eq!(heard(&mut client).await, [PROMPTS]);
    let call = json!({"name": "bash", "arguments": {"commands": "echo 1"}});
    client.ask("tools/call", modern(call, json!({}))).await;
    assert_eq!(client.hear().await["params"]["uri"], "jp://audit/recent");
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": id}});
    client.send(&cancel).await;
    user.write("watched.txt", "333");
    let rest = heard(&mut client).await;
    assert!(!rest.contains(&UPDATED.to_owned()), "{rest:?}");
    // What is for older clients is not there for newer ones.
    let params = modern(json!({"uri": "x:watched"}), json!({}));
    let answer = client.ask("resources/subscribe", params).await;
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
}

#[tokio::test]
async fn a_storm_of_changes_is_a_few_notices() {
    let user = user();
    let mut client = old_client(&user).await;
    client
        .ask("resources/subscribe", json!({"uri": "x:watched"}))
        .await;
    let started = Instant::now();
    let mut n = 0;
    while started.elapsed() < Duration::from_secs(4) {
        n += 1;
        user.write("watched.txt", format!("{n}"));
        user.configure(&format!(
            "[serve.resources.w]\nuri = 'x:watched'\nfile = 'watched.txt'\n\
             [serve.resources.n]\nuri = 'x:{n}'\ntext = ''\n"
        ));
        time::sleep(Duration::from_millis(5)).await;
    }
    let said = heard(&mut client).await;
    for kind in [UPDATED, RESOURCES] {
        let count = said.iter().filter(|method| *method == kind).count();
        assert!((1..=6).contains(&count), "{kind}: {count}");
    }
}

#[tokio::test]
async fn a_client_follows_a_bounded_number_of_resources() {
    let user = User::new();
    user.configure("[serve.resources.f]\nuri_template = 'x:{id}'\ntext = '{id}'\n");
    let mut client = old_client(&user).await;
    let mut refused = 0;
    for n in 0..2_000 {
        let params = json!({"uri": format!("x:{n}")});
        let answer = client.ask("resources/subscribe", params).await;
        if answer.get("error").is_some() {
            assert_eq!(answer["error"]["code"], -32600, "{answer}");
            refused += 1;
        }
    }
    assert_eq!(refused, 2_000 - 256);
    let mut newer = user.client();
    let uris: Vec<String> = (0..256).map(|n| format!("x:{n}")).collect();
    let (_, accepted) = listen(&mut newer, json!({ "resourceSubscriptions": uris })).await;
    let accepted = accepted["resourceSubscriptions"].as_array().unwrap().len();
    assert_eq!(accepted, 256);
    // Far too many are none, and are refused before each is compared with each.
    let mut uris: Vec<String> = (0..100_000).map(|n| format!("x:{n}/")).collect();
    uris.extend(std::iter::repeat_n("x:1".to_owned(), 100_000));
    let started = Instant::now();
    let wanted = json!({"toolsListChanged": true, "resourceSubscriptions": uris});
    let (_, accepted) = listen(&mut newer, wanted).await;
    assert_eq!(accepted, json!({"toolsListChanged": true}));
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn subscriptions_of_a_server_are_bounded_in_number() {
    let user = user();
    let mut client = user.client();
    let mut ended = 0;
    let list = || modern(json!({}), json!({}));
    for n in 0..5_000 {
        let params = subscription(json!({"toolsListChanged": true}));
        client.request("subscriptions/listen", params).await;
        // Acknowledgements are read now and then: neither side waits for the other for ever.
        if n % 200 == 0 {
            client.ask("tools/list", list()).await;
        }
    }
    // Those without room are refused after they were acknowledged.
    for _ in 0..10 {
        time::sleep(Duration::from_millis(200)).await;
        client.ask("tools/list", list()).await;
    }
    for message in &client.heard {
        if let Some(error) = message.get("error") {
            assert_eq!(error["code"], -32600, "{message}");
            ended += 1;
        }
    }
    assert_eq!(ended, 5_000 - 4_096);
}

#[tokio::test]
async fn a_client_that_left_makes_room_and_a_server_that_is_stopped_ends() {
    let user = user();
    let server = user.server();
    for _ in 0..3 {
        let mut client = Client::of(&server);
        listen(&mut client, json!({"toolsListChanged": true})).await;
        client.stop.cancel();
        let ended = time::timeout(Duration::from_secs(10), client.serving).await;
        ended.unwrap().unwrap();
    }
    // The watcher that the last one left ends, and another client starts it again.
    time::sleep(Duration::from_millis(1_500)).await;
    let mut client = Client::of(&server);
    client.hello("2025-11-25", json!({})).await;
    time::sleep(Duration::from_millis(300)).await;
    user.configure("[serve.prompts.p]\nmessages = [{ role = 'user', text = 'x' }]\n");
    let mut said = heard(&mut client).await;
    said.sort();
    assert_eq!(said, [PROMPTS, RESOURCES]);
}
