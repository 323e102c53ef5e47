//! `jp config get`, `why`, `unset` and `edit`.

use std::fs;

use crate::kit::Sandbox;

const OWN: &str = "home/.config/jp/config.toml";
const WORKSPACE: &str = "workspace/.jp/config.toml";

fn sandbox() -> Sandbox {
    let sandbox =
        Sandbox::new("\n[conversation.tools.bash]\nsource = \"builtin\"\nrun = \"ask\"\n");
    sandbox.write(
        OWN,
        "[policy]\nnet = [\"example.com\"]\n[conversation.tools.bash]\nrun = \"unattended\"\n",
    );
    sandbox
}

#[test]
fn a_value_is_printed_with_the_layers_that_set_it() {
    let sandbox = sandbox();
    let get = sandbox
        .jp(&["config", "get", "conversation.tools.bash.run"])
        .exits(0);
    assert_eq!(get.stdout, "ask\n");
    let why = sandbox
        .jp(&["config", "why", "conversation.tools.bash.run"])
        .exits(0);
    let lines: Vec<&str> = why.stdout.lines().collect();
    assert!(
        lines[1].contains("you") && lines[1].contains("~/.config/jp/config.toml:4"),
        "{why:?}"
    );
    let root = sandbox.path(WORKSPACE).canonicalize().unwrap();
    assert!(
        lines[2].starts_with('*') && lines[2].contains(&format!("{}:4", root.display())),
        "{why:?}"
    );
    let words = [
        "--cfg",
        "conversation.tools.bash.run=skip",
        "config",
        "get",
        "-v",
    ];
    let words = [&words[..], &["conversation.tools.bash.run"]].concat();
    sandbox
        .jp(&words)
        .exits(0)
        .says("skip")
        .warns("--cfg conversation.tools.bash.run=skip");
    let mut variable = sandbox.command(&["config", "why", "conversation.tools.bash.run", "--json"]);
    let variable = variable
        .env("JP_CFG_CONVERSATION_TOOLS_BASH_RUN", "edit")
        .output()
        .unwrap();
    let said: serde_json::Value = serde_json::from_slice(&variable.stdout).unwrap();
    assert_eq!(said["layers"].as_array().unwrap().len(), 3, "{said:#}");
    let table = sandbox
        .jp(&["config", "get", "policy", "--json"])
        .exits(0)
        .json();
    assert_eq!(table["value"]["net"][0], "example.com");
    sandbox
        .jp(&["config", "get", "policy.workspace"])
        .exits(1)
        .warns("is not set");
    sandbox
        .jp(&["config", "why", "policy.workspace"])
        .exits(1)
        .warns("the default");
    sandbox
        .jp(&["config", "get", "polcy.net"])
        .exits(2)
        .warns("did you mean `policy`?");
}

#[test]
fn a_key_is_removed_from_the_file_that_has_it() {
    let sandbox = sandbox();
    sandbox
        .jp(&["config", "unset", "policy.net"])
        .exits(1)
        .warns("does not set `policy.net`")
        .warns("jp config unset --user policy.net");
    sandbox
        .jp(&["config", "unset", "--user", "policy.net"])
        .exits(0);
    let text = fs::read_to_string(sandbox.path(OWN)).unwrap();
    assert!(
        !text.contains("example.com") && text.contains("unattended"),
        "{text}"
    );
    sandbox
        .jp(&["config", "unset", "conversation.tools.bash"])
        .exits(0)
        .warns("is now invalid");
}

#[test]
fn an_editor_changes_the_file_as_a_whole() {
    let sandbox = sandbox();
    let edit = |editor: &str| {
        let mut command = sandbox.command(&["config", "edit"]);
        let ran: crate::kit::Ran = command.env("EDITOR", editor).output().unwrap().into();
        ran
    };
    edit("sed -i s/ask/skip/").exits(0).warns("Changed");
    let get = sandbox
        .jp(&["config", "get", "conversation.tools.bash.run"])
        .exits(0);
    assert_eq!(get.stdout, "skip\n");
    edit("true").exits(0).warns("Nothing was changed");
    edit("false").exits(125).warns("the editor ended with");
    edit("sed -i s/skip/never/")
        .exits(0)
        .warns("the configuration is now invalid");
    edit("sed -i s/never/ask/").exits(0);
    sandbox
        .jp(&["config", "edit"])
        .exits(2)
        .warns("neither VISUAL nor EDITOR is set");
}
