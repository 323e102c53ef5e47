//! The manifest of an app as a file of a workspace: found, located, merged and pinned like others.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail the test they help"
)]

use std::{fs, path::Path};

use jp_config::{ConfigError, Layer, Loaded, Sources, ToolingConfig, load};
use proptest::prelude::*;

struct World(tempfile::TempDir);

impl World {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("ws")).unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(dir)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn load(&self) -> Result<Loaded, ConfigError> {
        load(&Sources {
            user_config_dir: Some(self.path().join("user")),
            workspace_root: Some(self.path().join("ws")),
            cwd: self.path().join("ws"),
            ..Sources::default()
        })
    }

    fn error(&self) -> String {
        let text = self.load().unwrap_err().to_string();
        text.replace(&self.path().display().to_string(), "~")
    }
}

fn error(text: &str) -> String {
    World::new(&[("ws/locara.json", text)]).error()
}

const APP: &str = r#"{
  // What the app is: "tooling": [{ "ocr
  "schema": "locara/v1",
  "name": "pdf-tidy", /* "name": "twice", */
  "displayName": "PDF // Tidy",
  "capabilities": { "net": ["api.example.com"], "fs": { "user-selected": "read" } },
  "modalities": ["text-to-text", "text-to-speech"],
  "tooling": [
    "ocr@1.2.0",
    "code-exec.javascript"
  ],
  "storage": {}
}"#;

#[test]
fn a_manifest_is_a_layer_of_the_workspace() {
    let world = World::new(&[("ws/locara.json", APP)]);
    let loaded = world.load().unwrap();
    let allowed = loaded.config.app_capabilities().to_string();
    let expected = "fs=/tmp:read-write selected=read net=api.example.com calls=llm.generate";
    assert_eq!(allowed, expected);
    assert_eq!(
        loaded.config.tooling["code-exec.javascript"].id("x"),
        Some("code-exec.js")
    );
    assert_eq!(loaded.defined_by("ocr"), Layer::Workspace);
    assert_eq!(loaded.files.len(), 1);
    let warnings = loaded.warnings.iter().map(ToString::to_string);
    let warnings: Vec<String> = warnings
        .map(|text| text.replace(&world.path().display().to_string(), "~"))
        .collect();
    let expected = [
        "~/ws/locara.json:12: storage: has no effect here: this host runs the app's tools, not the app",
        "~/ws/locara.json:7: modalities.1: not available on this host: tools that need it do not run",
    ];
    assert_eq!(warnings, expected);
}

#[test]
fn a_changed_manifest_is_another_workspace_to_trust() {
    let digest = |text: &str| {
        let world = World::new(&[("ws/locara.json", text)]);
        world.load().unwrap().workspace_digest
    };
    let first = digest(APP);
    assert!(first.is_some());
    assert_eq!(first, digest(APP));
    assert_ne!(first, digest(&APP.replace("ocr@1.2.0", "ocr@1.3.0")));
    // Even a comment: what was read is what is trusted.
    assert_ne!(first, digest(&APP.replace("// What", "// Who")));
}

#[test]
fn the_workspaces_own_file_stands_above_its_manifest() {
    let own = "[tooling]\nocr = '2.0.0'\n[capabilities]\nnet = true\n";
    let world = World::new(&[("ws/locara.json", APP), ("ws/.jp/config.toml", own)]);
    let config = world.load().unwrap().config;
    let ToolingConfig::Registry(ocr) = &config.tooling["ocr"] else {
        panic!("not of a registry");
    };
    assert_eq!(ocr.version.to_string(), "=2.0.0");
    // What the manifest does not allow, the file beside it cannot.
    let allowed = config.app_capabilities().to_string();
    assert_eq!(allowed, "fs=/tmp:read-write net=api.example.com");
}

#[test]
fn a_manifest_never_widens_what_the_user_says() {
    let user = "[capabilities]\nfs.user-selected = 'read'\n";
    let world = World::new(&[("ws/locara.json", APP), ("user/config.toml", user)]);
    let config = world.load().unwrap().config;
    let allowed = config.app_capabilities().to_string();
    assert_eq!(allowed, "fs=/tmp:read-write selected=read net=none");
}

#[test]
fn mistakes_are_found_where_they_stand() {
    let cases = [
        (
            ("\"tooling\"", "\"toolings\""),
            "8: toolings: unknown key (did you mean `tooling`?)",
        ),
        (
            ("\"ocr@1.2.0\"", "\"ocr@newest\""),
            "9: tooling.0: invalid version `newest`",
        ),
        (
            ("\"code-exec.javascript\"", "\"Code\""),
            "10: tooling.1: invalid tool id `Code`",
        ),
        (
            ("\"user-selected\"", "\"user-selectd\""),
            "6: capabilities.fs.user-selectd: unknown key (did you mean `user-selected`?)",
        ),
        (("\"read\"", "\"rw\""), "6: capabilities.fs.user-selected: "),
        (
            ("\"fs\"", "\"device.camera\""),
            "6: capabilities.\"device.camera\": not available: this host has no microphone",
        ),
        (
            ("\"net\"", "\"policy\""),
            "6: capabilities.policy: unknown key",
        ),
        (
            ("text-to-speech", "text-to-text-thinkin"),
            "7: modalities.1: unknown modality",
        ),
        (
            ("locara/v1", "locara/v9"),
            "3: schema: expected `locara/v1`",
        ),
        (("\"storage\"", "\"policy\""), "12: policy: unknown key"),
    ];
    for ((from, to), expected) in cases {
        let found = error(&APP.replace(from, to));
        assert!(
            found.starts_with(&format!("~/ws/locara.json:{expected}")),
            "{to}: {found}"
        );
    }
}

