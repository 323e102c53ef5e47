//! Tools of a registry through the whole pipeline: found in the lock file, verified, fetched when they
//! are missing, and refused when somebody took them back.

use std::{
    fs,
    sync::{Arc, Mutex},
};

use jp_disk::Disk;
use jp_llm::{
    Events, ToolDefinition, ToolError,
    registry::SignedProblem,
    tool::{Cause, Misconfigured},
};
use jp_registry::{Digest, Lock, Revocation, RevokedThing};
use jp_tool::ToolStatus;
use serde_json::json;

use crate::{
    kit::{Desk, Ended, call},
    shop::{Shop, names, places, read_again, tools, trust},
};

pub(crate) fn problem(error: &ToolError) -> &SignedProblem {
    match error.cause() {
        Cause::Signed(problem) => problem,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn refusal(desk: &Desk, name: &str) -> ToolError {
    match desk.tool(name) {
        Err(error) => error,
        Ok(_) => panic!("it was found"),
    }
}

fn desk_with_files(config: &str) -> (Shop, Desk) {
    desk_with("files", config)
}

/// Returns a desk where the tool `files` is one of the guests that do what they are told with files.
fn desk_with(guest: &str, config: &str) -> (Shop, Desk) {
    let shop = Shop::new();
    shop.publish_file("files", jp_test::guest(guest), &json!({}));
    let desk = shop.installed(Desk::new(config), "files");
    (shop, desk)
}

#[tokio::test]
async fn a_locked_tool_runs_and_has_a_directory_of_its_own_for_each_call() {
    for guest in ["files", "files_program", "files_module"] {
        runs_and_has_a_directory_of_its_own_for_each_call(guest).await;
    }
}

async fn runs_and_has_a_directory_of_its_own_for_each_call(guest: &str) {
    let (_shop, desk) = desk_with(guest, "");
    let steps = json!({"do": [["write", "/tmp/a", "x"], ["read", "/tmp/a"], ["read", "/workspace/.jp/config.toml"]]});
    let said: Vec<String> =
        serde_json::from_str(&desk.said("files", steps).await.unwrap()).unwrap();
    assert_eq!(said[..2], ["ok", "ok: x"]);
    assert!(!said[2].starts_with("ok"), "{said:?}");
    let again = desk
        .said("files", json!({"do": [["read", "/tmp/a"]]}))
        .await;
    assert!(
        !again.unwrap().contains("ok"),
        "the directory outlived its call"
    );
    assert_eq!(names(&desk.held().join("tmp")), Vec::<String>::new());
    let record = &desk.records()[0];
    assert_eq!(record.grant, "fs=/tmp:read-write net=none");
    assert_eq!(record.source, "registry");
    let bytes = fs::read(jp_test::guest(guest)).unwrap();
    assert_eq!(
        record.sha256.as_deref(),
        Some(Digest::of(&bytes).to_string().as_str())
    );
}

#[tokio::test]
async fn arguments_are_checked_against_the_manifest() {
    let (_shop, desk) = desk_with_files("");
    let said = desk.said("files", json!({"do": 1})).await.unwrap_err();
    assert!(said.contains("at `/do`"), "{said}");
}

#[test]
fn e50_a_locked_name_does_not_pass_for_a_builtin() {
    let (_shop, mut desk) = desk_with_files("");
    let path = places(&desk).lock;
    let mut lock = Lock::open(&path).unwrap();
    let mut locked = lock.get("files").unwrap().clone();
    locked.name = "bash".parse().unwrap();
    lock.set(locked).unwrap();
    lock.save(&Disk::real(), &path).unwrap();
    read_again(&mut desk);
    let error = refusal(&desk, "bash");
    assert!(
        matches!(
            error.cause(),
            Cause::Misconfigured(Misconfigured::LockShadows)
        ),
        "{error}"
    );
    let all = ToolDefinition::all(&desk.loaded, &desk.host);
    let bash: Vec<bool> = all
        .iter()
        .filter(|(name, _)| name == "bash")
        .map(|(_, found)| found.is_ok())
        .collect();
    assert!(!bash.contains(&true), "one of two meanings was chosen");
}

#[test]
fn what_the_lock_file_says_must_be_what_was_verified() {
    let (_shop, mut desk) = desk_with_files("");
    let path = places(&desk).lock;
    let mut lock = Lock::open(&path).unwrap();
    for change in ["shown", "capabilities", "sha256", "manifest"] {
        let before = lock.get("files").unwrap().clone();
        let mut locked = before.clone();
        let other = Digest::of(change.as_bytes());
        match change {
            "shown" => locked.shown = other,
            "capabilities" => locked.capabilities = other,
            "sha256" => locked.sha256 = other,
            _ => locked.manifest = other,
        }
        lock.set(locked).unwrap();
        lock.save(&Disk::real(), &path).unwrap();
        read_again(&mut desk);
        let error = refusal(&desk, "files");
        let expected = matches!(
            problem(&error),
            SignedProblem::LockChanged { .. } | SignedProblem::NotInstalled
        );
        assert!(expected && error.hint().is_some(), "{change}: {error}");
        lock.set(before).unwrap();
    }
}

#[test]
fn a_key_that_is_not_trusted_any_more_signs_nothing() {
    let (shop, mut desk) = desk_with_files("");
    assert!(desk.tool("files").is_ok());
    let key = shop.publisher.public().id();
    trust(&desk, |roots| assert!(roots.forget(&key)));
    read_again(&mut desk);
    let error = refusal(&desk, "files");
    assert!(
        matches!(problem(&error), SignedProblem::Key { .. }),
        "{error}"
    );
    assert!(error.hint().unwrap().contains("jp trust key"));
}

#[tokio::test]
async fn e59_what_was_revoked_is_not_run_even_if_it_was_found_before() {
    let (shop, mut desk) = desk_with_files("");
    let before = desk.tool("files").unwrap();
    let bytes = fs::read(jp_test::guest("files")).unwrap();
    let revocation = Revocation {
        thing: RevokedThing::Artifact(Digest::of(&bytes)),
        reason: "it steals".to_owned(),
    };
    shop.open().revoke(revocation).unwrap();
    // The registry is asked, as `jp tool outdated` does; what was found before stays in use.
    shop.installer(&desk).outdated(None).unwrap();
    let known = tools(&desk);
    desk.rebuild(|host| host.registry(Some(Arc::new(known))));
    let error = before
        .execute_detailed(call(json!({"do": []})), &desk.host)
        .await
        .error();
    assert!(
        matches!(problem(&error), SignedProblem::Revoked { .. }),
        "{error}"
    );
    assert!(error.to_string().contains("it steals"));
    let error = refusal(&desk, "files");
    assert!(
        matches!(problem(&error), SignedProblem::Revoked { .. }),
        "{error}"
    );
    assert_eq!(desk.record(), "allowed, denied");
}

#[derive(Default)]
struct Heard(Mutex<Vec<ToolStatus>>);

impl Events for Heard {
    fn report(&self, _: &str, _: &str, status: ToolStatus) {
        self.0.lock().unwrap().push(status);
    }
}

#[tokio::test]
async fn a_missing_artifact_is_fetched_at_the_call_if_somebody_may_be_asked() {
    let (shop, mut desk) = desk_with_files("");
    fs::remove_dir_all(desk.held().join("store/objects")).unwrap();
    read_again(&mut desk);
    let error = desk.call("files", json!({"do": []})).await.error();
    assert!(
        matches!(problem(&error), SignedProblem::Missing { .. }),
        "{error}"
    );
    let heard = Arc::new(Heard::default());
    desk.caller(|caller| caller.events = Some(heard.clone()));
    shop.online(&mut desk);
    assert_eq!(desk.said("files", json!({"do": []})).await.unwrap(), "[]");
    let heard = heard.0.lock().unwrap();
    let fetched = heard.iter().filter_map(|status| status.message.as_deref());
    assert!(
        fetched
            .into_iter()
            .any(|text| text.starts_with("fetching `files` ("))
    );
}

#[tokio::test]
async fn an_artifact_that_was_swapped_in_the_store_is_not_run() {
    let (_shop, desk) = desk_with_files("");
    let tool = desk.tool("files").unwrap().prepare();
    let ran = tool
        .execute_detailed(call(json!({"do": []})), &desk.host)
        .await;
    assert!(ran.said().is_ok());
    let sha256 = Digest::of(&fs::read(jp_test::guest("files")).unwrap()).to_string();
    let object = desk
        .held()
        .join("store/objects")
        .join(&sha256[..2])
        .join(&sha256);
    let other = fs::read(jp_test::guest("echo")).unwrap();
    fs::remove_file(&object).unwrap();
    fs::write(&object, other).unwrap();
    let error = tool
        .execute_detailed(call(json!({"do": []})), &desk.host)
        .await
        .error();
    assert!(
        matches!(problem(&error), SignedProblem::Refused { .. }),
        "{error}"
    );
}

#[test]
fn a_listing_reads_no_manifest() {
    let (_shop, mut desk) = desk_with_files("");
    fs::remove_dir_all(desk.held().join("data/registry/manifests")).unwrap();
    read_again(&mut desk);
    let registry = desk.host.registry().cloned().unwrap();
    let listed: Vec<_> = registry.list(&desk.loaded, &desk.root).collect();
    assert_eq!(listed.len(), 1);
    assert_eq!(
        (
            listed[0].name.as_str(),
            listed[0].version.to_string().as_str()
        ),
        ("files", "1.0.0")
    );
    assert!(listed[0].problem.is_none() && !listed[0].summary.is_empty());
    let unsigned = ToolDefinition::unsigned(&desk.loaded, &desk.host);
    assert!(unsigned.iter().all(|(name, _)| name != "files"));
    let error = refusal(&desk, "files");
    assert!(
        matches!(problem(&error), SignedProblem::NotInstalled),
        "{error}"
    );
}

#[test]
fn a_tool_that_the_configuration_names_must_be_locked_in_a_version_that_will_do() {
    let (_shop, desk) = desk_with_files("[tooling]\nfiles = \"2.0.0\"\necho = \"*\"\n");
    let error = refusal(&desk, "files");
    assert!(
        matches!(problem(&error), SignedProblem::Unfit { .. }),
        "{error}"
    );
    assert!(error.to_string().contains("=2.0.0"), "{error}");
    assert!(error.hint().unwrap().contains("`jp tool lock`"));
    let error = refusal(&desk, "echo");
    assert!(
        matches!(problem(&error), SignedProblem::NotLocked),
        "{error}"
    );
}
