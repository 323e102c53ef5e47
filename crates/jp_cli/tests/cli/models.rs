//! Models from `jp registry add-model` to the guest that reads them, over HTTP.

use std::{fs, os::unix::fs::PermissionsExt};

use jp_registry::Digest;
use serde_json::{Value, json};

use crate::market::Market;

const WEIGHTS: &[u8] = b"the weights of a very small model";

fn steps(stdout: &str) -> Vec<String> {
    serde_json::from_str(stdout).unwrap()
}

#[test]
fn a_tool_is_installed_with_its_model_and_alone_reads_it() {
    let mut market = Market::open();
    let pinned = market.publish_model("tiny-1.5", WEIGHTS);
    market.publish("scan", "files", &json!({ "model_dependencies": [pinned] }));
    market.publish("other", "files", &json!({}));
    let sha256 = Digest::of(WEIGHTS).to_string();
    let path = format!("/models/tiny-1.5/{sha256}");
    let read = json!([
        ["read", path],
        ["write", path, "mine"],
        ["list", "/models/tiny-1.5"]
    ]);
    let person = market.person("ann");
    person.trusts(&["scan", "other"]);
    person.jp(&["tool", "install", "scan", "other"]).exits(0);
    let object = person.object(&sha256);
    assert_eq!(fs::read(&object).unwrap(), WEIGHTS);
    let said = steps(&person.run("scan", &read).exits(0).stdout);
    assert_eq!(said[0], "ok: the weights of a very small model");
    assert!(!said[1].starts_with("ok"), "{said:?}");
    assert_eq!(said[2], format!("ok: {sha256}"));
    assert_eq!(fs::read(&object).unwrap(), WEIGHTS);
    let said = steps(&person.run("other", &read).exits(0).stdout);
    assert!(said.iter().all(|step| !step.starts_with("ok")), "{said:?}");
    let shown = person
        .jp(&["tool", "show", "scan", "--json"])
        .exits(0)
        .json();
    let grant = shown["grant"].as_str().unwrap();
    assert!(grant.contains("/models/tiny-1.5:read"), "{grant}");
    let found = person.jp(&["doctor", "--json"]).exits(0).json();
    assert_eq!(found["findings"], json!([]));
    // A model that is gone comes again with the call; one that is damaged never reaches the tool.
    fs::remove_file(&object).unwrap();
    person
        .run("scan", &read)
        .exits(0)
        .says("ok: the weights of a very");
    let damage = |path: &std::path::Path| {
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(path, "the weights of another small model").unwrap();
    };
    damage(&object);
    person
        .run("scan", &read)
        .exits(0)
        .says("ok: the weights of a very");
    damage(&object);
    market.vanish();
    let person = market.person("ann");
    let ran = person.run("scan", &read).exits(125);
    let ran =
        ran.warns("model tiny-1.5 (the copy here was damaged and has been removed) could not be");
    ran.warns("`jp tool install --locked`");
}

#[test]
fn a_fresh_clone_runs_what_its_lock_file_names_once_the_key_is_trusted() {
    let mut market = Market::open();
    let pinned = market.publish_model("tiny", WEIGHTS);
    market.publish("scan", "files", &json!({ "model_dependencies": [pinned] }));
    let read: Value = json!([["read", format!("/models/tiny/{}", Digest::of(WEIGHTS))]]);
    let (ann, bob) = (market.person("ann"), market.person("bob"));
    ann.trusts(&["scan"]);
    ann.jp(&["tool", "install", "scan"]).exits(0);
    crate::market::copy(
        &ann.path("workspace/jp.lock"),
        &bob.path("workspace/jp.lock"),
    );
    let lock = fs::read(bob.path("workspace/jp.lock")).unwrap();
    // The lock file names a key; that does not make it one of Bob's.
    let refused = bob.run("scan", &read).exits(126);
    refused
        .warns("which you do not trust")
        .warns("jp trust key PUBLIC-KEY --for scan");
    let objects = bob.path("cache/store/objects");
    assert_eq!(fs::read_dir(&objects).unwrap().count(), 0);
    bob.jp(&["tool", "list"]).exits(0).says("broken");
    bob.trusts(&["scan"]);
    bob.jp(&["tool", "list"]).exits(0).says("broken");
    assert_eq!(
        fs::read_dir(&objects).unwrap().count(),
        0,
        "a listing fetched something"
    );
    bob.run("scan", &read)
        .exits(0)
        .says("ok: the weights of a very small model");
    bob.jp(&["tool", "list"]).exits(0).says("locked");
    assert_eq!(fs::read(bob.path("workspace/jp.lock")).unwrap(), lock);
    bob.jp(&["audit", "verify"]).exits(0);
    market.vanish();
    let bob = market.person("bob");
    bob.run("scan", &read)
        .exits(0)
        .says("ok: the weights of a very small model");
}
