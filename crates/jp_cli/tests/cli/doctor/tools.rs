//! What `jp doctor` says about tools of registries, with a registry in a directory.

use std::fs;

use serde_json::json;

use super::{fix_of, follow, jp};
use crate::shop::Shop;

#[test]
fn a_tool_is_outdated_then_deprecated_then_revoked_and_an_update_fixes_it() {
    let shop = Shop::open();
    shop.publish("1.1.0", &json!([]));
    let update = "jp tool update greet";
    // What was not asked for is not known.
    assert_eq!(shop.doctor(&["--offline"])["findings"], json!([]));
    let found = shop.doctor(&[]);
    assert_eq!(
        fix_of(&found, "warning", "greet 1.0.0", "outdated: there is 1.1.0"),
        update
    );
    shop.deprecate("old\u{1b}[2J");
    let found = shop.doctor(&[]);
    assert_eq!(
        fix_of(&found, "warning", "greet 1.0.0", "deprecated: old"),
        update
    );
    let ran = jp(&shop.sandbox, &["doctor"])
        .exits(1)
        .says("-> jp tool update greet");
    assert!(!ran.stdout.contains('\u{1b}'), "{ran:?}");
    shop.revoke();
    let found = shop.doctor(&[]);
    assert_eq!(
        fix_of(&found, "error", "greet 1.0.0", "revoked: leaks"),
        update
    );
    // By now the list was seen, and nobody has to be asked.
    let found = shop.doctor(&["--offline"]);
    assert_eq!(
        fix_of(&found, "error", "greet 1.0.0", "revoked: leaks"),
        update
    );
    follow(&shop.sandbox, update);
    shop.is_fine();
}

#[test]
fn a_registry_that_is_silent_or_unknown_is_told() {
    let shop = Shop::open();
    let config = "home/.config/jp/config.toml";
    let text = fs::read_to_string(shop.sandbox.path(config)).unwrap();
    let dir = text
        .lines()
        .find(|line| line.starts_with("dir = "))
        .unwrap();
    // Nobody listens at this port.
    shop.sandbox
        .write(config, &text.replace(dir, "url = \"http://127.0.0.1:1/\""));
    let line = fix_of(&shop.doctor(&[]), "warning", "registry main", "");
    assert!(
        line.contains("jp config set --user registries.main.url="),
        "{line}"
    );
    assert_eq!(shop.doctor(&["--offline"])["findings"], json!([]));
    shop.sandbox.write(config, "");
    let fix = fix_of(
        &shop.doctor(&[]),
        "error",
        "registry main",
        "unknown registry",
    );
    assert!(
        fix.starts_with("jp config set --user 'registries.main:="),
        "{fix}"
    );
}

#[test]
fn what_is_not_verified_here_or_by_a_key_that_is_not_trusted_is_an_error() {
    let shop = Shop::open();
    let receipts = shop
        .sandbox
        .path("home/.local/share/jp/registry/receipts.json");
    let text = fs::read_to_string(&receipts).unwrap();
    fs::remove_file(&receipts).unwrap();
    let command = fix_of(
        &shop.doctor(&[]),
        "error",
        "greet 1.0.0",
        "not verified on this machine",
    );
    assert_eq!(command, "jp tool install --locked");
    follow(&shop.sandbox, &command);
    shop.is_fine();
    // A receipt of tomorrow: the clock was set back.
    let before = text.find("\"verified_at\":").unwrap();
    let later = format!("{}\"verified_at\":9999999999}}}}}}\n", &text[..before]);
    fs::write(&receipts, later).unwrap();
    fix_of(&shop.doctor(&[]), "warning", "clock", "the newest receipt");
    fs::write(&receipts, &text).unwrap();
    shop.is_fine();
    let keys = shop.jp(&["trust", "key", "--json"]).json();
    let id = keys["publishers"][0]["id"].as_str().unwrap().to_owned();
    shop.jp(&["trust", "key", &id, "--forget"]);
    let command = fix_of(
        &shop.doctor(&[]),
        "error",
        "greet 1.0.0",
        "no longer trusted for `greet`",
    );
    assert!(
        command.starts_with("jp trust key PUBLIC-KEY --for greet"),
        "{command}"
    );
    shop.jp(&["trust", "key", &shop.publisher, "--for", "greet"]);
    shop.is_fine();
}

