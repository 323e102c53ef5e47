//! What clients can read, and what they cannot.

use std::{fs, os::unix::fs::symlink, process::Command};

use serde_json::{Value, json};

use crate::kit::{Client, User, modern};

/// A workspace with knowledge, and with resources of its configuration.
fn user() -> User {
    let user = User::new();
    user.write("kb/rust/errors/io.md", "# Io\nUse `io::Error`.");
    user.write("kb/rust/plain.txt", "plain");
    user.write("kb/rust/.secret.md", "hidden");
    user.write("kb/rust/off.md", "disabled");
    user.write("docs/readme.md", "# Read me");
    user.write("docs/picture.png", [0x89, b'P', 0, 0xff]);
    user.configure(
        r#"
[kb.topic.rust]
subjects = "kb/rust"
title = "Rust"
disabled = ["off"]
[serve.resources.readme]
uri = "docs://readme"
title = "Read me"
description = "What this is"
file = "docs/readme.md"
mime_type = "text/markdown"
[serve.resources.picture]
uri = "docs://picture"
file = "docs/picture.png"
mime_type = "image/png"
[serve.resources.note]
uri = "test://static-text"
text = "A note {id}."
[serve.resources.page]
uri_template = "test://template/{id}/data"
mime_type = "application/json"
text = '{"id": "{id}", "other": "{other}"}'
"#,
    );
    user
}

async fn old_client(user: &User) -> Client {
    let mut client = user.client();
    client.hello("2025-11-25", json!({})).await;
    client
}

async fn read(client: &mut Client, uri: &str) -> Value {
    client.ask("resources/read", json!({ "uri": uri })).await
}

fn uris(list: &Value, what: &str, key: &str) -> Vec<String> {
    let items = list["result"][what].as_array().unwrap();
    let uri = |item: &Value| item[key].as_str().unwrap().to_owned();
    items.iter().map(uri).collect()
}

#[tokio::test]
async fn resources_are_listed_by_address_for_both_revisions() {
    let user = user();
    let mut client = user.client();
    let hello = client.hello("2025-11-25", json!({})).await;
    let offered = &hello["result"]["capabilities"];
    let expected = json!({"subscribe": true, "listChanged": true});
    assert_eq!(offered["resources"], expected, "{hello}");
    let list = client.ask("resources/list", json!({})).await;
    assert_eq!(list["result"].get("ttlMs"), None, "{list}");
    let listed = uris(&list, "resources", "uri");
    assert!(listed.is_sorted(), "{listed:?}");
    for uri in [
        "docs://readme",
        "jp://audit/recent",
        "jp://knowledge/rust/errors%2Fio",
        "jp://knowledge/rust/plain",
        "jp://tool/bash",
        "test://static-text",
    ] {
        assert!(listed.contains(&uri.to_owned()), "{uri}: {listed:?}");
    }
    let hidden = |uri: &&String| uri.contains("secret") || uri.contains("off");
    assert_eq!(listed.iter().find(hidden), None);
    let shown = &list["result"]["resources"].as_array().unwrap().clone();
    let readme = shown
        .iter()
        .find(|one| one["uri"] == "docs://readme")
        .unwrap();
    assert_eq!(
        *readme,
        json!({"uri": "docs://readme", "name": "readme", "title": "Read me",
            "description": "What this is", "mimeType": "text/markdown"})
    );

    let mut newer = user.client();
    let list = newer
        .ask("resources/list", modern(json!({}), json!({})))
        .await;
    assert_eq!(list["result"]["cacheScope"], "private", "{list}");
    assert!(list["result"]["ttlMs"].as_u64().is_some_and(|ttl| ttl > 0));
    assert_eq!(uris(&list, "resources", "uri"), listed);
    let list = newer
        .ask("resources/templates/list", modern(json!({}), json!({})))
        .await;
    assert!(list["result"]["ttlMs"].as_u64().is_some_and(|ttl| ttl > 0));
    assert_eq!(
        uris(&list, "resourceTemplates", "uriTemplate"),
        [
            "jp://audit/{number}",
            "jp://knowledge/{topic}/{subject}",
            "jp://tool/{name}",
            "test://template/{id}/data"
        ]
    );
}

