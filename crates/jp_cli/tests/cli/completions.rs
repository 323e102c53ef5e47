//! Completions as shells ask for them.

use std::process::Command;

use crate::kit::Sandbox;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(
        "[kb.topic.skills]\nsubjects = \"kb\"\n[providers.mcp.forge]\ncommand = \"forge\"\n",
    );
    sandbox.write("workspace/kb/a.md", "a");
    sandbox
}

fn complete(sandbox: &Sandbox, words: &[&str]) -> Vec<String> {
    let at = (words.len() - 1).to_string();
    let ran = sandbox
        .jp(&[&["__complete", &at][..], words].concat())
        .exits(0);
    assert_eq!(ran.stderr, "", "{words:?}");
    ran.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn names_arguments_topics_and_servers_are_completed() {
    let sandbox = sandbox();
    assert_eq!(complete(&sandbox, &["jp", "tool", "run", "tod"]), ["todo"]);
    assert_eq!(
        complete(&sandbox, &["jp", "tool", "run", "todo", "actio"]),
        ["action="]
    );
    assert_eq!(
        complete(&sandbox, &["jp", "tool", "run", "todo", "action=li"]),
        ["action=list"]
    );
    assert_eq!(
        complete(
            &sandbox,
            &["jp", "tool", "run", "todo", "action", "=", "li"]
        ),
        ["list"]
    );
    assert_eq!(
        complete(&sandbox, &["jp", "tool", "run", "learn", "topic="]),
        ["topic=skills"]
    );
    assert_eq!(complete(&sandbox, &["jp", "mcp", "remove", ""]), ["forge"]);
    assert!(complete(&sandbox, &["jp", "tool", "run", "nothing", ""]).is_empty());
    assert!(complete(&sandbox, &["jp", "too"]).is_empty());
    sandbox.write("workspace/.jp/config.toml", "broken");
    assert!(complete(&sandbox, &["jp", "tool", "run", "tod"]).is_empty());
}

/// Starts a shell with `jp` on its PATH; none where the shell is not installed.
fn shell(sandbox: &Sandbox, name: &str, script: &str) -> Option<String> {
    let found = Command::new(name).arg("-c").arg("true").output().is_ok();
    if !found {
        return None;
    }
    let dir = std::path::Path::new(env!("CARGO_BIN_EXE_jp"))
        .parent()
        .unwrap();
    let mut command = sandbox.command(&[]);
    let environment: Vec<_> = command
        .get_envs()
        .map(|(k, v)| (k.to_owned(), v.map(ToOwned::to_owned)))
        .collect();
    command = Command::new(name);
    command.env_clear().current_dir(sandbox.path("workspace"));
    for (key, value) in environment {
        command.env(key, value.unwrap());
    }
    command
        .env("PATH", format!("{}:/usr/bin:/bin", dir.display()))
        .env("TERM", "dumb");
    let ran = command.arg("-c").arg(script).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    Some(String::from_utf8(ran.stdout).unwrap())
}

#[test]
fn bash_completes_what_jp_says_and_what_it_knows_itself() {
    let sandbox = sandbox();
    let script = r#"
        eval "$(jp completions bash)"
        try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _jp_dynamic jp "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}" 2>/dev/null; echo "${COMPREPLY[*]}"; }
        try jp tool run tod; try jp tool run learn topic = sk; try jp too; try jp tool li
    "#;
    if let Some(said) = shell(&sandbox, "bash", script) {
        assert_eq!(said, "todo\nskills\ntool\nlist\n");
    }
}

#[test]
fn fish_completes_what_jp_says_and_what_it_knows_itself() {
    let sandbox = sandbox();
    let script = "jp completions fish | source; complete -C 'jp tool run tod'; complete -C 'jp too' | string match -r '^tool'";
    if let Some(said) = shell(&sandbox, "fish", script) {
        assert_eq!(said, "todo\ntool\n");
    }
}

#[test]
fn zsh_loads_the_script() {
    let sandbox = sandbox();
    let script =
        "autoload -U compinit; compinit -u -D; eval \"$(jp completions zsh)\"; echo $_comps[jp]";
    if let Some(said) = shell(&sandbox, "zsh", script) {
        assert_eq!(said, "_jp_dynamic\n");
    }
}
