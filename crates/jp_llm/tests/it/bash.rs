//! The builtin `bash`: what its grant shows it, what its limits stop, what is kept.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use jp_llm::{
    Approval, Caller, Events, ExecutionOutcome, Host,
    tool::{Cause, Stop},
};
use jp_policy::Limit;
use jp_tool::ToolStatus;
use serde_json::{Value, json};

use crate::kit::{Desk, Ended, call};

/// A script's answer, read back.
async fn run(desk: &Desk, commands: &str) -> Value {
    let said = desk.said("bash", json!({ "commands": commands })).await;
    serde_json::from_str(&said.unwrap_or_else(|no| no)).unwrap()
}

fn configured(more: &str) -> String {
    format!("[conversation.tools.bash]\nsource = \"builtin\"\n{more}\n")
}

#[tokio::test]
async fn without_configuration_a_script_sees_virtual_files_only() {
    let desk = Desk::new("").file("notes.txt", "secret");
    let answer = run(
        &desk,
        "ls /workspace; pwd; echo $((6 * 7)) | cat; ls / | tr '\\n' ' '",
    )
    .await;
    assert_eq!(
        answer["stdout"],
        "/home/user\n42\nbin dev etc home tmp usr "
    );
    assert_eq!(desk.record(), "allowed, success");
    let desk = Desk::new("");
    assert_eq!(run(&desk, "exit 3").await["exit_code"], 3);
    assert_eq!(desk.record(), "allowed, error");
}

#[tokio::test]
async fn a_read_grant_shows_the_workspace_and_keeps_it_as_it_is() {
    let desk = Desk::new(&configured("grant.workspace = \"read\"")).file("notes.txt", "one\n");
    let answer = run(
        &desk,
        "cat notes.txt; echo more >> notes.txt; cat /etc/passwd | wc -l",
    )
    .await;
    assert_eq!(answer["stdout"], "one\n2\n");
    assert!(
        answer["stderr"]
            .as_str()
            .unwrap()
            .contains("Read-only file system")
    );
    assert_eq!(desk.read("notes.txt"), "one\n");
    assert_eq!(desk.records()[0].grant, "fs=/workspace:read net=none");
}

#[tokio::test]
async fn writing_asks_a_person_first() {
    let config = configured("grant.workspace = \"read-write\"");
    let (desk, person) = Desk::new(&config).trusted().person(Approval::Refused(None));
    let said = desk.said("bash", json!({"commands": "touch made"})).await;
    assert_eq!(said, Ok("Tool skipped by user.".to_owned()));
    assert!(!desk.has("made") && person.asked() == 1);
    let (desk, _) = Desk::new(&config).trusted().person(Approval::Approved);
    run(&desk, "touch made").await;
    assert!(desk.has("made"));
}

#[tokio::test]
async fn no_link_leads_a_script_out_of_the_workspace() {
    let desk = Desk::new(&configured("grant.workspace = \"read\""));
    std::os::unix::fs::symlink("/etc", desk.root.join("link")).unwrap();
    std::os::unix::fs::symlink("../../..", desk.root.join("up")).unwrap();
    let answer = run(
        &desk,
        "cat link/hostname up/etc/hostname; cd ..; ls; cat ../../etc/shadow",
    )
    .await;
    let host = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    let out = answer["stdout"].as_str().unwrap();
    // The links lead somewhere in the script's own tree, whose host has another name.
    assert!(
        host.trim().is_empty() || !out.contains(host.trim()),
        "{out}"
    );
    assert!(!out.contains("root:"), "{out}");
}

