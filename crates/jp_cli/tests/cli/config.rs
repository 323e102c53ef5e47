//! Configuration from the command line, and the errors when it is wrong.

use crate::kit::{Sandbox, TOOLS};

#[test]
fn a_wrong_configuration_is_named_by_file_line_and_key() {
    let config = format!("{TOOLS}\n[conversation.tools.x]\nsource = \"local\"\ncomand = \"ls\"\n");
    let line = config.lines().count();
    let sandbox = Sandbox::new(&config);
    sandbox
        .jp(&["tool", "list"])
        .exits(2)
        .warns(&format!("config.toml:{line}: "))
        .warns("conversation.tools.x.comand: unknown key (did you mean `command`?)");
    let sandbox = Sandbox::new("");
    sandbox
        .jp(&["--cfg", "nonsense.x=1", "tool", "list"])
        .exits(2)
        .warns("--cfg nonsense.x=1: nonsense");
}

#[test]
fn a_key_is_set_in_the_workspace_or_for_the_user() {
    let sandbox = Sandbox::with_tools();
    sandbox
        .jp(&["config", "set", "conversation.tools.read.run=skip"])
        .exits(0);
    sandbox
        .call(&["read", "path=notes.txt"])
        .exits(126)
        .warns("skipped by configuration");
    sandbox
        .jp(&["config", "set", "policy.unconfined=true"])
        .exits(2)
        .warns("policy belongs in the user's configuration")
        .warns("--user");
    sandbox
        .jp(&["config", "set", r#"{"policy": {"unconfined": true}}"#])
        .exits(2);
    sandbox
        .jp(&["config", "set", "--user", "policy.workspace=read"])
        .exits(0);
    sandbox.jp(&["tool", "run", "--yes", "trap"]).exits(134);
    sandbox.call(&["count"]).exits(126).warns("policy");
    let shown = sandbox.jp(&["config", "show", "--json"]).exits(0).json();
    assert_eq!(shown["config"]["policy"]["workspace"], "read");
    assert_eq!(shown["files"].as_array().unwrap().len(), 2);
    sandbox
        .jp(&["config", "show"])
        .exits(0)
        .says("# from ")
        .says("[policy]");
    sandbox
        .jp(&["config", "schema"])
        .exits(0)
        .says("conversation");
}

#[test]
fn what_would_make_the_configuration_invalid_is_not_set() {
    let sandbox = Sandbox::new("");
    let config = || std::fs::read_to_string(sandbox.path("workspace/.jp/config.toml")).unwrap();
    let net = "conversation.tools.http_call.grant.net:=[\"example.com:443\"]";
    sandbox
        .jp(&["config", "set", net])
        .exits(2)
        .warns("nothing was changed")
        .warns("`source = \"builtin\"` for a tool that jp brings")
        .warns("hint: set keys that need each other in one command");
    assert_eq!(config(), "");
    let source = "conversation.tools.http_call.source=builtin";
    sandbox.jp(&["config", "set", net, source]).exits(0);
    sandbox.jp(&["tool", "list"]).exits(0);
    // One that is invalid already can be corrected.
    sandbox.write(
        "workspace/.jp/config.toml",
        "[conversation.tools.x]\nwasm = \"x.wasm\"\n",
    );
    sandbox.jp(&["tool", "list"]).exits(2);
    sandbox
        .jp(&["config", "set", "conversation.tools.x.source=local"])
        .exits(0);
    sandbox.jp(&["tool", "list"]).exits(0);
}

#[test]
fn processes_that_set_keys_at_once_lose_nothing() {
    let sandbox = Sandbox::new("");
    for place in [&[][..], &["--user"]] {
        let children: Vec<_> = (0..20)
            .map(|n| {
                let assignment = format!("kb.topic.t{n}.subjects=.jp/kb");
                let words = [&["config", "set"], place, &[&assignment]].concat();
                sandbox.command(&words).spawn().unwrap()
            })
            .collect();
        for child in children {
            let ran = child.wait_with_output().unwrap();
            assert!(ran.status.success(), "{ran:?}");
        }
    }
    for file in ["workspace/.jp/config.toml", "home/.config/jp/config.toml"] {
        let text = std::fs::read_to_string(sandbox.path(file)).unwrap();
        let kept = (0..20).filter(|n| text.contains(&format!("[kb.topic.t{n}]\n")));
        assert_eq!(kept.count(), 20, "{file}: {text}");
        let dir = sandbox.path(file).parent().unwrap().to_owned();
        assert_eq!(
            std::fs::read_dir(dir).unwrap().count(),
            1,
            "nothing is left beside {file}"
        );
    }
}

#[test]
fn a_link_in_the_workspace_does_not_lead_a_change_out_of_it() {
    let sandbox = Sandbox::new("");
    sandbox.write("home/own.toml", "");
    let config = sandbox.path("workspace/.jp/config.toml");
    std::fs::remove_file(&config).unwrap();
    std::os::unix::fs::symlink(sandbox.path("home/own.toml"), &config).unwrap();
    sandbox
        .jp(&["config", "set", "kb.topic.a.subjects=x"])
        .exits(2)
        .warns("symbolic link");
    assert_eq!(
        std::fs::read_to_string(sandbox.path("home/own.toml")).unwrap(),
        ""
    );
}

#[test]
fn a_configuration_directory_that_is_a_file_is_an_error() {
    let sandbox = Sandbox::new("");
    sandbox.write("home/file", "");
    let ran = sandbox
        .command(&["tool", "list"])
        .env("JP_CONFIG_DIR", sandbox.path("home/file"))
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(2), "{ran:?}");
}

#[test]
fn a_workspace_is_found_by_its_app_manifest_or_its_lock_file() {
    let sandbox = Sandbox::new("");
    for (app, file, text) in [
        ("app", "locara.json", "{\"schema\": \"locara/v1\"}"),
        ("locked", "jp.lock", "version = 1\n"),
    ] {
        sandbox.write(&format!("{app}/{file}"), text);
        sandbox.write(&format!("{app}/deep/er/notes.txt"), "");
        let dir = sandbox.path(&format!("{app}/deep/er"));
        let ran = sandbox
            .jp(&["-C", dir.to_str().unwrap(), "trust", "--forget"])
            .exits(0);
        let root = sandbox.path(app).canonicalize().unwrap();
        ran.warns(&format!("{} was not trusted", root.display()));
    }
}

#[test]
fn a_byte_order_mark_is_not_part_of_a_configuration() {
    let sandbox = Sandbox::new("");
    std::fs::remove_file(sandbox.path("workspace/.jp/config.toml")).unwrap();
    let json = "\u{feff}{\"conversation\": {\"tools\": {\"now\": {\"source\": \"local\", \"command\": \"date\"}}}}";
    sandbox.write("workspace/.jp/config.json", json);
    sandbox.jp(&["tool", "list"]).exits(0).says("now");
    // Lines and columns are those of the text.
    sandbox.write("workspace/.jp/config.json", "\u{feff}{\n \"nonsense\": 1}");
    sandbox
        .jp(&["tool", "list"])
        .exits(2)
        .warns("config.json:2: nonsense");
    sandbox.write("workspace/.jp/config.json", "\u{feff}{}\u{feff}");
    sandbox
        .jp(&["tool", "list"])
        .exits(2)
        .warns("config.json:1");
}
