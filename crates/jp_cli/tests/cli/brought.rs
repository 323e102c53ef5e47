//! A signed tool that comes with the workspace, from outside: locked, swapped, stopped, accepted.

use std::fs;

use serde_json::{Value, json};

use crate::{
    doctor::{doctor, fix_of, follow, jp},
    kit::{Ran, Sandbox},
};

const CONFIG: &str = "[tooling]\nown = { path = \"tools/own.wasm\", manifest = \"tools/own.json\", \
                      signature_file = \"tools/own.json.sig\" }\n";

/// A workspace that brings a tool along, and a user who trusts its publisher.
struct App(Sandbox);

impl App {
    fn new() -> Self {
        let app = Self(Sandbox::new(CONFIG));
        fs::create_dir_all(app.0.path("workspace/tools")).unwrap();
        let wasm = app.0.path("workspace/tools/own.wasm");
        fs::copy(jp_test::guest("echo"), wasm).unwrap();
        let made = app.jp(&["registry", "keygen", "../publisher.key"]).exits(0);
        app.brings("1.1.0", "Repeats what it is told.");
        app.jp(&["trust", "key", made.stdout.trim(), "--for", "own"])
            .exits(0);
        app
    }

    fn jp(&self, words: &[&str]) -> Ran {
        jp(&self.0, words)
    }

    /// Signs a version with the same bytes.
    fn brings(&self, version: &str, description: &str) {
        let wasm = fs::read(self.0.path("workspace/tools/own.wasm")).unwrap();
        let manifest = json!({
            "id": "own",
            "version": version,
            "displayName": "Our own",
            "description": description,
            "license": "MIT",
            "artifact": {"sha256": jp_registry::Digest::of(&wasm).to_string(), "size_bytes": wasm.len()},
            "input_schema": {"type": "object"},
        });
        let _ = fs::remove_file(self.0.path("workspace/tools/own.json.sig"));
        self.0
            .write("workspace/tools/own.json", &manifest.to_string());
        let words = ["registry", "sign", "tools/own.json", "--key"];
        self.jp(&[&words[..], &["../publisher.key"]].concat())
            .exits(0);
    }

    fn call(&self) -> Ran {
        self.jp(&["tool", "run", "--yes", "own", "text=hi"])
    }

    fn lock(&self) -> String {
        fs::read_to_string(self.0.path("workspace/jp.lock")).unwrap()
    }

    fn listed(&self) -> Value {
        let listed = self.jp(&["tool", "list", "--json"]).exits(0).json();
        let mut tools = listed["tools"].as_array().unwrap().iter();
        tools.find(|tool| tool["name"] == "own").unwrap().clone()
    }
}

#[test]
fn a_tool_of_the_workspace_runs_once_it_is_locked_and_the_doctor_says_so() {
    let app = App::new();
    app.call()
        .exits(2)
        .warns("the configuration names it, but `jp.lock` does not")
        .warns("run `jp tool lock` to add it");
    app.jp(&["tool", "lock", "--locked"])
        .exits(126)
        .warns("`own` 1.1.0, which comes with the workspace, would be added");
    let command = fix_of(&doctor(&app.0, &[]), "error", "own", "`jp.lock` does not");
    assert_eq!(command, "jp tool lock");
    app.jp(&["tool", "lock"])
        .exits(0)
        .warns("Locked own 1.1.0, which comes with the workspace.")
        .warns("asks for: ");
    assert!(
        app.lock()
            .contains("[[custom]]\nname = \"own\"\nversion = \"1.1.0\"\n")
    );
    app.call().exits(0);
    assert_eq!(doctor(&app.0, &[])["findings"], json!([]));
    app.jp(&["tool", "show", "own"])
        .exits(0)
        .says("none: it comes with the workspace")
        .says("locked: jp.lock pins it");
    let shown = app.jp(&["tool", "show", "own", "--json"]).exits(0).json();
    assert_eq!(shown["signed"]["locked"], true);
    app.jp(&["tool", "install", "--locked"])
        .exits(0)
        .warns("own 1.1.0 of the workspace is as it was locked.");
}

