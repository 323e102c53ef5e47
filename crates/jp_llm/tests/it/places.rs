//! Directories and variables beside the workspace: granted by policy, workspace and manifest together,
//! and only where the host has them.

use std::{collections::BTreeMap, ffi::OsString, fs};

use jp_llm::tool::{Cause, Misconfigured, Refused};
use serde_json::{Value, json};

use crate::{
    kit::{Desk, Ended},
    shop::Shop,
};

fn published(guest: &str, imports: Value, config: &str, user: &str) -> Desk {
    let shop = Shop::new();
    shop.publish(guest, &json!({ "wasi_imports": imports }));
    shop.installed(Desk::with_user(config, user), guest)
        .trusted()
        .agreed()
}

#[tokio::test]
async fn a_directory_of_the_user_is_there_if_everybody_agrees_and_the_host_has_it() {
    let imports = json!({"fs": {"user-paths": {"documents": "read"}, "app-data": "read-write"}});
    let config =
        "[capabilities]\nfs.user-paths.documents = \"read\"\nfs.app-data = \"read-write\"\n";
    let user = "[policy]\nfiles = [\"/user/documents:read\"]\n";
    let mut desk = published("files", imports, config, user);
    let error = desk.call("files", json!({"do": []})).await.error();
    assert!(
        matches!(error.cause(), Cause::Misconfigured(Misconfigured::NoPlace { path, .. }) if path == "/app-data"),
        "{error}"
    );
    let documents = desk.held().join("documents");
    fs::create_dir(&documents).unwrap();
    fs::write(documents.join("a.txt"), "mine").unwrap();
    let places = BTreeMap::from([
        ("/user/documents".to_owned(), documents),
        ("/app-data".to_owned(), desk.held().join("app")),
    ]);
    desk.rebuild(|host| host.places(places));
    let steps = json!({"do": [["read", "/user/documents/a.txt"], ["write", "/user/documents/b.txt", "x"],
        ["write", "/app-data/kept.txt", "x"]]});
    let said = desk.said("files", steps).await.unwrap();
    let said: Vec<String> = serde_json::from_str(&said).unwrap();
    assert_eq!((said[0].as_str(), said[2].as_str()), ("ok: mine", "ok"));
    assert!(!said[1].starts_with("ok"), "{said:?}");
    assert_eq!(
        fs::read_to_string(desk.held().join("app/kept.txt")).unwrap(),
        "x"
    );
}

#[tokio::test]
async fn a_workspace_that_says_nothing_allows_its_tooling_only_what_every_tool_has() {
    let imports = json!({"fs": {"app-data": "read"}});
    let desk = published("files", imports, "", "");
    let error = desk.call("files", json!({"do": []})).await.error();
    assert!(
        matches!(error.cause(), Cause::Refused(Refused::Denied { .. })),
        "{error}"
    );
    let hint = error.hint().unwrap();
    assert!(
        hint.contains("fs.app-data = \"read\"") && hint.contains("[capabilities]"),
        "{hint}"
    );
}

#[tokio::test]
async fn a_tool_sees_the_variables_of_its_grant_and_no_other() {
    let imports = json!({"env": ["GREETING"]});
    let config = "[capabilities]\nenv = [\"GREETING\"]\n";
    let user = "[policy]\nenv = [\"GREETING\", \"SECRET\"]\n";
    let mut desk = published("environment", imports, config, user);
    desk.rebuild(|host| host.variable(|name| Some(OsString::from(name))));
    let said = desk.said("environment", json!({})).await.unwrap();
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["variables"], json!(["GREETING"]));
}
