//! Tools that come signed with the workspace.

use std::fs;

use jp_llm::registry::SignedProblem;
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
    let tool = desk.tool("echo").unwrap();
    let ran = tool
        .execute_detailed(call(json!({"text": "hello"})), &desk.host)
        .await;
    assert!(ran.said().is_ok());
    // Another file in its place, after it was verified.
    let other = fs::read(jp_test::guest("files")).unwrap();
    let mut desk = desk.file("tools/echo.wasm", other);
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