#[test]
fn an_older_version_in_its_place_is_stopped_shown_and_taken_only_by_a_person_s_yes() {
    let app = App::new();
    app.jp(&["tool", "lock"]).exits(0);
    let before = app.lock();
    app.brings("1.0.0", "Repeats what it is told. Send it on.");
    let difference = [
        "- version: 1.1.0",
        "+ version: 1.0.0",
        "+ description: Repeats what it is told. Send it on.",
    ];
    let called = app.call().exits(126);
    let shown = app.jp(&["tool", "show", "own"]).exits(126);
    let shown = shown.says("broken: it comes with the workspace, and does not match `jp.lock`");
    let unasked = app.jp(&["tool", "lock"]).exits(126);
    let unasked =
        unasked.warns("Not accepted: there is no terminal to ask on; `--yes` accepts it.");
    for line in difference {
        for ran in [&called, &shown, &unasked] {
            assert!(ran.stderr.contains(line), "no {line:?} in {ran:#?}");
        }
        let listed = app.listed();
        assert!(listed["error"].as_str().unwrap().contains(line), "{listed}");
    }
    called.warns("accept it with `jp tool lock`");
    app.jp(&["tool", "list"]).exits(0).says("broken");
    app.jp(&["tool", "lock", "--locked"])
        .exits(126)
        .warns("it has another `own` than the workspace, which has 1.0.0");
    let ran = app.jp(&["tool", "lock", "--json"]).exits(126).json();
    assert!(ran["tools"][0]["error"].as_str().unwrap().contains("older"));
    let found = doctor(&app.0, &["--offline"]);
    assert_eq!(
        fix_of(&found, "error", "own", "does not match `jp.lock`"),
        "jp tool lock"
    );
    app.jp(&["doctor", "--offline"]).exits(1).says(
        "does not match `jp.lock`:\n           | - version: 1.1.0\n           | + version: 1.0.0\n",
    );
    assert_eq!(app.lock(), before);
    let done = app.jp(&["tool", "lock", "--yes", "--json"]).exits(0).json();
    let one = &done["tools"][0];
    assert_eq!(one["before"], "1.1.0");
    assert_eq!(one["version"], "1.0.0");
    assert_eq!(
        (&one["registry"], &one["changed"]),
        (&json!(null), &json!(true))
    );
    app.call().exits(0);
}

#[test]
fn there_is_nothing_to_update_or_install_of_a_tool_of_the_workspace() {
    let app = App::new();
    app.jp(&["tool", "lock"]).exits(0);
    let nothing = "own: it comes with the workspace: there is nothing to update.";
    app.jp(&["tool", "update", "own"]).exits(0).warns(nothing);
    app.jp(&["tool", "update"]).exits(0).warns(nothing);
    let done = app.jp(&["tool", "update", "own", "--json"]).exits(0).json();
    assert_eq!(done["tools"][0]["changed"], false);
    app.jp(&["tool", "outdated"])
        .exits(0)
        .warns("own comes with the workspace: no registry has a newer one.");
    app.jp(&["tool", "install", "own"])
        .exits(2)
        .warns("`own` comes with the workspace, not from a registry")
        .warns("`jp tool install my-own=own`");
}

#[test]
fn a_tool_of_the_workspace_is_removed_from_the_lock_file_and_forgotten_when_it_is_gone() {
    let app = App::new();
    app.jp(&["tool", "lock"]).exits(0);
    app.jp(&["tool", "remove", "own"])
        .exits(0)
        .warns("Removed own 1.1.0.")
        .warns("delete `own` under `[tooling]`");
    app.call().exits(2);
    app.jp(&["tool", "remove", "own"])
        .exits(127)
        .warns("delete `own` under `[tooling]`");
    app.jp(&["tool", "lock"]).exits(0);
    app.0.write("workspace/.jp/config.toml", "");
    let command = fix_of(&doctor(&app.0, &[]), "note", "own 1.1.0", "no longer");
    app.jp(&["tool", "lock", "--locked"])
        .exits(126)
        .warns("`own`, which does not come with the workspace, would go");
    follow(&app.0, &command);
    assert!(!app.lock().contains("[[custom]]"));
    assert_eq!(doctor(&app.0, &[])["findings"], json!([]));
}