#[test]
fn a_name_that_is_taken_is_blamed_on_the_line_of_the_manifest() {
    let own = "[conversation.tools.'code-exec.javascript']\nsource = 'local'\n";
    let world = World::new(&[("ws/locara.json", APP), ("ws/.jp/config.toml", own)]);
    let found = world.error();
    let expected = "~/ws/locara.json:10: tooling.\"code-exec.javascript\": the name is taken by ~/ws/.jp/config.toml:1: ";
    assert!(found.starts_with(expected), "{found}");
}

#[test]
fn a_strangers_file_cannot_hide_anything() {
    let cases = [
        (
            r#"{"schema": "locara/v1", "tooling": [], "tooling": ["ocr"]}"#,
            ":1: ",
        ),
        (
            r#"{"schema": "locara/v1", "capabilities": {"net": false, "net": true}}"#,
            "the key `net` occurs twice",
        ),
        (
            r#"{"schema": "locara/v1", "a\u0062": 1}"#,
            "ab: unknown key",
        ),
        (r#"{"schema": "locara/v1"} /* open"#, ":1: "),
        (r#"["locara/v1"]"#, "expected a table"),
        ("{}", "`schema` is missing"),
        ("", ":1: "),
        (
            r#"{"schema": "locara/v1", "conversation": {"tools": {}}}"#,
            "conversation: unknown key",
        ),
        (
            r#"{"schema": "locara/v1", "extends": ["x"]}"#,
            "extends: unknown key",
        ),
    ];
    for (text, expected) in cases {
        let found = error(text);
        assert!(found.contains(expected), "{text}: {found}");
    }
    let deep = format!(
        r#"{{"schema": "locara/v1", "build": {}"#,
        r#"{"a":"#.repeat(100_000)
    );
    assert!(error(&deep).starts_with("~/ws/locara.json:1: "));
}

#[test]
fn a_manifest_of_any_name_is_read_where_it_is_named() {
    let plain = r#"{"schema": "locara/v1", "tooling": ["ocr"]}"#;
    for (name, text) in [("app.json", plain), ("locara.json", APP)] {
        let world = World::new(&[(name, text)]);
        let loaded = load(&Sources {
            files: vec![world.path().join(name)],
            ..Sources::default()
        });
        let loaded = loaded.unwrap();
        assert!(loaded.config.tooling.contains_key("ocr"), "{name}");
        assert_eq!(loaded.defined_by("ocr"), Layer::User);
        assert_eq!(loaded.workspace_digest, None);
    }
}

#[cfg(unix)]
#[test]
fn a_manifest_that_leads_out_of_the_workspace_is_refused() {
    let world = World::new(&[("elsewhere/locara.json", APP)]);
    let link = world.path().join("ws/locara.json");
    std::os::unix::fs::symlink(world.path().join("elsewhere/locara.json"), link).unwrap();
    assert!(
        world.error().contains("through a link"),
        "{}",
        world.error()
    );
}

#[test]
fn lists_of_a_stranger_are_bounded() {
    let calls = vec!["\"clock.now_unix\""; 100_000].join(",");
    let found = error(&format!(
        r#"{{"schema": "locara/v1", "capabilities": {{"calls": [{calls}]}}}}"#
    ));
    assert!(
        found.ends_with("capabilities.calls: too many names in `calls`: expected at most 1024")
    );
    let model = format!("\"m@sha256:{}\"", "0".repeat(64));
    let models = vec![model; 10_000].join(",");
    let found = error(&format!(
        r#"{{"schema": "locara/v1", "models": [{models}]}}"#
    ));
    assert!(found.ends_with(":1: models: too many models: expected at most 256"));
    let said = vec!["[[capabilities]]\n"; 33].concat();
    let found = World::new(&[("ws/.jp.toml", &said)]).error();
    assert!(found.contains("expected at most 32"), "{found}");
}

#[test]
fn keys_without_effect_are_not_all_spelled_out() {
    let tools: Vec<String> = (0..2_000)
        .map(|n| format!(r#""t{n}": {{"runtime": "wasm"}}"#))
        .collect();
    let text = format!(
        r#"{{"tools": {{"settings": {{"sandbox": {{"tools": {{{}}}}}}}}}}}"#,
        tools.join(",")
    );
    let warnings = World::new(&[("ws/.jp/config.json", &text)]);
    let warnings = warnings.load().unwrap().warnings;
    let more = |text: &str| warnings.iter().any(|w| w.message == text);
    assert!(more("and 1900 more keys without effect"));
    assert!(warnings.len() < 210, "{}", warnings.len());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_manifest_makes_loading_panic(
        text in r#"("(schema|tooling|name|models|modalities|capabilities|fs|net|ocr@1|locara/v1|path)"|//|/\*|\*/|\\|[{}\[\]":,/ \n0-9aä]|true){0,40}"#,
    ) {
        let world = World::new(&[("ws/locara.json", &text)]);
        let _ = world.load();
        let inside = format!("{{\"schema\": \"locara/v1\", {text}}}");
        let _ = World::new(&[("ws/locara.json", &inside)]).load();
    }
}
