//! Tests of the sandbox JSON.

use super::*;

fn tool_of(entry: Value) -> Result<Value, Finding> {
    let tree = json!({"tools": {"settings": {"sandbox": {"tools": {"coding": entry}}}}});
    let translated = translate(&tree)?;
    Ok(translated.tree["conversation"]["tools"]["coding"].clone())
}

#[test]
fn the_example_of_the_document_is_understood() {
    let tree = json!({"tools": {"settings": {"sandbox": {"mode": "all", "tools": {"coding": {
        "wasm": {"module": "./wasm/coding_tool.wasm", "entrypoint": "execute", "timeout_ms": 3000, "fuel": 5_000_000},
        "capabilities": {"abi_version": 1, "allow": ["log.emit"]}
    }}}}}});
    assert!(is_sandbox(&tree));
    let translated = translate(&tree).unwrap();
    assert_eq!(
        translated.tree["conversation"]["tools"]["coding"],
        json!({
            "source": "local",
            "limits": {"time": 3000, "fuel": 5_000_000},
            "wasm": "wasm/coding_tool.wasm",
            "entrypoint": "execute",
            "abi": 1,
            "grant": {"workspace": "none", "calls": ["log.emit"]},
        })
    );
    let paths: Vec<String> = translated
        .remarks
        .iter()
        .map(|(path, _)| path.join("."))
        .collect();
    assert_eq!(paths, ["tools.settings.sandbox.mode"]);
}

#[test]
fn absent_and_empty_allow_lists_differ() {
    let silent = tool_of(json!({})).unwrap();
    assert_eq!(silent["grant"], json!({"workspace": "none"}));
    let none = tool_of(json!({"capabilities": {"allow": []}})).unwrap();
    assert_eq!(none["grant"]["calls"], json!([]));
}

#[test]
fn what_would_be_ignored_is_an_error() {
    let cases = [
        (
            json!({"wasm": {"modul": "x"}}),
            "wasm.modul",
            "unknown key (did you mean `module`?)",
        ),
        (
            json!({"wasm": {"fuel": 0}}),
            "wasm.fuel",
            "expected a number above zero",
        ),
        (
            json!({"wasm": {"timeout_ms": "3s"}}),
            "wasm.timeout_ms",
            "expected a number above zero",
        ),
        (json!({"wasm": 7}), "wasm", "expected a table"),
        (
            json!({"capabilities": {"abi_version": 3}}),
            "capabilities.abi_version",
            "unsupported capability ABI version (supported: 1 and 2)",
        ),
        (
            json!({"capabilities": {"abi_version": 4_294_967_297_u64}}),
            "capabilities.abi_version",
            "unsupported capability ABI version (supported: 1 and 2)",
        ),
        (
            json!({"network": {"allow": ["api.example.com/path"]}}),
            "network.allow.0",
            "expected a host such as",
        ),
        (
            json!({"network": {"default_deny": false}}),
            "network.default_deny",
            "expected `true`",
        ),
        (
            json!({"filesystem": {"mode": "deny"}}),
            "filesystem",
            "nothing in this format grants files; write `grant.files = [\"/workspace/DIR:read\"]` under `[conversation.tools.coding]` in `.jp.toml`",
        ),
    ];
    for (entry, key, message) in cases {
        let (path, problem) = tool_of(entry).unwrap_err();
        assert_eq!(
            path.join("."),
            format!("tools.settings.sandbox.tools.coding.{key}")
        );
        assert!(problem.to_string().starts_with(message), "{problem}");
    }
    let (path, _) = translate(&json!({"tools": {}, "policy": {"net": true}})).unwrap_err();
    assert_eq!(path, ["policy"]);
}

#[test]
fn hosts_that_the_sandbox_json_allows_become_the_grant() {
    let network = json!({"allow": ["api.example.com", "*.example.org"], "default_deny": true});
    let tool = tool_of(json!({"network": network, "capabilities": {"allow": ["http.request"]}}));
    let grant = &tool.unwrap()["grant"];
    assert_eq!(grant["net"], json!(["api.example.com", "*.example.org"]));
    assert_eq!(grant["calls"], json!(["http.request"]));
    let none = tool_of(json!({"network": {"allow": []}})).unwrap();
    assert_eq!(none["grant"]["net"], json!([]));
}

#[test]
fn each_key_of_ours_leads_back_to_the_one_in_the_file() {
    let words = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
    for (ours, theirs) in [
        ("wasm", "wasm.module"),
        ("entrypoint", "wasm.entrypoint"),
        ("limits.time", "wasm.timeout_ms"),
        ("limits.fuel", "wasm.fuel"),
        ("abi", "capabilities.abi_version"),
        ("grant.calls", "capabilities.allow"),
        ("grant.calls.0", "capabilities.allow"),
        ("grant.net", "network"),
    ] {
        let found = original(&words(&format!("conversation.tools.coding.{ours}"))).unwrap();
        let path = format!("tools.settings.sandbox.tools.coding.{theirs}");
        assert_eq!(found, words(&path), "{ours}");
    }
    let tool = original(&words("conversation.tools.coding.run")).unwrap();
    assert_eq!(tool, words("tools.settings.sandbox.tools.coding"));
    assert_eq!(original(&words("kb.topic")), None);
}