#[tokio::test]
async fn each_limit_stops_the_script_and_keeps_its_output() {
    for (limits, script, limit) in [
        (
            "limits.time = 200",
            "echo a; while :; do :; done",
            Limit::Time,
        ),
        (
            "limits.memory = \"8MiB\"",
            "echo a; x=ab; while :; do x=$x$x; done",
            Limit::Memory,
        ),
        (
            "limits.output = 1000",
            "echo a; while :; do echo more; done",
            Limit::Output,
        ),
        (
            "limits.fuel = 10000",
            "echo a; while :; do :; done",
            Limit::Fuel,
        ),
    ] {
        let desk = Desk::new(&configured(limits));
        let executed = desk.call("bash", json!({ "commands": script })).await;
        assert!(executed.details.stdout.starts_with(b"a\n"), "{limits}");
        match executed.error().into_cause() {
            Cause::Stopped(Stop::LimitReached {
                limit: found,
                printed,
                ..
            }) => {
                assert_eq!(found, limit);
                assert!(printed.stdout.starts_with("a\n"), "{limits}");
            }
            other => panic!("{limits}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn state_is_kept_between_calls_only_where_that_is_configured() {
    let desk = Desk::new("");
    let tool = desk.tool("bash").unwrap().prepare();
    let said = async |tool: &jp_llm::PreparedTool, host: &Host, commands: &str| {
        let call = call(json!({ "commands": commands }));
        match tool.execute(call, host).await.unwrap() {
            ExecutionOutcome::Completed { result, .. } => result.unwrap(),
            other => panic!("{other:?}"),
        }
    };
    said(&tool, &desk.host, "x=1; echo data > /tmp/f").await;
    assert!(
        said(&tool, &desk.host, "echo [$x]; cat /tmp/f; true")
            .await
            .contains(r#""stdout":"[]\n""#)
    );
    let kept = Desk::new(&configured("options.session = \"kept\""));
    let tool = kept.tool("bash").unwrap().prepare();
    said(&tool, &kept.host, "x=1; echo data > /tmp/f").await;
    assert!(
        said(&tool, &kept.host, "echo [$x]; cat /tmp/f")
            .await
            .contains(r#""stdout":"[1]\ndata\n""#)
    );
    // Somebody else has a session of their own, also with the same tool.
    let bob = kept.host.for_caller(Caller {
        principal: "bob".to_owned(),
        ..Caller::default()
    });
    let theirs = said(&tool, &bob, "echo [$x]; cat /tmp/f; true").await;
    assert!(theirs.contains(r#""stdout":"[]\n""#), "{theirs}");
    // And so has a caller of that name who may do less than before.
    let mut less = kept.host.policy().clone();
    less.ceilings.time = Duration::from_secs(5);
    let less = kept.host.for_caller(Caller {
        policy: Some(less),
        ..kept.host.caller().clone()
    });
    let less = said(&tool, &less, "echo [$x]; true").await;
    assert!(less.contains(r#""stdout":"[]\n""#), "{less}");
    let mine = said(&tool, &kept.host, "echo [$x]").await;
    assert!(mine.contains(r#""stdout":"[1]\n""#), "{mine}");
}

#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Events for Heard {
    fn report(&self, _: &str, _: &str, status: ToolStatus) {
        let said = status.output.unwrap_or(status.phase);
        self.0.lock().unwrap().push(said);
    }
}

#[tokio::test]
async fn phases_and_output_are_reported_when_they_happen() {
    let mut desk = Desk::new("");
    let heard = Arc::new(Heard::default());
    desk.caller(|caller| caller.events = Some(Arc::clone(&heard) as Arc<dyn Events>));
    run(&desk, "for i in 1 2; do echo $i; done").await;
    let all = ["validate", "parse", "execute", "1\n", "2\n", "complete"];
    assert_eq!(*heard.0.lock().unwrap(), all);
    heard.0.lock().unwrap().clear();
    run(&desk, "if; then").await;
    let heard = heard.0.lock().unwrap();
    assert_eq!(heard[..2], ["validate", "parse"]);
    assert!(!heard.iter().any(|said| said == "execute"), "{heard:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_script_ends_soon() {
    let desk = Desk::new("");
    let spin = call(json!({"commands": "while :; do :; done"}));
    let cancel = spin.cancel.clone();
    let stop = async {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        cancel.cancel();
    };
    let (executed, ()) = tokio::join!(desk.make("bash", spin), stop);
    assert!(matches!(
        executed.result.unwrap(),
        ExecutionOutcome::Cancelled { .. }
    ));
    assert_eq!(desk.record(), "allowed, cancelled");
}
