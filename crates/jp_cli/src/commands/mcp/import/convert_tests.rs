//! What becomes of the entries of other clients.

use serde_json::json;

use super::*;

fn reached(entry: &Value) -> Result<String, String> {
    let converted = convert("s", entry).map_err(|why| why.to_string())?;
    Ok(converted.wanted.reached())
}

#[test]
fn programs_and_urls_of_all_clients_are_read() {
    for (entry, expected) in [
        (
            json!({"command": "a", "args": ["b", "c"], "env": {}}),
            "a b c",
        ),
        (
            json!({"type": "local", "command": ["a", "b"], "enabled": true}),
            "a b",
        ),
        (
            json!({"name": "s", "type": "stdio", "cmd": "a", "args": ["b"]}),
            "a b",
        ),
        (json!({"command": {"path": "a", "args": ["b"]}}), "a b"),
        (
            json!({"type": "http", "url": "https://e.example/mcp"}),
            "https://e.example/mcp",
        ),
        (
            json!({"httpUrl": "https://e.example/mcp"}),
            "https://e.example/mcp",
        ),
        (
            json!({"type": "streamable_http", "uri": "https://e.example/"}),
            "https://e.example/",
        ),
        (
            json!({"type": "remote", "url": "https://e.example/"}),
            "https://e.example/",
        ),
        (json!({"command": "${JP_NOT_SET:-a}"}), "a"),
    ] {
        assert_eq!(reached(&entry).as_deref(), Ok(expected), "{entry}");
    }
}

#[test]
fn what_cannot_be_taken_is_refused_with_its_reason() {
    for (entry, reason) in [
        (json!("x"), "does not read"),
        (json!({}), "neither a command nor a URL"),
        (json!({"command": "a", "enabled": false}), "switched off"),
        (json!({"command": "a", "disabled": true}), "switched off"),
        (
            json!({"type": "sse", "url": "https://e.example/sse"}),
            "SSE",
        ),
        (json!({"url": "unix:///run/x"}), "Unix socket"),
        (json!({"command": "a", "args": [{"b": 1}]}), "does not read"),
        (
            json!({"command": "a", "args": ["b\u{1b}[2J"]}),
            "control characters",
        ),
        (
            json!({"command": "a", "args": vec!["x"; 1000]}),
            "more than 200",
        ),
        (json!({"command": "${JP_NOT_SET}"}), "not set"),
        (json!({"command": "a", "env": {"X": {"y": 1}}}), "not text"),
        (
            json!({"command": "a", "env": {"API_KEY": "short"}}),
            "at least 8 bytes",
        ),
        (
            json!({"url": "https://e.example/?api_key=0123456789abcdef"}),
            "looks like a secret",
        ),
        (
            json!({"url": "https://me:pass@e.example/"}),
            "a user and a password",
        ),
        (
            json!({"command": "a", "args": ["--api-key", "0123456789"]}),
            "looks like a secret",
        ),
        (
            json!({"command": "a", "args": ["--api-key=0123456789"]}),
            "looks like a secret",
        ),
        (
            json!({"command": "a", "args": ["-e", "API_KEY=0123456789"]}),
            "looks like a secret",
        ),
        (
            json!({"command": "a", "args": ["--header", "Authorization: Bearer abcdefghi"]}),
            "looks like a secret",
        ),
        (
            json!({"command": "a", "args": ["x", "ghp_0123456789abcdef"]}),
            "looks like a secret",
        ),
    ] {
        let error = reached(&entry).unwrap_err();
        assert!(error.contains(reason), "{entry}: {error}");
    }
}

#[test]
fn arguments_that_only_look_like_options_are_taken() {
    for args in [
        vec![
            "-y",
            "@modelcontextprotocol/server-filesystem",
            "/home/ada/docs",
        ],
        vec!["--key-file", "/home/ada/key.pem"],
        vec!["mcp-remote", "https://e.example/mcp"],
        vec!["--port", "8080"],
    ] {
        let entry = json!({"command": "npx", "args": args});
        assert!(
            convert("s", &entry).is_ok_and(|made| made.is_fetched),
            "{entry}"
        );
    }
}

#[test]
fn secrets_become_placeholders_and_variables_are_handed_on() {
    let entry = json!({"command": "a", "env": {
        "API_KEY": "0123456789", "LOG": "debug", "LANG": "${LANG}", "X": "{env:X}", "Y": "${input:y}",
    }, "env_vars": ["Z"]});
    let made = convert("My Forge!", &entry).unwrap();
    let wanted = made.wanted;
    assert_eq!(wanted.name, "My-Forge");
    let environment: Vec<_> = wanted.environment.iter().collect();
    let value = |text: &str| text.to_owned();
    assert_eq!(
        environment,
        [
            (&value("API_KEY"), &value("{{secret:my-forge_api_key}}")),
            (&value("LOG"), &value("debug")),
        ]
    );
    assert_eq!(wanted.variables, ["LANG", "X", "Z"]);
    assert_eq!(wanted.secrets.len(), 1);
    assert!(
        made.notes.iter().any(|note| note.contains("`Y`")),
        "{:?}",
        made.notes
    );
    let entry = json!({"url": "https://e.example/mcp?x=1", "headers": {"Authorization": "Bearer 0123456789"}});
    let wanted = convert("s", &entry).unwrap().wanted;
    let header = wanted.headers.get("Authorization").map(String::as_str);
    assert_eq!(header, Some("Bearer {{secret:s_authorization}}"));
}