#[test]
fn a_damaged_artifact_is_found_and_fetched_again() {
    let shop = Shop::open();
    let wasm = fs::read(shop.sandbox.path("tool.wasm")).unwrap();
    let sha256 = jp_registry::Digest::of(&wasm).to_string();
    let object = format!("cache/store/objects/{}/{sha256}", &sha256[..2]);
    let object = shop.sandbox.path(&object);
    fs::write(&object, "something else").unwrap();
    let command = fix_of(&shop.doctor(&[]), "error", "greet 1.0.0", "damaged");
    fix_of(
        &shop.doctor(&[]),
        "note",
        "greet 1.0.0",
        "not on this machine",
    );
    follow(&shop.sandbox, &command);
    assert_eq!(fs::read(&object).unwrap(), wasm);
    shop.is_fine();
}

#[test]
fn tools_that_are_not_locked_not_named_or_could_not_run_are_told() {
    let shop = Shop::open();
    shop.publish("1.1.0", &json!(["net:a.example", "http.request"]));
    let config = "workspace/.jp/config.toml";
    let allowed = "[capabilities]\nnet = [\"a.example\"]\ncalls = [\"http.request\"]\n[tooling]\nother = { id = \"greet\" }\n";
    shop.sandbox.write(config, allowed);
    let found = shop.doctor(&["--offline"]);
    assert_eq!(
        fix_of(&found, "error", "other", "`jp.lock` does not have it"),
        "jp tool lock"
    );
    assert_eq!(
        fix_of(
            &found,
            "note",
            "greet 1.0.0",
            "`[tooling]` does not name it"
        ),
        "jp tool remove greet"
    );
    // The policy must allow it too, and the line that is missing is named.
    jp(&shop.sandbox, &["tool", "update", "greet", "--yes"])
        .exits(126)
        .warns("[policy]");
    let user = "home/.config/jp/config.toml";
    let before = fs::read_to_string(shop.sandbox.path(user)).unwrap();
    shop.sandbox.write(
        user,
        &format!("{before}\n[policy]\nnet = [\"a.example\"]\n"),
    );
    shop.jp(&["tool", "update", "greet", "--yes"]);
    shop.jp(&["trust"]);
    let calls = "[capabilities]\ncalls = [\"http.request\"]\n";
    shop.sandbox.write(config, calls);
    let line = fix_of(&shop.doctor(&[]), "error", "greet 1.1.0", "net");
    assert!(
        line.contains("net = [\"a.example\"]") && line.contains("[capabilities]"),
        "{line}"
    );
}

#[test]
fn a_tool_of_the_workspace_whose_key_speaks_for_others_is_told_with_the_key() {
    let shop = Shop::open();
    let sandbox = &shop.sandbox;
    let manifest = fs::read_to_string(sandbox.path("greet.json")).unwrap();
    let manifest = manifest.replace("\"id\":\"greet\"", "\"id\":\"own\"");
    sandbox.write("workspace/tools/own.json", &manifest);
    let wasm = sandbox.path("workspace/tools/own.wasm");
    fs::copy(sandbox.path("tool.wasm"), wasm).unwrap();
    shop.jp(&[
        "registry",
        "sign",
        "tools/own.json",
        "--key",
        "../publisher.key",
    ]);
    let config = "[tooling]\ngreet = \"*\"\n\
        own = { path = \"tools/own.wasm\", manifest = \"tools/own.json\", signature_file = \"tools/own.json.sig\" }\n";
    sandbox.write("workspace/.jp/config.toml", config);
    let command = fix_of(&shop.doctor(&[]), "error", "own", "trust for other tools");
    assert_eq!(
        command,
        format!("jp trust key {} --for own", shop.publisher)
    );
    follow(sandbox, &command);
    let command = fix_of(&shop.doctor(&[]), "error", "own", "`jp.lock` does not");
    follow(sandbox, &command);
    shop.is_fine();
}
