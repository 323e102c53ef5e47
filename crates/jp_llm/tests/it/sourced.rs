//! Tools with `source = "registry"` in `[conversation.tools]`: the configuration says how they are
//! called, shown and limited and who is asked; what the signed manifest says it cannot change.

use jp_config::tool::RunMode;
use jp_llm::{
    Approval,
    registry::SignedProblem,
    tool::{Cause, Misconfigured, Stop},
};
use serde_json::json;

use crate::{
    kit::{Desk, Ended},
    shop::{Shop, read_again},
    signed::{problem, refusal},
};

fn desk(config: &str) -> Desk {
    let shop = Shop::new();
    shop.publish("files", &json!({}));
    shop.installed(Desk::new(config), "files")
}

#[tokio::test]
async fn a_tool_is_called_by_the_name_the_configuration_gives_it() {
    let desk = desk("[conversation.tools.look]\nsource = \"registry.files\"\n");
    assert_eq!(desk.said("look", json!({"do": []})).await.unwrap(), "[]");
    let record = &desk.records()[0];
    assert_eq!((&*record.tool, &*record.source), ("look", "registry"));
    // The lock file's own name goes on working.
    assert_eq!(desk.said("files", json!({"do": []})).await.unwrap(), "[]");
}

#[test]
fn what_the_signed_manifest_says_the_configuration_cannot_change() {
    for line in [
        "summary = 'Ours'",
        "description = 'Ours'",
        "examples = 'Ours'",
        "parameters.do = { type = 'string', default = 'x' }",
        "grant.workspace = 'read-write'",
        "grant.net = true",
    ] {
        let dir = tempfile::tempdir().unwrap();
        let text = format!("[conversation.tools.files]\nsource = 'registry'\n{line}\n");
        std::fs::write(dir.path().join(".jp.toml"), text).unwrap();
        let loaded = jp_config::load(&jp_config::Sources {
            workspace_root: Some(dir.path().to_path_buf()),
            cwd: dir.path().to_path_buf(),
            ..jp_config::Sources::default()
        });
        let error = loaded.unwrap_err().to_string();
        assert!(error.contains("the signed manifest"), "{line}: {error}");
    }
}

#[tokio::test]
async fn limits_are_lowered_and_raised_by_the_configuration() {
    let limits = |limits: &str| {
        desk(&format!(
            "[conversation.tools.files]\nsource = \"registry\"\n{limits}\n"
        ))
    };
    let twice = json!({"do": [["write", "/tmp/a", "x"]], "times": 200});
    let few = limits("limits.output = 100");
    let error = few.call("files", twice.clone()).await.error();
    assert!(
        matches!(error.cause(), Cause::Stopped(Stop::LimitReached { .. })),
        "{error}"
    );
    let hint = error.hint().unwrap();
    assert!(
        hint.contains("`limits.output` under `[conversation.tools.files]`"),
        "{hint}"
    );
    let more = limits("limits.fuel = 20000000000");
    let granted = more
        .tool("files")
        .unwrap()
        .preview(&more.host)
        .unwrap()
        .grant;
    assert_eq!(granted.limits().fuel, Some(20_000_000_000));
    let plain = limits("");
    let granted = plain
        .tool("files")
        .unwrap()
        .preview(&plain.host)
        .unwrap()
        .grant;
    assert_eq!(granted.limits().fuel, Some(1_000_000_000));
}

#[tokio::test]
async fn who_is_asked_and_whether_it_is_offered_the_configuration_says() {
    let config =
        |more: &str| format!("[conversation.tools.files]\nsource = \"registry\"\n{more}\n");
    let (asking, person) = desk(&config("run = \"ask\"")).person(Approval::Approved);
    assert_eq!(asking.said("files", json!({"do": []})).await.unwrap(), "[]");
    assert_eq!(person.asked(), 1);
    let plain = desk("");
    let preview = plain.tool("files").unwrap().preview(&plain.host).unwrap();
    assert_eq!(preview.run, RunMode::Unattended);
    let off = desk(&config("enable = false"));
    let error = off.call("files", json!({"do": []})).await.error();
    assert!(
        matches!(error.cause(), Cause::Misconfigured(Misconfigured::Disabled)),
        "{error}"
    );
    let quiet = desk(&config("result = \"skip\""));
    let said = quiet.said("files", json!({"do": []})).await.unwrap();
    assert!(said.contains("skipped by configuration"), "{said}");
}

#[tokio::test]
async fn a_tool_that_is_not_locked_is_told_so() {
    let mut desk = Desk::new("[conversation.tools.look]\nsource = \"registry.files\"\n");
    std::fs::create_dir_all(desk.held().join("data")).unwrap();
    read_again(&mut desk);
    let error = refusal(&desk, "look");
    assert!(
        matches!(problem(&error), SignedProblem::NotLocked),
        "{error}"
    );
}