#[tokio::test]
async fn everything_that_is_listed_can_be_read() {
    let user = user();
    let mut client = old_client(&user).await;
    let list = client.ask("resources/list", json!({})).await;
    for uri in uris(&list, "resources", "uri") {
        let answer = read(&mut client, &uri).await;
        let first = &answer["result"]["contents"][0];
        assert_eq!(first["uri"], uri.as_str(), "{answer}");
        assert!(
            first["text"].is_string() || first["blob"].is_string(),
            "{answer}"
        );
    }
    let io = read(&mut client, "jp://knowledge/rust/errors%2Fio").await;
    let content = &io["result"]["contents"][0];
    assert_eq!(content["text"], "# Io\nUse `io::Error`.");
    assert_eq!(content["mimeType"], "text/markdown");
    let same = read(&mut client, "jp://knowledge/rust/errors/io").await;
    assert_eq!(same["result"]["contents"][0]["text"], content["text"]);
    let picture = read(&mut client, "docs://picture").await;
    let content = &picture["result"]["contents"][0];
    assert_eq!(content["blob"], "iVAA/w==", "{picture}");
    assert_eq!(content["mimeType"], "image/png");
    let manual = read(&mut client, "jp://tool/bash").await;
    let text = manual["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("# bash\n"), "{text}");
    assert!(text.contains("- `commands` (string, required)"), "{text}");
    // Nothing is a variable in a text that belongs to no family.
    let note = read(&mut client, "test://static-text").await;
    assert_eq!(note["result"]["contents"][0]["text"], "A note {id}.");
    // As in `learn`, whoever knows the name of a hidden subject gets it.
    let secret = read(&mut client, "jp://knowledge/rust/secret").await;
    assert_eq!(secret["result"]["contents"][0]["text"], "hidden");
}

#[tokio::test]
async fn an_unknown_address_is_an_error_of_the_protocol() {
    let user = user();
    let mut client = old_client(&user).await;
    let mut newer = user.client();
    for uri in [
        "",
        "docs://",
        "docs://readme/",
        "docs://readme?x",
        "DOCS://readme",
        "file:///etc/passwd",
        "jp://knowledge/rust/off",
        "jp://knowledge/rust/..%2F..%2Fdocs%2Freadme",
        "jp://knowledge/rust/../../docs/readme",
        "jp://knowledge/../docs/readme",
        "jp://knowledge/rust/%2Fetc%2Fpasswd",
        "jp://tool/nothing",
        "jp://tool/..%2Fbash",
        "jp://audit/0",
        "jp://audit/18446744073709551615",
        "test://template//data",
        "test://template/a/b/data",
        "test://template/%/data",
        "test://template/%FF/data",
        &format!("test://template/{}/data", "x".repeat(5_000)),
    ] {
        let answer = read(&mut client, uri).await;
        assert_eq!(answer["error"]["code"], -32002, "{uri}: {answer}");
        let params = modern(json!({ "uri": uri }), json!({}));
        let answer = newer.ask("resources/read", params).await;
        assert_eq!(answer["error"]["code"], -32602, "{uri}: {answer}");
    }
}

#[tokio::test]
async fn a_template_is_filled_with_what_stands_in_the_address_and_nothing_more() {
    let user = user();
    let mut client = old_client(&user).await;
    for (id, expected) in [
        ("123", "123"),
        ("a%2F..%2Fb", "a/../b"),
        ("%7Bother%7D", "{other}"),
        ("%25", "%"),
        ("%22", "\""),
    ] {
        let uri = format!("test://template/{id}/data");
        let answer = read(&mut client, &uri).await;
        let content = &answer["result"]["contents"][0];
        let text = format!(r#"{{"id": "{expected}", "other": "{{other}}"}}"#);
        assert_eq!(content["text"], text.as_str(), "{answer}");
        assert_eq!(content["uri"], uri.as_str());
        assert_eq!(content["mimeType"], "application/json");
    }
}

#[tokio::test]
async fn no_file_outside_the_workspace_is_read() {
    let user = User::new();
    let outside = user.root.parent().unwrap().join("outside.txt");
    fs::write(&outside, "outside").unwrap();
    symlink(&outside, user.root.join("link.txt")).unwrap();
    symlink("../outside.txt", user.root.join("relative.txt")).unwrap();
    symlink("..", user.root.join("up")).unwrap();
    symlink("loop.txt", user.root.join("loop.txt")).unwrap();
    user.write("real.txt", "inside");
    symlink("real.txt", user.root.join("inside.txt")).unwrap();
    let made = Command::new("mkfifo").arg(user.root.join("pipe")).status();
    assert!(made.unwrap().success());
    fs::create_dir(user.root.join("dir")).unwrap();
    let large = fs::File::create(user.root.join("large.bin")).unwrap();
    large.set_len(9 * 1024 * 1024).unwrap();
    let files = [
        "link.txt",
        "relative.txt",
        "up/outside.txt",
        "loop.txt",
        "pipe",
        "dir",
        "large.bin",
        "missing.txt",
        "inside.txt",
    ];
    let entry =
        |file: &&str| format!("[serve.resources.'{file}']\nuri = 'x:{file}'\nfile = '{file}'\n");
    user.configure(&files.iter().map(entry).collect::<String>());
    let mut client = old_client(&user).await;
    for file in files {
        let answer = read(&mut client, &format!("x:{file}")).await;
        if file == "inside.txt" {
            assert_eq!(answer["result"]["contents"][0]["text"], "inside");
            continue;
        }
        assert_eq!(answer["error"]["code"], -32603, "{file}: {answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.starts_with("cannot read `"), "{message}");
        assert!(!message.contains("outside\""), "{message}");
    }
}

#[tokio::test]
async fn hidden_files_of_a_stranger_and_what_the_policy_keeps_are_not_read() {
    let user = User::new();
    user.write(".env", "TOKEN=1");
    user.write("docs/a.txt", "a");
    symlink("../.env", user.root.join("docs/innocent.txt")).unwrap();
    user.configure(
        "[serve.resources.env]\nuri = 'x:env'\nfile = '.env'\n\
         [serve.resources.link]\nuri = 'x:link'\nfile = 'docs/innocent.txt'\n\
         [serve.resources.a]\nuri = 'x:a'\nfile = 'docs/a.txt'\n\
         [serve.prompts.p]\nmessages = [{ role = 'user', image = '.env', mime_type = 'image/png' }]\n",
    );
    let mut client = old_client(&user).await;
    for uri in ["x:env", "x:link"] {
        let answer = read(&mut client, uri).await;
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("hidden files need a trusted workspace"),
            "{message}"
        );
    }
    let prompt = client.ask("prompts/get", json!({"name": "p"})).await;
    assert_eq!(prompt["error"]["code"], -32603, "{prompt}");
    let answer = read(&mut client, "x:a").await;
    assert_eq!(answer["result"]["contents"][0]["text"], "a");
    // A person who has looked at the workspace may let it show them.
    user.trust();
    let answer = read(&mut client, "x:link").await;
    assert_eq!(
        answer["result"]["contents"][0]["text"], "TOKEN=1",
        "{answer}"
    );
    // The user lets no tool look into the workspace.
    let places = user.places();
    let own = places.config_dir().unwrap();
    fs::create_dir_all(own).unwrap();
    fs::write(own.join("config.toml"), "[policy]\nworkspace = 'none'\n").unwrap();
    let answer = read(&mut client, "x:a").await;
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("lets no tool read it"), "{message}");
}

#[tokio::test]
async fn a_list_of_many_comes_in_parts() {
    let user = User::new();
    let entry = |n| format!("[serve.resources.r{n}]\nuri = 'x:{n:04}'\ntext = ''\n");
    user.configure(&(0..1_000).map(entry).collect::<String>());
    let mut client = old_client(&user).await;
    let mut listed = Vec::new();
    let mut params = json!({});
    loop {
        let list = client.ask("resources/list", params).await;
        let part = uris(&list, "resources", "uri");
        assert!(part.len() <= 500);
        listed.extend(part);
        match list["result"].get("nextCursor") {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => break,
        }
    }
    let ours = |uri: &&String| uri.starts_with("x:");
    assert_eq!(listed.iter().filter(ours).count(), 1_000);
    assert!(listed.is_sorted());
    for cursor in ["", "!", "_w", "é"] {
        let answer = client
            .ask("resources/list", json!({ "cursor": cursor }))
            .await;
        match cursor {
            // The start of a list is behind nothing.
            "" => assert!(answer.get("result").is_some(), "{answer}"),
            _ => assert_eq!(answer["error"]["code"], -32602, "{cursor}: {answer}"),
        }
    }
}

#[tokio::test]
async fn records_are_read_by_whoever_made_the_calls_and_by_nobody_else() {
    let user = User::new();
    let mut ada = Client::of(&user.server_for("ada"));
    ada.hello("2025-11-25", json!({})).await;
    ada.call("bash", json!({"commands": "echo 1"})).await;
    let mut bob = Client::of(&user.server_for("bob"));
    bob.hello("2025-11-25", json!({})).await;
    bob.call("bash", json!({"commands": "echo 2"})).await;
    ada.call("bash", json!({"commands": "echo 3"})).await;

    let answer = read(&mut ada, "jp://audit/recent").await;
    let text = answer["result"]["contents"][0]["text"].as_str().unwrap();
    let records: Vec<Value> = serde_json::from_str(text).unwrap();
    assert_eq!(records.len(), 2, "{text}");
    for record in &records {
        assert_eq!(record["principal"], "ada");
        assert_eq!(record["tool"], "bash");
        assert_eq!((record.get("mac"), record.get("prev")), (None, None));
        let uri = record["uri"].as_str().unwrap();
        let own = read(&mut ada, uri).await;
        let text = own["result"]["contents"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), *record);
        // To others it is as if it were not there.
        let theirs = read(&mut bob, uri).await;
        assert_eq!(theirs["error"]["code"], -32002, "{theirs}");
        let missing = read(&mut bob, "jp://audit/999999").await;
        let plain = |answer: &Value, uri: &str| answer["error"].to_string().replace(uri, "");
        assert_eq!(plain(&theirs, uri), plain(&missing, "jp://audit/999999"));
    }
}

#[tokio::test]
async fn a_wrong_entry_keeps_the_workspace_closed_with_its_line() {
    let user = User::new();
    user.configure("[serve.resources.x]\nuri = 'x:1'\nfile = '../x'\n");
    let location = jp_host::Location::find(Some(&user.root)).unwrap();
    let opened = jp_host::Live::open(jp_host::Workspace::at(location), user.places());
    let error = opened.err().unwrap().to_string();
    assert!(error.contains("config.toml:3"), "{error}");
}