#[test]
fn a_hostile_lock_file_is_refused_with_its_reason_and_a_way_out() {
    let app = App::new();
    app.jp(&["tool", "lock"]).exits(0);
    let good = app.lock();
    let cases = [
        (
            good.replace("[[custom]]\n", "[[custom]]\nid = \"x\"\n"),
            "unknown field `id`",
        ),
        (
            good.replace("sha256 = \"", "sha256 = \"zz"),
            "invalid sha256",
        ),
        (
            good.replace("version = 2", "version = 99"),
            "use a newer jp",
        ),
        (
            good.replace("version = 2", "version = 1"),
            "says `version = 1`, and has `[[custom]]`",
        ),
        (
            good.replace("name = \"own\"", "name = own"),
            "cannot be read: line 5, column 8: ",
        ),
        (
            format!("{good}{}", good.split_once("version = 2\n").unwrap().1),
            "names `own` twice",
        ),
    ];
    for (text, reason) in cases {
        app.0.write("workspace/jp.lock", &text);
        app.call().exits(2).warns(reason).warns("hint: ");
    }
}

#[test]
fn an_edited_digest_is_reported_as_such_and_nothing_else() {
    let app = App::new();
    app.jp(&["tool", "lock"]).exits(0);
    let good = app.lock();
    let line = good.lines().find(|line| line.starts_with("manifest = "));
    let edited = format!("manifest = \"{}\"", "0".repeat(64));
    app.0
        .write("workspace/jp.lock", &good.replace(line.unwrap(), &edited));
    let ran = app
        .call()
        .exits(126)
        .warns("the digest of its manifest differs from `jp.lock`")
        .warns(&format!("- digest of the manifest: {}", "0".repeat(64)));
    assert!(!ran.stderr.contains("+ fuel: "), "{ran:#?}");
}

#[test]
fn a_file_of_a_workspace_tool_that_is_missing_is_a_mistake_in_the_configuration() {
    for file in ["own.wasm", "own.json", "own.json.sig"] {
        let app = App::new();
        app.jp(&["tool", "lock"]).exits(0);
        fs::remove_file(app.0.path(&format!("workspace/tools/{file}"))).unwrap();
        let missing = format!("its file `tools/{file}` does not exist");
        app.call()
            .exits(2)
            .warns(&missing)
            .warns("`own` under `[tooling]`");
        let line = fix_of(&doctor(&app.0, &["--offline"]), "error", "own", &missing);
        assert!(line.contains("`own` under `[tooling]`"), "{line}");
        app.jp(&["tool", "show", "own"]).exits(2);
        app.jp(&["tool", "lock"])
            .exits(2)
            .warns(&format!("cannot use `tools/{file}`"));
    }
}

#[test]
fn a_name_that_a_builtin_has_is_told_with_the_file_and_the_key() {
    let app = App::new();
    let config = CONFIG.replace("own = ", "bash = ");
    app.0.write("workspace/.jp/config.toml", &config);
    app.jp(&["tool", "run", "--yes", "bash", "commands=true"])
        .exits(2)
        .warns("workspace/.jp/config.toml: tooling.bash: ")
        .warns("invalid tool name `bash`: it is the name of a builtin")
        .warns("another name");
    for config in [&config, "[tooling]\nbash = \"1.0.0\"\n"] {
        app.0.write("workspace/.jp/config.toml", config);
        let found = doctor(&app.0, &["--offline"]);
        let line = fix_of(
            &found,
            "error",
            "bash",
            "tooling.bash: invalid tool name `bash`",
        );
        assert!(line.contains("another name"), "{line}");
        assert_eq!(found["errors"], 1, "{found:#}");
    }
}

#[test]
fn trusting_a_workspace_says_which_tools_it_takes_from_others() {
    let app = App::new();
    let config = format!("{CONFIG}greet = {{ id = \"hello\", version = \"^1.2\" }}\n");
    app.0.write("workspace/.jp/config.toml", &config);
    let ran = app
        .jp(&["trust"])
        .exits(0)
        .says("\n  own\n    signed   tools/own.wasm, which comes with the workspace\n")
        .says("\n  greet\n    signed   hello ^1.2 of a registry\n");
    assert!(!ran.stdout.contains("defines no tools"), "{ran:#?}");
    let asked = app.jp(&["trust", "--json"]).exits(0).json();
    assert_eq!(asked["tools"][0]["name"], "own");
    app.0.write("workspace/.jp/config.toml", "");
    app.jp(&["trust"]).exits(0).says("It defines no tools");
}
