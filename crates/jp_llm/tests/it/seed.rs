//! The tests that the architecture of Wasm tools names, under the names it gives them.

use jp_llm::ExecutionOutcome;
use jp_tool::Outcome;
use serde_json::json;

use crate::kit::{Desk, Ended, call};

/// The workspace of the document, with the test tool in it.
fn workspace() -> Desk {
    let config = r#"
[conversation.tools.wasm_test]
source = "local"
wasm = ".jp/tools/test_tool.wasm"
description = "Test tool that reads a file from the workspace"

[conversation.tools.wasm_test.parameters.path]
type = "string"
description = "Relative file path to read"
required = true

[kb.topic.skills]
title = "Skills"
subjects = ".jp/kb/skills"
"#;
    Desk::new(config)
        .guest("jp_tool_test", "test_tool")
        .file("src/main.rs", "fn main() {}\n")
        .file(".jp/kb/skills/my-subject.md", "# Mine\n")
        .file(".jp/kb/skills/other.md", "# Other\n")
        .file(".jp/kb/skills/.hidden.md", "# Hidden\n")
        .agreed()
}

async fn learn(subjects: serde_json::Value) -> String {
    let arguments = json!({"topic": "skills", "subjects": subjects});
    workspace().said("learn", arguments).await.unwrap()
}

#[tokio::test]
async fn test_local_wasm_tool_reads_file() {
    let desk = workspace();
    let tool = desk.tool("wasm_test").unwrap();
    let outcome = tool
        .execute(call(json!({"path": "src/main.rs"})), &desk.host)
        .await
        .unwrap();
    let expected = ExecutionOutcome::Completed {
        id: "c1".to_owned(),
        result: Ok("fn main() {}\n".to_owned()),
    };
    assert_eq!(outcome, expected);
}

#[tokio::test]
async fn test_wasm_filesystem_scoping() {
    let desk = workspace();
    // Beside the workspace lies the user's own configuration.
    for path in [
        "../user/config.toml",
        "src/../../user/config.toml",
        "../workspace-2/x",
    ] {
        let said = desk.said("wasm_test", json!({"path": path})).await;
        assert!(
            said.unwrap_err().starts_with("Failed to read file"),
            "{path}"
        );
    }
    std::os::unix::fs::symlink("/etc/hostname", desk.root.join("link")).unwrap();
    let said = desk.said("wasm_test", json!({"path": "link"})).await;
    assert!(said.unwrap_err().starts_with("Failed to read file"));
}

#[tokio::test]
async fn test_builtin_and_local_same_contract() {
    let desk = workspace();
    let learned = desk
        .call("learn", json!({"topic": "skills", "subjects": "other"}))
        .await;
    let read = desk
        .call("wasm_test", json!({"path": ".jp/kb/skills/other.md"}))
        .await;
    for executed in [&learned, &read] {
        assert_eq!(executed.details.outcome, Some(Outcome::from("# Other\n")));
        assert!(
            executed
                .details
                .sha256
                .as_ref()
                .is_some_and(|hash| hash.len() == 64)
        );
        assert!(executed.details.fuel.is_some_and(|fuel| fuel > 0));
    }
    let missing = desk
        .call("learn", json!({"topic": "skills", "subjects": "nope"}))
        .await;
    let unread = desk.call("wasm_test", json!({"path": "nope"})).await;
    for executed in [missing, unread] {
        assert!(matches!(
            executed.details.outcome,
            Some(Outcome::Error {
                transient: false,
                ..
            })
        ));
        assert!(executed.said().is_err());
    }
}

#[tokio::test]
async fn test_learn_tool_lists_subjects() {
    let text = learn(json!(null)).await;
    assert_eq!(
        text,
        "# Topic: Skills\n\n## Available subjects:\n\n- my-subject\n- other\n\n\
         Use the `learn` tool with the `subjects` argument to learn specific subjects."
    );
}

#[tokio::test]
async fn test_learn_tool_reads_subject() {
    assert_eq!(learn(json!(["my-subject"])).await, "# Mine\n");
}

#[tokio::test]
async fn test_learn_tool_hides_dot_prefixed() {
    let all = learn(json!(["*"])).await;
    assert!(all.contains("# Mine") && all.contains("# Other"), "{all}");
    assert!(!all.to_lowercase().contains("hidden"), "{all}");
    // Whoever knows its name can have it.
    assert_eq!(learn(json!("hidden")).await, "# Hidden\n");
}

#[tokio::test]
async fn test_local_wasm_tool_execution() {
    let desk = workspace();
    let executed = desk.call("wasm_test", json!({"path": "src/main.rs"})).await;
    assert_eq!(
        &*executed.details.grant,
        "fs=/workspace:read-write net=none"
    );
    assert_eq!(executed.said(), Ok("fn main() {}\n".to_owned()));
    assert_eq!(desk.record(), "approved, success");
}

#[tokio::test]
async fn test_wasm_sandbox_prevents_escape() {
    let desk = workspace();
    for path in [
        "/etc/passwd",
        "../../etc/passwd",
        "../../../../../../../../etc/passwd",
    ] {
        let said = desk.said("wasm_test", json!({"path": path})).await;
        let error = said.unwrap_err();
        assert!(error.starts_with("Failed to read file"), "{path}: {error}");
    }
}

#[tokio::test]
async fn test_builtin_and_local_produce_same_outcome_type() {
    let desk = workspace();
    let learned = desk
        .call("learn", json!({"topic": "skills", "subjects": "other"}))
        .await;
    let read = desk
        .call("wasm_test", json!({"path": ".jp/kb/skills/other.md"}))
        .await;
    let as_json = |outcome: &Option<Outcome>| serde_json::to_string(outcome).unwrap();
    let expected = r##"{"type":"success","content":"# Other\n"}"##;
    assert_eq!(as_json(&learned.details.outcome), expected);
    assert_eq!(as_json(&read.details.outcome), expected);
    assert_eq!(learned.result.unwrap(), read.result.unwrap());
}
