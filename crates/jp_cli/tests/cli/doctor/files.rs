//! What `jp doctor` says about the files that tools of a workspace are in: each is broken in a way that a
//! call would meet, found, and fixed by what is typed.

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::json;

use super::{doctor, fix_of, follow, jp};
use crate::kit::Sandbox;

const TOOL: &str = "[conversation.tools.read]\nsource = \"local\"\nwasm = \".jp/tools/read.wasm\"\n\
                    parameters.path = { type = \"string\" }\n";
const FILE: &str = "workspace/.jp/tools/read.wasm";

fn put(sandbox: &Sandbox, bytes: &[u8]) {
    let path = sandbox.path(FILE);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn guest() -> Vec<u8> {
    fs::read(jp_test::guest("jp_tool_test")).unwrap()
}

#[test]
fn a_wasm_file_that_is_not_a_tool_is_an_error() {
    let whole = guest();
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 64].fill(0xff);
    let random = (0..4096_u32).map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[2]);
    for (bytes, what) in [
        (Vec::new(), "empty"),
        (random.collect(), "random bytes"),
        (whole[..whole.len() / 2].to_vec(), "cut"),
        (damaged, "damaged"),
        (b"\0asm\x01\0\0\0".to_vec(), "a module that exports nothing"),
    ] {
        let sandbox = Sandbox::new(TOOL);
        put(&sandbox, &bytes);
        let found = doctor(&sandbox, &["--offline"]);
        let fix = fix_of(
            &found,
            "error",
            "read",
            "`.jp/tools/read.wasm` is not a tool: ",
        );
        assert_eq!(found["errors"], 1, "{what}: {found:#}");
        follow(&sandbox, &fix);
        assert_eq!(
            doctor(&sandbox, &["--offline"])["findings"],
            json!([]),
            "{what}"
        );
    }
    let sandbox = Sandbox::new(TOOL);
    put(&sandbox, &whole);
    assert_eq!(doctor(&sandbox, &["--offline"])["findings"], json!([]));
}

#[test]
fn a_file_that_came_or_changed_since_the_trust_is_a_warning() {
    let sandbox = Sandbox::new(TOOL);
    jp(&sandbox, &["trust"]).exits(0);
    put(&sandbox, &guest());
    let found = doctor(&sandbox, &["--offline"]);
    let fix = fix_of(&found, "warning", "read", "did not exist when you trusted");
    assert_eq!(fix, "jp tool check .jp/tools/read.wasm && jp trust");
    follow(&sandbox, &fix);
    assert_eq!(doctor(&sandbox, &["--offline"])["findings"], json!([]));
    put(&sandbox, &fs::read(jp_test::guest("ask")).unwrap());
    let found = doctor(&sandbox, &["--offline"]);
    let fix = fix_of(&found, "warning", "read", "has changed since you trusted");
    follow(&sandbox, &fix);
    assert_eq!(doctor(&sandbox, &["--offline"])["findings"], json!([]));
    // Damaged is worse than changed: trusting it again would not help.
    put(&sandbox, &guest()[..1000]);
    fix_of(
        &doctor(&sandbox, &["--offline"]),
        "error",
        "read",
        "is not a tool",
    );
}

#[test]
fn a_file_that_is_a_tool_by_its_name_alone_is_looked_at_too() {
    let sandbox = Sandbox::new("");
    sandbox.write("workspace/wasm/greet_tool.wasm", "no module");
    let found = doctor(&sandbox, &["--offline"]);
    let fix = fix_of(
        &found,
        "error",
        "greet",
        "`wasm/greet_tool.wasm` is not a tool",
    );
    follow(&sandbox, &fix);
    assert_eq!(doctor(&sandbox, &["--offline"])["findings"], json!([]));
    assert!(sandbox.path("workspace/wasm/greet_tool.wasm.old").exists());
}

#[test]
fn a_command_whose_program_is_not_there_is_an_error() {
    let config = "[conversation.tools.a]\nsource = \"local\"\ncommand = \"no-such-program -x\"\n\
                  [conversation.tools.\"b.c\"]\nsource = \"local\"\ncommand = \"./run.sh\"\n\
                  [conversation.tools.d]\nsource = \"local\"\ncommand = \"true\"\n\
                  [conversation.tools.e]\nsource = \"local\"\ncommand = \"{{tool.arguments.x}}\"\n\
                  [conversation.tools.f]\nsource = \"local\"\n\
                  command = { program = \"no-such-program\", shell = true }\n";
    let sandbox = Sandbox::new(config);
    let found = doctor(&sandbox, &["--offline"]);
    assert_eq!(found["errors"], 2, "{found:#}");
    for (name, problem) in [
        (
            "a",
            "its program `no-such-program` is not in /usr/local/bin, /usr/bin, /bin",
        ),
        ("b.c", "its command `./run.sh` does not exist"),
    ] {
        follow(&sandbox, &fix_of(&found, "error", name, problem));
    }
    assert_eq!(doctor(&sandbox, &["--offline"])["findings"], json!([]));
}

#[test]
fn a_topic_without_its_directory_is_a_warning() {
    let sandbox = Sandbox::new("[kb.topic.skills]\nsubjects = \".jp/kb/my skills\"\n");
    let found = doctor(&sandbox, &["--offline"]);
    follow(
        &sandbox,
        &fix_of(&found, "warning", "kb.topic.skills", "does not exist"),
    );
    assert_eq!(doctor(&sandbox, &["--offline"])["findings"], json!([]));
    sandbox.write(
        "workspace/.jp/config.toml",
        "[kb.topic.skills]\nsubjects = \"gone\"\nenable = false\n",
    );
    assert_eq!(doctor(&sandbox, &["--offline"])["findings"], json!([]));
}

#[test]
fn parts_of_the_users_configuration_that_others_can_change_are_an_error() {
    let sandbox = Sandbox::new("");
    let parts = ["config.json", "config.d/a.toml", "config.d/deep/b.toml"];
    for part in parts {
        let text = if part.ends_with(".json") { "{}" } else { "" };
        sandbox.write(&format!("home/.config/jp/{part}"), text);
    }
    assert_eq!(doctor(&sandbox, &[])["findings"], json!([]));
    for part in parts.iter().chain(&["config.d", "config.d/deep"]) {
        let path = sandbox.path(&format!("home/.config/jp/{part}"));
        let mode = fs::metadata(&path).unwrap().permissions().mode() | 0o022;
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let found = doctor(&sandbox, &[]);
        let fix = fix_of(
            &found,
            "error",
            part,
            "the configuration file: others can change it",
        );
        follow(&sandbox, &fix);
        assert_eq!(doctor(&sandbox, &[])["findings"], json!([]), "{part}");
    }
}

#[test]
fn a_setting_of_the_keyring_that_makes_no_sense_is_an_error() {
    let sandbox = Sandbox::new("");
    let mut command = sandbox.command(&["doctor", "--json"]);
    let ran: crate::kit::Ran = command.env("JP_KEYRING", "maybe").output().unwrap().into();
    let found = ran.exits(1).json();
    fix_of(&found, "error", "secrets", "invalid JP_KEYRING");
}
