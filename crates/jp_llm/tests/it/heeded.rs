//! What is configured holds for the tool, however its file is found; what could not hold is refused.

use jp_llm::tool::{Cause, Misconfigured, Ungrantable};
use jp_test::abi::{Abi, data, entry};
use serde_json::{Value, json};

use crate::{
    capabilities::{desk, parsed},
    kit::Ended,
};

/// A module that answers `{"by": …}` with the export that was called.
fn with_two_entries() -> Vec<u8> {
    let (first, second) = (br#"{"by":"execute"}"#, br#"{"by":"other"}"#);
    let body = format!(
        "(call $pack (i32.const 90000) (i32.const {}))",
        second.len()
    );
    let more = [data(90000, second), entry("other", &body)].concat();
    Abi::saying(first).with(&more).bytes()
}

#[tokio::test]
async fn what_is_configured_holds_for_a_module_that_is_found_by_its_name() {
    let entry = "[conversation.tools.greet]\nsource = \"local\"\n";
    let other = format!(
        "{entry}entrypoint = \"other\"\nparameters.who = {{ type = \"string\", required = true }}\n"
    );
    for (config, said) in [(entry, "execute"), (&other, "other")] {
        let held = desk(config, "").file("wasm/greet_tool.wasm", with_two_entries());
        let greeted = held.said("greet", json!({"who": "me"})).await.unwrap();
        assert_eq!(parsed(&greeted)["by"], said);
    }
    let held = desk(&other, "").file("wasm/greet_tool.wasm", with_two_entries());
    assert!(held.said("greet", json!({})).await.is_err());
    let asks = entry.to_owned() + "grant.workspace = \"read\"\n";
    let held = desk(&asks, "").file("wasm/greet_tool.wasm", with_two_entries());
    let tool = held.tool("greet").unwrap();
    assert_eq!(
        tool.request.capabilities.to_string(),
        "fs=/workspace:read net=none"
    );
    // Such a module could not open a file if it were given one.
    let error = held.call("greet", json!({})).await.error();
    assert!(
        matches!(error.cause(), Cause::Ungrantable(Ungrantable::Unbacked(_))),
        "{error}"
    );
    let absent = entry.to_owned() + "entrypoint = \"absent\"\n";
    let held = desk(&absent, "").file("wasm/greet_tool.wasm", with_two_entries());
    let error = held.call("greet", json!({})).await.error();
    assert!(error.to_string().contains("absent"), "{error}");
}

#[tokio::test]
async fn entrypoint_and_abi_of_the_sandbox_json_hold_without_a_module() {
    let json = |wasm: &Value, capabilities: &Value| {
        let tool = json!({"wasm": wasm, "capabilities": capabilities});
        json!({"tools": {"settings": {"sandbox": {"tools": {"greet": tool}}}}}).to_string()
    };
    let run = async |text: &str, wasm: Vec<u8>| {
        let held = desk("", "");
        std::fs::remove_file(held.root.join(".jp/config.toml")).unwrap();
        let mut held = held
            .file(".jp/config.json", text)
            .file("wasm/greet_tool.wasm", wasm);
        held.look_again();
        held.call("greet", json!({})).await
    };
    let called = json(&json!({"entrypoint": "other"}), &json!({}));
    let said = run(&called, with_two_entries()).await.said().unwrap();
    assert_eq!(parsed(&said)["by"], "other");
    // Only a module that is spoken to in version 2 is told what its call brought.
    let resumes = || {
        let call = json!({"status": "capability_call", "abi_version": 2,
            "capability_call": {"name": "clock.now_unix", "args": {}}});
        let done = br#"{"by":"resume"}"#;
        let body = format!("(call $pack (i32.const 90000) (i32.const {}))", done.len());
        let more = [data(90000, done), entry("resume", &body)].concat();
        Abi::saying(call.to_string()).with(&more).bytes()
    };
    let version = |abi: u8| {
        let stated = json!({"abi_version": abi, "allow": ["clock.now_unix"]});
        json(&json!({}), &stated)
    };
    let said = run(&version(2), resumes()).await.said().unwrap();
    assert_eq!(parsed(&said)["by"], "resume");
    assert!(run(&version(1), resumes()).await.said().is_err());
}

#[tokio::test]
async fn what_a_builtin_takes_no_notice_of_is_refused_in_the_entry_that_stands_for_it() {
    for (line, key) in [
        ("entrypoint = \"other\"", "entrypoint"),
        ("abi = 2", "abi"),
        ("parameters.x = { type = \"string\" }", "parameters"),
        ("grant.workspace = \"read\"", "grant.workspace"),
        ("grant.files = [\"/workspace/a:read\"]", "grant.files"),
        ("grant.selected = \"read\"", "grant.selected"),
        ("grant.env = [\"LANG\"]", "grant.env"),
    ] {
        let config = format!("[conversation.tools.todo]\nsource = \"local\"\n{line}\n");
        let error = desk(&config, "").tool("todo").err().unwrap();
        assert!(
            matches!(error.cause(), Cause::Misconfigured(Misconfigured::Unheard { key: found, .. }) if *found == key),
            "{line}: {error}"
        );
        assert!(error.hint().unwrap().contains("wasm/todo_tool.wasm"));
    }
    let config =
        "[conversation.tools.todo]\nsource = \"local\"\nentrypoint = \"execute\"\nabi = 1\n";
    assert!(desk(config, "").tool("todo").is_ok());
}

#[tokio::test]
async fn an_entrypoint_of_a_component_is_refused_since_it_would_have_no_effect() {
    for line in ["entrypoint = \"execute\"", "abi = 2"] {
        let config = format!(
            "[conversation.tools.echo]\nsource = \"local\"\nwasm = \".jp/tools/echo.wasm\"\n{line}\n"
        );
        let held = desk(&config, "").guest("echo", "echo").agreed();
        let error = held.call("echo", json!({})).await.error();
        let key = line.split(' ').next().unwrap();
        assert!(
            error
                .to_string()
                .contains(&format!("`{key}` would have no effect")),
            "{error}"
        );
    }
}
