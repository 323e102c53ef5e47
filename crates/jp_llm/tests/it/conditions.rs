//! What a tool needs only when an argument is a chosen file: it has it in such calls, it has not in
//! others, and where somebody does not allow it the missing line is named.

use std::{collections::BTreeMap, fs};

use jp_llm::{
    Call, ChosenFile, Executed,
    tool::{Cause, Refused, Ungrantable},
};
use jp_policy::Access;
use serde_json::{Value, json};

use crate::{
    kit::{Desk, Ended, call},
    shop::Shop,
};

const SELECTED: &str = "[capabilities]\nfs.user-selected = \"read\"\n";

/// A workspace with a tool that asks for chosen files, and for one thing more if there is one.
fn desk(guest: &str, more: &str, config: &str, user: &str) -> Desk {
    let shop = Shop::new();
    let when = |what: &str| format!("{what} when /source is a file");
    let mut needs = vec![when("fs.user-selected:read"), when(more)];
    // Hosts are reached by a call, and by nothing else.
    needs.extend(more.starts_with("net:").then(|| when("http.request")));
    shop.publish(guest, &json!({ "capability_requirements": needs }));
    let mut desk = shop.installed(Desk::with_user(config, user), guest);
    fs::write(desk.held().join("note.txt"), "a note").unwrap();
    fs::create_dir(desk.held().join("documents")).unwrap();
    let places = [("/app-data", "app-data"), ("/user/documents", "documents")];
    let places = places.map(|(place, dir)| (place.to_owned(), desk.held().join(dir)));
    let variable = |name: &str| (name == "GREETING").then(|| "hello".into());
    desk.rebuild(|host| host.places(places.into()).variable(variable));
    desk.agreed()
}

/// Calls the tool with a chosen file as its source.
async fn with_file(desk: &Desk, tool: &str, mut arguments: Value) -> Executed {
    let path = desk.held().join("note.txt");
    let access = Access::Read;
    arguments["source"] = json!({"$file": "a"});
    let call = Call {
        files: BTreeMap::from([("a".to_owned(), ChosenFile { path, access })]),
        ..call(arguments)
    };
    desk.make(tool, call).await
}

/// Returns the hint of a call that was denied.
async fn hint(desk: &Desk, tool: &str) -> String {
    let error = with_file(desk, tool, json!({})).await.error();
    assert!(
        matches!(error.cause(), Cause::Refused(Refused::Denied { .. })),
        "{error}"
    );
    error.hint().unwrap().to_owned()
}

fn variables(said: &str) -> Value {
    let said: Value = serde_json::from_str(said).unwrap();
    said["variables"].clone()
}

#[tokio::test]
async fn a_variable_is_there_in_calls_with_a_file_and_in_no_others() {
    let config = format!("{SELECTED}env = [\"GREETING\"]\n");
    let user = "[policy]\nenv = [\"GREETING\"]\n";
    let desk = desk("environment", "env:GREETING", &config, user).trusted();
    let said = with_file(&desk, "environment", json!({})).await.said();
    assert_eq!(variables(&said.unwrap()), json!(["GREETING"]));
    let said = desk.said("environment", json!({})).await.unwrap();
    assert_eq!(variables(&said), json!([]));
    // A blob is no file.
    let blob = json!({"source": {"base64": "aGVsbG8="}});
    let said = desk.said("environment", blob).await.unwrap();
    assert_eq!(variables(&said), json!([]));
    let grants: Vec<bool> = desk
        .records()
        .iter()
        .map(|record| record.grant.contains("env=GREETING"))
        .collect();
    assert_eq!(grants, [true, false, false]);
}

