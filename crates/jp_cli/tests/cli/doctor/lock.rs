//! What `jp doctor` says about files of jp that are broken, and that what it says fixes them.

use std::{fs, process::Command};

use super::{fix_of, follow, jp};
use crate::shop::Shop;

/// Runs git in the workspace, as a user who keeps `jp.lock` under it.
fn git(shop: &Shop, words: &[&str]) -> bool {
    let me = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
    let mut git = Command::new("git");
    git.args(me)
        .args(words)
        .env("GIT_CONFIG_GLOBAL", "/dev/null");
    git.current_dir(shop.sandbox.path("workspace"));
    git.output().unwrap().status.success()
}

#[test]
fn the_fix_for_a_lock_file_with_a_merge_conflict_works() {
    let shop = Shop::open();
    let lock = shop.sandbox.path("workspace/jp.lock");
    let text = fs::read_to_string(&lock).unwrap();
    assert!(git(&shop, &["init", "-q", "-b", "main"]));
    assert!(git(&shop, &["add", "jp.lock"]) && git(&shop, &["commit", "-qm", "one"]));
    assert!(git(&shop, &["checkout", "-qb", "other"]));
    fs::write(
        &lock,
        text.replace("version = \"1.0.0\"", "version = \"3.0.0\""),
    )
    .unwrap();
    assert!(git(&shop, &["commit", "-qam", "two"]));
    assert!(git(&shop, &["checkout", "-q", "main"]));
    fs::write(
        &lock,
        text.replace("version = \"1.0.0\"", "version = \"2.0.0\""),
    )
    .unwrap();
    assert!(git(&shop, &["commit", "-qam", "three"]));
    assert!(!git(&shop, &["merge", "-q", "other"]));
    let command = fix_of(&shop.doctor(&[]), "error", "workspace", "merge conflict");
    // Whichever side is kept, here it is one that was not verified; the doctor reports that next.
    assert!(
        command.contains("`git checkout --ours jp.lock && jp tool lock`"),
        "{command}"
    );
    assert!(git(&shop, &["checkout", "--ours", "jp.lock"]));
    let command = fix_of(&shop.doctor(&[]), "error", "greet 2.0.0", "the version in");
    assert!(command.starts_with("jp tool remove greet && jp tool install greet=greet@2.0.0"));
    fs::write(&lock, &text).unwrap();
    shop.is_fine();
}

#[test]
fn the_fix_for_an_unreadable_lock_file_works() {
    let shop = Shop::open();
    let lock = shop.sandbox.path("workspace/jp.lock");
    let text = fs::read_to_string(&lock).unwrap();
    assert!(git(&shop, &["init", "-q"]) && git(&shop, &["add", "jp.lock"]));
    assert!(git(&shop, &["commit", "-qm", "one"]));
    fs::write(&lock, "nonsense").unwrap();
    let command = fix_of(&shop.doctor(&[]), "error", "workspace", "cannot be read");
    follow(&shop.sandbox, &command);
    assert_eq!(fs::read_to_string(&lock).unwrap(), text);
    shop.is_fine();
    // Without a copy: start again, with the second command.
    fs::write(&lock, "nonsense").unwrap();
    let command = fix_of(&shop.doctor(&[]), "error", "workspace", "cannot be read");
    follow(&shop.sandbox, command.split('`').nth(3).unwrap());
    shop.is_fine();
    jp(&shop.sandbox, &["tool", "show", "greet"]).exits(127);
}

#[test]
fn the_fix_for_unreadable_receipts_and_trust_works() {
    let shop = Shop::open();
    let data = shop.sandbox.path("home/.local/share/jp");
    fs::write(data.join("registry/receipts.json"), "nonsense").unwrap();
    let command = fix_of(
        &shop.doctor(&[]),
        "error",
        "workspace",
        "invalid file of receipts",
    );
    follow(&shop.sandbox, &command);
    shop.is_fine();
    fs::write(data.join("trust.json"), "nonsense").unwrap();
    let command = fix_of(&shop.doctor(&[]), "error", "workspace", "is damaged");
    follow(&shop.sandbox, &command);
    shop.is_fine();
    // What is kept of a manifest is fetched again.
    for kept in fs::read_dir(data.join("registry/manifests")).unwrap() {
        fs::write(kept.unwrap().path(), "nonsense").unwrap();
    }
    let command = fix_of(&shop.doctor(&[]), "error", "greet", "not installed");
    follow(&shop.sandbox, &command);
    shop.is_fine();
}

#[test]
fn a_locked_version_that_the_workspace_does_not_want_is_fixed_by_locking() {
    let shop = Shop::open();
    let config = "workspace/.jp/config.toml";
    shop.publish("1.1.0", &serde_json::json!([]));
    shop.sandbox
        .write(config, "[tooling]\ngreet = \"=1.1.0\"\n");
    let command = fix_of(
        &shop.doctor(&["--offline"]),
        "error",
        "greet 1.0.0",
        "asks for `greet@=1.1.0`",
    );
    assert_eq!(command, "jp tool lock");
    follow(&shop.sandbox, &command);
    shop.is_fine();
}
