//! Where the system cannot confine: refused, unless the user said otherwise.

use std::process::Command;

use jp_llm::{
    Approval,
    tool::{Cause, Refused},
};
use serde_json::json;

use crate::kit::{Desk, Ended, command};

/// Tells a test that it runs where there are no namespaces to be had.
const NO_NAMESPACES: &str = "JP_LLM_TEST_NO_NAMESPACES";

async fn a_command_is_refused_and_not_run(mut desk: Desk) {
    let error = desk.call("t", json!({})).await.error();
    assert!(
        matches!(error.cause(), Cause::Refused(Refused::Unconfinable { .. })),
        "{error:?}"
    );
    assert!(
        error.hint().unwrap().contains("unconfined = true"),
        "{error}"
    );
    assert!(!desk.has("ran"));
    assert_eq!(desk.record(), "allowed, denied");
    desk.rebuild(|host| host.unconfined(true));
    assert_eq!(desk.said("t", json!({})).await, Ok(String::new()));
    assert!(desk.has("ran"));
}

fn touches() -> Desk {
    Desk::new(&command("t", "\"touch ran\"", "")).trusted()
}

/// What `f65_without_namespaces_a_command_is_refused` runs where there are none.
#[tokio::test]
async fn without_namespaces() {
    if std::env::var_os(NO_NAMESPACES).is_none() {
        return;
    }
    let desk = touches();
    let error = desk.host.launcher().unwrap().support().unwrap_err();
    assert!(
        error.to_string().contains("user.max_user_namespaces"),
        "{error}"
    );
    a_command_is_refused_and_not_run(desk).await;
}

#[test]
fn f65_without_namespaces_a_command_is_refused() {
    let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
    let wrapped = Command::new("unshare")
        .args(["--user", "--map-root-user", "sh", "-c", script, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "unconfined::without_namespaces"])
        .env(NO_NAMESPACES, "1")
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&wrapped.stdout);
    assert!(
        wrapped.status.success() && out.contains("1 passed"),
        "{wrapped:?}"
    );
}

#[tokio::test]
async fn f65_without_a_launcher_a_command_is_refused() {
    let mut desk = touches();
    desk.rebuild(|host| host.launcher(None));
    a_command_is_refused_and_not_run(desk).await;
}

#[tokio::test]
async fn an_unconfined_command_has_no_environment_and_leaves_no_children_when_cancelled() {
    let line = "{ program = \"sh\", args = [\"-c\", \"exec 9>pipe; echo up >&9; sleep 1000 & sleep 1000\"] }";
    let config = [command("t", line, ""), command("env", "\"env\"", "")].concat();
    let mut desk = Desk::new(&config).trusted();
    desk.rebuild(|host| host.launcher(None).unconfined(true));
    let said = desk.said("env", json!({})).await.unwrap();
    assert_eq!(said.lines().count(), 4, "{said}");
    let path = crate::kit::pipe(&desk, "pipe");
    let call = crate::kit::call(json!({}));
    let cancel = call.cancel.clone();
    let gone = tokio::task::spawn_blocking(move || {
        let mut reader = std::io::BufReader::new(std::fs::File::open(path).unwrap());
        std::io::BufRead::read_line(&mut reader, &mut String::new()).unwrap();
        cancel.cancel();
        std::io::Read::read_to_end(&mut reader, &mut Vec::new()).unwrap();
    });
    assert!(desk.make("t", call).await.result.unwrap().is_cancelled());
    gone.await.unwrap();
}

#[tokio::test]
async fn a_person_is_told_of_full_authority() {
    let config = command("t", "\"true\"", "").replace("unattended", "ask");
    let desk = Desk::with_user(&config, "[policy]\nunconfined = true\n").trusted();
    let (desk, person) = desk.person(Approval::Approved);
    assert_eq!(desk.said("t", json!({})).await, Ok(String::new()));
    let heard = person.heard.lock().unwrap();
    assert!(heard[0].ends_with("unconfined"), "{heard:?}");
}
