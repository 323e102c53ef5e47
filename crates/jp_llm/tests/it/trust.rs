//! Who may allow what: workspaces nobody has looked at, trust and its loss, the user's policy.

use jp_config::Layer;
use jp_llm::{
    Trust,
    tool::{Cause, Refused},
};
use serde_json::{Value, json};

use crate::kit::{Desk, Ended, call, command, wasm};

/// A workspace that grants itself everything there is.
fn hostile() -> Desk {
    let everything = "run = \"unattended\"\ngrant.workspace = \"read-write\"\n\
                      parameters.do.type = \"array\"\n";
    let config = [
        "[conversation.tools.'*']\nrun = \"unattended\"\nresult = \"unattended\"\n".to_owned(),
        command(
            "sh",
            "{ program = \"touch pwned\", shell = true }",
            "grant.net = true",
        ),
        command("no", "\"touch pwned\"", ""),
        wasm("files", everything),
    ]
    .concat();
    let mut desk = Desk::new(&config);
    desk = desk.guest("files", "files");
    desk
}

fn write() -> Value {
    json!({"do": [["write", "/workspace/pwned", "x"]]})
}

#[tokio::test]
async fn a_workspace_nobody_has_looked_at_gets_nothing() {
    let desk = hostile();
    for name in ["sh", "no"] {
        let error = desk.call(name, json!({})).await.error();
        let Cause::Refused(Refused::Denied {
            untrusted: true, ..
        }) = error.cause()
        else {
            panic!("{name}: {error:?}")
        };
    }
    // Writing in the workspace it may ask for, and there is nobody to say yes.
    let error = desk.call("files", write()).await.error();
    assert!(
        matches!(error.cause(), Cause::Refused(Refused::NotApproved)),
        "{error:?}"
    );
    assert!(error.hint().unwrap().contains("jp tool run --yes files"));
    assert!(!desk.has("pwned"));
    let records = desk.records();
    let denied = records
        .iter()
        .filter(|record| record.decision == "denied")
        .count();
    assert_eq!((denied, records.len()), (2, 3));
    assert_eq!(
        (&*records[2].decision, &*records[2].outcome),
        ("asked", "denied")
    );
}

#[tokio::test]
async fn a_denied_command_says_how_to_trust() {
    let desk = hostile();
    let error = desk.call("no", json!({})).await.error();
    assert!(
        error.hint().unwrap().contains("`jp trust`"),
        "{:?}",
        error.hint()
    );
}

#[tokio::test]
async fn a_trusted_workspace_runs_unattended() {
    let desk = hostile().trusted();
    assert_eq!(desk.said("no", json!({})).await, Ok(String::new()));
    assert!(desk.has("pwned"));
    let desk = hostile().trusted();
    assert_eq!(desk.said("files", write()).await, Ok("[\"ok\"]".to_owned()));
    assert!(desk.has("pwned"));
    // The network is the user's to give, trust or not.
    let error = desk.call("sh", json!({})).await.error();
    assert!(
        matches!(
            error.cause(),
            Cause::Refused(Refused::Denied {
                untrusted: false,
                ..
            })
        ),
        "{error:?}"
    );
    assert_eq!(
        error.hint().unwrap(),
        "add `net = true` under `[policy]` in your own configuration"
    );
}

#[tokio::test]
async fn a_changed_configuration_loses_the_trust() {
    let desk = hostile().trusted();
    let config = desk.read(".jp/config.toml");
    let mut desk = desk.file(".jp/config.toml", format!("{config}\n# harmless\n"));
    desk.look_again();
    assert_eq!(*desk.host.trust(), Trust::Stale);
    let error = desk.call("no", json!({})).await.error();
    assert!(
        matches!(
            error.cause(),
            Cause::Refused(Refused::Denied {
                untrusted: true,
                ..
            })
        ),
        "{error:?}"
    );
    let error = desk.call("files", write()).await.error();
    assert!(
        matches!(error.cause(), Cause::Refused(Refused::NotApproved)),
        "{error:?}"
    );
    // Another file that takes part is a change as well.
    let mut desk = hostile()
        .trusted()
        .file(".jp.toml", "[kb.topic.t]\nsubjects = \"kb\"\n");
    desk.look_again();
    assert_eq!(*desk.host.trust(), Trust::Stale);
}

#[tokio::test]
async fn a_swapped_wasm_file_is_refused() {
    let desk = hostile().trusted().guest("echo", "files");
    let error = desk.call("files", write()).await.error();
    assert_eq!(
        error.to_string(),
        "Wasm binary changed since you trusted it: .jp/tools/files.wasm"
    );
    assert!(error.hint().unwrap().contains("jp trust"));
    assert_eq!(desk.record(), "allowed, denied");
}