#[tokio::test]
async fn a_variable_that_somebody_does_not_allow_stops_calls_with_a_file_only() {
    let line = "`env = [\"GREETING\"]`";
    let user = "[policy]\nenv = [\"GREETING\"]\n";
    let by_workspace = desk("environment", "env:GREETING", SELECTED, user).trusted();
    let told = hint(&by_workspace, "environment").await;
    assert_eq!(
        told,
        format!("add {line} under `[capabilities]` of the workspace")
    );
    let config = format!("{SELECTED}env = [\"GREETING\"]\n");
    let by_user = desk("environment", "env:GREETING", &config, "").trusted();
    let told = hint(&by_user, "environment").await;
    assert_eq!(
        told,
        format!("add {line} under `[policy]` in your own configuration")
    );
    let by_nobody_looking = desk("environment", "env:GREETING", &config, user);
    let told = hint(&by_nobody_looking, "environment").await;
    assert!(told.contains("run `jp trust`"), "{told}");
    for desk in [by_workspace, by_user, by_nobody_looking] {
        let said = desk.said("environment", json!({})).await.unwrap();
        assert_eq!(variables(&said), json!([]));
        let decisions: Vec<_> = desk.records().iter().map(|r| r.decision.clone()).collect();
        assert_eq!(decisions, ["denied", "allowed"]);
    }
}

#[tokio::test]
async fn data_of_the_workspace_is_there_in_calls_with_a_file_and_in_no_others() {
    let config = format!("{SELECTED}fs.app-data = \"read-write\"\n");
    let needs = "fs.app-data:read-write";
    let steps = || json!({"do": [["write", "/app-data/seen", "x"], ["read", "/app-data/seen"]]});
    let desk_with = desk("files", needs, &config, "");
    let said = with_file(&desk_with, "files", steps()).await.said();
    assert_eq!(said.unwrap(), r#"["ok","ok: x"]"#);
    let said = desk_with.said("files", steps()).await.unwrap();
    assert!(!said.contains("ok"), "{said}");
    let desk_without = desk("files", needs, SELECTED, "");
    let told = hint(&desk_without, "files").await;
    let line = "`fs.app-data = \"read-write\"`";
    assert_eq!(
        told,
        format!("add {line} under `[capabilities]` of the workspace")
    );
    let said = desk_without.said("files", steps()).await.unwrap();
    assert!(!said.contains("ok"), "{said}");
    assert!(!desk_without.held().join("app-data").exists());
}

#[tokio::test]
async fn directories_of_the_user_are_there_in_calls_with_a_file_and_in_no_others() {
    let config = format!("{SELECTED}fs.user-paths.documents = \"read\"\n");
    let user = "[policy]\nfiles = [\"/user/documents:read\"]\n";
    let needs = "fs.user-paths.documents:read";
    let steps = || json!({"do": [["read", "/user/documents/plan"]]});
    let desk_with = desk("files", needs, &config, user).trusted();
    fs::write(desk_with.held().join("documents/plan"), "a plan").unwrap();
    let said = with_file(&desk_with, "files", steps()).await.said();
    assert_eq!(said.unwrap(), r#"["ok: a plan"]"#);
    let said = desk_with.said("files", steps()).await.unwrap();
    assert!(!said.contains("ok"), "{said}");
    let desk_without = desk("files", needs, SELECTED, user).trusted();
    let told = hint(&desk_without, "files").await;
    assert!(
        told.contains("`fs.user-paths.documents = \"read\"`"),
        "{told}"
    );
}

#[tokio::test]
async fn hosts_are_granted_in_calls_with_a_file_and_in_no_others() {
    let calls = "calls = [\"http.request\"]\n";
    let config = format!("{SELECTED}{calls}net = [\"api.example.com\"]\n");
    let user = "[policy]\nnet = [\"api.example.com\"]\n";
    let desk_with = desk("echo", "net:api.example.com", &config, user).trusted();
    // The grant is there; that this very guest has no way to make a call is told when it runs.
    let error = with_file(&desk_with, "echo", json!({})).await.error();
    assert!(
        matches!(error.cause(), Cause::Ungrantable(Ungrantable::Unbacked(_))),
        "{error}"
    );
    assert!(error.hint().unwrap().contains("`jp:tool@0.2.0`"), "{error}");
    drop(desk_with.call("echo", json!({})).await);
    let grants: Vec<bool> = desk_with
        .records()
        .iter()
        .map(|record| record.grant.contains("net=api.example.com"))
        .collect();
    assert_eq!(grants, [true, false]);
    let config = format!("{SELECTED}{calls}");
    let desk_without = desk("echo", "net:api.example.com", &config, user).trusted();
    let told = hint(&desk_without, "echo").await;
    let line = "`net = [\"api.example.com\"]`";
    assert_eq!(
        told,
        format!("add {line} under `[capabilities]` of the workspace")
    );
}
