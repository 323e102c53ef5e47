//! `jp doctor`: what it finds, and that what it says fixes it.

mod files;
mod lock;
mod log;
mod ranges;
mod tools;

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use serde_json::{Value, json};

use crate::{
    kit::{Ran, Sandbox},
    output::fits,
};

/// Runs `jp` with a cache that no other test sees.
pub(crate) fn jp(sandbox: &Sandbox, words: &[&str]) -> Ran {
    let mut command = sandbox.command(words);
    command.env("JP_CACHE_DIR", sandbox.path("cache"));
    command.output().unwrap().into()
}

pub(crate) fn doctor(sandbox: &Sandbox, more: &[&str]) -> Value {
    let ran = jp(sandbox, &[&["doctor", "--json"], more].concat());
    let document = ran.json();
    fits(&document, "doctor.schema.json");
    let bad = document["errors"].as_u64().unwrap() + document["warnings"].as_u64().unwrap();
    ran.exits(i32::from(bad > 0));
    document
}

/// Returns the fix of the one finding with a severity, a subject and a problem like these.
#[track_caller]
pub(crate) fn fix_of(document: &Value, severity: &str, subject: &str, problem: &str) -> String {
    let has =
        |finding: &Value, key: &str, part: &str| finding[key].as_str().unwrap().contains(part);
    let all = document["findings"].as_array().unwrap();
    let mut found = all.iter().filter(|finding| {
        finding["severity"] == severity
            && has(finding, "subject", subject)
            && has(finding, "problem", problem)
    });
    let one = found.next();
    let one = one.unwrap_or_else(|| panic!("no {severity} {subject}: {problem} in {document:#}"));
    assert_eq!(found.next(), None, "{document:#}");
    one["fix"].as_str().unwrap().to_owned()
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs the command of a finding, as a person would in their shell: all of it, or the first that stands
/// in backquotes.
pub(crate) fn follow(sandbox: &Sandbox, fix: &str) {
    let line = fix.split('`').nth(1).unwrap_or(fix);
    let jp = sandbox.command(&[]);
    let dir = Path::new(jp.get_program()).parent().unwrap();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", line]).env_clear();
    for (name, value) in jp.get_envs() {
        shell.env(name, value.unwrap());
    }
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", dir.display());
    shell.env("PATH", path);
    shell.env("JP_CACHE_DIR", sandbox.path("cache"));
    shell.current_dir(sandbox.path("workspace"));
    let ran: Ran = shell.output().unwrap().into();
    ran.exits(0);
}

#[test]
fn a_sound_workspace_is_fine() {
    let sandbox = Sandbox::new("");
    jp(&sandbox, &["doctor"])
        .exits(0)
        .says("Everything is fine.");
    assert_eq!(doctor(&sandbox, &["--offline"])["findings"], json!([]));
}

#[test]
fn what_others_can_read_or_change_is_an_error_until_it_is_fixed() {
    let sandbox = Sandbox::new("");
    let data = "home/.local/share/jp";
    let files = [
        (
            format!("{data}/secrets/sealed"),
            0o644,
            "the secrets: others can read it",
        ),
        (
            "home/.config/jp/key/secrets".to_owned(),
            0o640,
            "the key of the secrets: others can read it",
        ),
        (
            format!("{data}/broker/store.sqlite"),
            0o604,
            "the store of the broker: others can read it",
        ),
        (
            format!("{data}/trust.json"),
            0o666,
            "the trust file: others can change it",
        ),
    ];
    let set = ["secret", "set", "a", "--for", "https://a.example"];
    sandbox.fed(&set, b"correct-horse").exits(0);
    for (file, bits, _) in &files {
        if !sandbox.path(file).exists() {
            let empty = if file.ends_with(".json") { "{}" } else { "" };
            sandbox.write(file, empty);
        }
        mode(&sandbox.path(file), *bits);
        mode(sandbox.path(file).parent().unwrap(), 0o700);
    }
    let receipts = format!("{data}/registry/receipts.json");
    sandbox.write(&receipts, "{\"version\":1,\"receipts\":{}}");
    mode(&sandbox.path(&receipts), 0o622);
    mode(&sandbox.path(data), 0o777);
    let document = doctor(&sandbox, &[]);
    let mut fixes = vec![fix_of(
        &document,
        "error",
        data,
        "the data directory: others can change it",
    )];
    for (file, _, problem) in &files {
        fixes.push(fix_of(&document, "error", file, problem));
    }
    let problem = "the receipts: others can change it";
    fixes.push(fix_of(&document, "error", &receipts, problem));
    for fix in fixes {
        assert!(fix.starts_with("chmod "), "{fix}");
        follow(&sandbox, &fix);
    }
    assert_eq!(doctor(&sandbox, &[])["findings"], json!([]));
}

#[test]
fn broken_tools_and_stale_trust_are_told_and_hostile_text_is_escaped() {
    let sandbox =
        Sandbox::new("[conversation.tools.fine]\nsource = \"local\"\ncommand = \"true\"\n");
    jp(&sandbox, &["trust"]).exits(0);
    assert_eq!(doctor(&sandbox, &[])["findings"], json!([]));
    let broken = "[conversation.tools.\"a\\u202eb\"]\nsource = \"local\"\n";
    sandbox.write("workspace/.jp/config.toml", broken);
    let document = doctor(&sandbox, &[]);
    assert_eq!(
        fix_of(
            &document,
            "note",
            "workspace",
            "changed since you trusted it"
        ),
        "jp trust"
    );
    fix_of(&document, "error", "a\u{202e}b", "");
    let ran = jp(&sandbox, &["doctor"]).exits(1).says("a\\u{202e}b");
    assert!(!ran.stdout.contains(['\u{1b}', '\u{202e}']), "{ran:?}");
}

#[test]
fn a_configuration_that_cannot_be_read_is_a_finding_and_the_rest_is_looked_at() {
    let sandbox = Sandbox::new("nonsense = 1\n");
    sandbox.write("home/.local/share/jp/trust.json", "{}");
    mode(&sandbox.path("home/.local/share/jp/trust.json"), 0o622);
    let document = doctor(&sandbox, &[]);
    let command = fix_of(&document, "error", "workspace", "nonsense");
    assert!(
        command.starts_with("${EDITOR:-vi} +1 ") && command.ends_with("/.jp/config.toml"),
        "{command}"
    );
    fix_of(&document, "error", "trust.json", "others can change it");
}

#[test]
fn mcp_tools_that_nobody_pinned_are_a_note() {
    let config = "[providers.mcp.s]\ncommand = \"nothing\"\n\
        [conversation.tools.t]\nsource = \"mcp.s\"\n";
    let sandbox = Sandbox::new(config);
    let document = doctor(&sandbox, &["--offline"]);
    assert_eq!(
        fix_of(&document, "note", "t", "is not pinned"),
        "jp tool lock"
    );
}

#[test]
fn a_local_tool_without_its_wasm_file_is_told() {
    let sandbox = Sandbox::with_tools();
    let broken = sandbox.path("workspace/.jp/tools/trap.wasm");
    let gone = sandbox.path("workspace/.jp/tools/spin.wasm");
    // One of these tools says neither what to run nor where its file is.
    assert_eq!(doctor(&sandbox, &["--offline"])["errors"], 1);
    fs::remove_file(gone).unwrap();
    fs::remove_file(&broken).unwrap();
    fs::create_dir(&broken).unwrap();
    let found = doctor(&sandbox, &["--offline"]);
    let line = fix_of(&found, "error", "spin", ".jp/tools/spin.wasm");
    assert!(line.contains("[conversation.tools.spin]"), "{line}");
    fix_of(&found, "error", "trap", ".jp/tools/trap.wasm");
    assert_eq!(found["errors"], 3, "{found:#}");
}

#[test]
fn a_damaged_store_and_a_secret_that_is_not_set_are_found_and_fixed() {
    let sandbox = Sandbox::new("");
    let user = "[broker.llm]\nurl = \"https://llm.example/v1\"\nmodel = \"m\"\nkey = \"llm_key\"\n\
                [broker.http.forge]\nurl = \"https://forge.example\"\n\
                headers.authorization = \"Bearer {{secret:forge}}\"\n\
                [broker.github]\nurl = \"https://git.example/mcp\"\n";
    sandbox.write("home/.config/jp/config.toml", user);
    jp(
        &sandbox,
        &["tool", "run", "todo", "action=create", "title=a"],
    )
    .exits(0);
    let store = sandbox.path("home/.local/share/jp/broker/store.sqlite");
    // What stands in the log still would be read instead.
    for log in ["-wal", "-shm"] {
        let _ = fs::remove_file(store.with_file_name(format!("store.sqlite{log}")));
    }
    let mut bytes = fs::read(&store).unwrap();
    bytes[4096..12_288].fill(0x5a);
    fs::write(&store, bytes).unwrap();
    let found = doctor(&sandbox, &[]);
    let set = fix_of(
        &found,
        "warning",
        "broker.llm.key",
        "`llm_key`, which is not set",
    );
    assert_eq!(set, "jp secret set llm_key --for https://llm.example/v1");
    let header = "broker.http.forge.headers.authorization";
    let set = fix_of(&found, "warning", header, "`forge`, which is not set");
    let github = fix_of(&found, "warning", "broker.github.key", "`github_pat`");
    let llm = "jp secret set llm_key --for https://llm.example/v1".to_owned();
    for line in [set, github, llm] {
        let words: Vec<&str> = line.split(' ').skip(1).collect();
        sandbox.fed(&words, b"correct-horse").exits(0);
    }
    follow(&sandbox, &fix_of(&found, "error", "store", "is damaged"));
    assert_eq!(doctor(&sandbox, &[])["findings"], json!([]));
    jp(&sandbox, &["tool", "run", "todo", "action=list"]).exits(0);
}