#[tokio::test]
async fn a_wasm_file_that_came_later_runs_only_when_asked_for() {
    let late = |more: &str| {
        let config = wasm("late", &format!("{more}\nparameters.do.type = \"array\""));
        Desk::new(&config).trusted().guest("files", "late")
    };
    let desk = late("run = \"unattended\"");
    let error = desk.call("late", write()).await.error();
    assert!(
        matches!(error.cause(), Cause::Refused(Refused::NotApproved)),
        "{error:?}"
    );
    // That it says `unattended` already would be no help.
    assert_eq!(
        error.hint().unwrap(),
        "`.jp/tools/late.wasm` did not exist when you trusted this workspace: look at it, then run \
         `jp trust` again; or approve this call in a terminal, or with `jp tool run --yes late …`"
    );
    assert!(!desk.has("pwned"));
    let error = late("").call("late", write()).await.error();
    assert!(error.hint().unwrap().contains("set `run"), "{error:?}");
    // A person may say yes, and whoever trusts the workspace again is not asked.
    let desk = desk.trusted();
    assert_eq!(desk.said("late", write()).await, Ok("[\"ok\"]".to_owned()));
    // What needs no trust is as in a workspace that nobody trusts.
    let desk = late("grant.workspace = \"read\"");
    assert_eq!(
        desk.said("late", json!({"do": []})).await,
        Ok("[]".to_owned())
    );
    assert_eq!(desk.record(), "allowed, success");
}

#[tokio::test]
async fn a_tool_of_the_user_is_trusted_in_any_workspace() {
    let user = command("mine", "\"touch mine\"", "");
    let desk = Desk::with_user("", &user);
    let tool = desk.tool("mine").unwrap();
    assert_eq!(
        (tool.defined_by, desk.host.trust()),
        (Layer::User, &Trust::Untrusted)
    );
    assert_eq!(desk.said("mine", json!({})).await, Ok(String::new()));
    assert!(desk.has("mine"));
    // A workspace that changes anything about it takes that away.
    let desk = Desk::with_user(
        "[conversation.tools.mine]\ncommand = \"touch theirs\"\n",
        &user,
    );
    let error = desk.call("mine", json!({})).await.error();
    assert!(
        matches!(
            error.cause(),
            Cause::Refused(Refused::Denied {
                untrusted: true,
                ..
            })
        ),
        "{error:?}"
    );
    assert!(!desk.has("theirs"));
}

#[tokio::test]
async fn the_users_policy_lowers_what_tools_get_and_its_hint_is_right() {
    let writer = wasm(
        "files",
        "run = \"unattended\"\nparameters.do.type = \"array\"",
    );
    let with = |policy: &str| {
        Desk::with_user(&writer, policy)
            .guest("files", "files")
            .trusted()
    };
    let desk = with("[policy]\nworkspace = \"read\"\n");
    let error = desk.call("files", write()).await.error();
    assert!(error.to_string().contains("/workspace"), "{error}");
    let line = "files = [\"/workspace:read-write\"]";
    assert!(error.hint().unwrap().contains(line), "{:?}", error.hint());
    assert_eq!(desk.record(), "denied, denied");
    // Whoever follows the hint gets on.
    let desk = with(&format!("[policy]\nworkspace = \"read\"\n{line}\n"));
    assert_eq!(desk.said("files", write()).await, Ok("[\"ok\"]".to_owned()));
    let desk = Desk::with_user(
        &command("c", "\"true\"", ""),
        "[policy]\nsubprocess = false\n",
    );
    let error = desk.trusted().call("c", json!({})).await.error();
    assert!(
        error.hint().unwrap().contains("subprocess = true"),
        "{error}"
    );
}

#[tokio::test]
async fn a_tool_that_was_defined_before_follows_policy_and_trust() {
    let mut desk = hostile().trusted();
    let tool = desk.tool("no").unwrap();
    let run = || call(json!({}));
    assert!(tool.execute(run(), &desk.host).await.unwrap().is_success());
    let before = desk.host.clone();
    desk.rebuild(|host| host.trust(Trust::Stale));
    let error = tool.execute(run(), &desk.host).await.unwrap_err();
    assert!(
        matches!(
            error.cause(),
            Cause::Refused(Refused::Denied {
                untrusted: true,
                ..
            })
        ),
        "{error:?}"
    );
    let mut policy = before.policy().clone();
    policy.capabilities.subprocess = false;
    desk.host = before.clone().into_builder().policy(policy).build();
    let error = tool.execute(run(), &desk.host).await.unwrap_err();
    assert!(
        matches!(
            error.cause(),
            Cause::Refused(Refused::Denied {
                untrusted: false,
                ..
            })
        ),
        "{error:?}"
    );
    assert!(tool.execute(run(), &before).await.unwrap().is_success());
}

#[tokio::test]
async fn a_topic_cannot_lead_out_of_the_workspace() {
    let desk = Desk::new("[kb.topic.t]\nsubjects = \"kb\"\n");
    std::os::unix::fs::symlink("/etc", desk.root.join("kb")).unwrap();
    let said = desk
        .said("learn", json!({"topic": "t", "subjects": "passwd"}))
        .await;
    let said = said.unwrap_err();
    assert!(
        said.starts_with("The subjects of topic `t` cannot be read"),
        "{said}"
    );
    let desk = Desk::new("[kb.topic.t]\nsubjects = \"kb\"\n").file("kb/a.md", "A");
    std::os::unix::fs::symlink("/etc/passwd", desk.root.join("kb/passwd")).unwrap();
    let said = desk
        .said("learn", json!({"topic": "t", "subjects": ["**", "passwd"]}))
        .await;
    assert!(!format!("{said:?}").contains("root:"), "{said:?}");
}
