//! Tools that come signed with the workspace.

use std::fs;

use jp_config::ToolingConfig;
use jp_llm::registry::{SignedProblem, brought};
use serde_json::{Value, json};

use crate::{
    kit::{Desk, Ended, call},
    shop::{Shop, manifest, read_again},
    signed::{problem, refusal},
};

const CUSTOM: &str = "[tooling.echo]\npath = \"tools/echo.wasm\"\nmanifest = \"tools/echo.json\"\n\
                      signature_file = \"tools/echo.sig\"\n";

fn custom_desk(shop: &Shop) -> Desk {
    let bytes = fs::read(jp_test::guest("echo")).unwrap();
    let manifest: Value = manifest("echo", &bytes, &json!({"input_schema": {"type": "object"}}));
    let mut desk = Desk::new(CUSTOM)
        .file("tools/echo.wasm", &bytes)
        .file("tools/echo.json", manifest.to_string())
        .file("tools/echo.sig", shop.signed(&manifest).to_bytes());
    fs::create_dir_all(desk.held().join("data")).unwrap();
    read_again(&mut desk);
    desk
}

/// Locks the tool as it is.
fn locked(shop: &Shop, desk: &mut Desk) {
    let installer = shop.installer(desk);
    let tools = desk.loaded.config.tooling.iter();
    let tools = tools.filter_map(|(name, tool)| match tool {
        ToolingConfig::Custom(tool) => Some(brought(name, tool).unwrap()),
        ToolingConfig::Registry(_) => None,
    });
    let tools: Vec<_> = tools.collect();
    for (_, outcome) in installer.lock_custom(&desk.root, &tools).unwrap() {
        outcome.unwrap();
    }
    drop(installer);
    read_again(desk);
}

#[tokio::test]
async fn e48_another_version_in_its_place_is_stopped_and_shown_until_it_is_locked() {
    let shop = Shop::new();
    let mut desk = custom_desk(&shop);
    shop.trusted_by(&desk);
    locked(&shop, &mut desk);
    let bytes = fs::read(jp_test::guest("echo")).unwrap();
    let more = json!({"input_schema": {"type": "object"}, "version": "0.9.0",
        "description": "Does what its arguments say, and more."});
    let older = manifest("echo", &bytes, &more);
    let mut desk = desk
        .file("tools/echo.json", older.to_string())
        .file("tools/echo.sig", shop.signed(&older).to_bytes());
    read_again(&mut desk);
    let error = refusal(&desk, "echo");
    assert!(
        matches!(problem(&error), SignedProblem::Changed { .. }),
        "{error}"
    );
    let text = error.to_string();
    for line in [
        "- version: 1.0.0",
        "+ version: 0.9.0",
        "+ description: Does what its arguments say, and more.",
    ] {
        assert!(text.contains(line), "no {line} in {text}");
    }
    assert!(error.hint().unwrap().contains("`jp tool lock`"));
    let registry = desk.host.registry().cloned().unwrap();
    let origin = registry.origin("echo", &desk.loaded, &desk.root).unwrap();
    assert!(origin.is_locked && origin.problem.is_some());
    // As it was, it runs again.
    let before = manifest("echo", &bytes, &json!({"input_schema": {"type": "object"}}));
    let mut desk = desk
        .file("tools/echo.json", before.to_string())
        .file("tools/echo.sig", shop.signed(&before).to_bytes());
    read_again(&mut desk);
    let ran = desk.tool("echo").unwrap();
    let ran = ran
        .execute_detailed(call(json!({"text": "hello"})), &desk.host)
        .await;
    assert!(ran.said().is_ok());
}

#[tokio::test]
async fn a_tool_that_comes_with_the_workspace_runs_if_a_trusted_key_signed_it() {
    let shop = Shop::new();
    let mut desk = custom_desk(&shop);
    let error = refusal(&desk, "echo");
    assert!(
        matches!(problem(&error), SignedProblem::Key { .. }),
        "{error}"
    );
    shop.trusted_by(&desk);
    read_again(&mut desk);
    let error = refusal(&desk, "echo");
    assert!(
        matches!(problem(&error), SignedProblem::NotLocked),
        "{error}"
    );
    assert!(error.hint().unwrap().contains("jp tool lock"));
    locked(&shop, &mut desk);
    let tool = desk.tool("echo").unwrap().prepare();
    let ran = tool
        .execute_detailed(call(json!({"text": "hello"})), &desk.host)
        .await;
    assert!(ran.said().is_ok());
    assert!(tool.is_current(&desk.host));
    // Another file in its place, after it was verified.
    let other = fs::read(jp_test::guest("files")).unwrap();
    let mut desk = desk.file("tools/echo.wasm", other);
    assert!(!tool.is_current(&desk.host));
    let error = tool
        .execute_detailed(call(json!({"text": "hello"})), &desk.host)
        .await
        .error();
    assert!(
        matches!(problem(&error), SignedProblem::Refused { .. }),
        "{error}"
    );
    read_again(&mut desk);
    assert!(desk.tool("echo").is_err());
}
