//! What an app allows, which tools it names, and where they come from: who may say what.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail the test they help"
)]

mod capabilities;
mod registries;

use std::fs;

use jp_config::{ConfigError, Layer, Loaded, SignatureSource, Sources, ToolingConfig, load};

pub(crate) fn load_from(
    files: &[(&str, &str)],
    assignments: &[&str],
) -> (String, Result<Loaded, ConfigError>) {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("ws")).unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let loaded = load(&Sources {
        user_config_dir: Some(dir.path().join("user")),
        workspace_root: Some(dir.path().join("ws")),
        cwd: dir.path().join("ws"),
        assignments: assignments.iter().map(ToString::to_string).collect(),
        ..Sources::default()
    });
    (dir.path().display().to_string(), loaded)
}

pub(crate) fn loaded(files: &[(&str, &str)]) -> Loaded {
    load_from(files, &[]).1.unwrap()
}

pub(crate) fn error(files: &[(&str, &str)]) -> String {
    let (dir, result) = load_from(files, &[]);
    result.unwrap_err().to_string().replace(&dir, "~")
}

pub(crate) const USER: &str = "user/config.toml";
pub(crate) const WORKSPACE: &str = "ws/.jp/config.toml";

#[test]
fn tooling_is_read_in_each_of_its_forms() {
    let text = include_str!("../../samples/valid/tooling_of_all_kinds.toml");
    let config = loaded(&[(WORKSPACE, text)]).config;
    let ids = config.tooling.iter();
    let ids: Vec<_> = ids.map(|(name, tool)| tool.id(name)).collect();
    let expected = [
        Some("ocr"),
        Some("pdf.split"),
        Some("pdf.extract-text"),
        None,
    ];
    assert_eq!(ids, expected);
    let ToolingConfig::Registry(split) = &config.tooling["pdf.split"] else {
        panic!("not of a registry");
    };
    assert!(split.version.matches(&"2.9.0".parse().unwrap()));
    assert!(!split.version.matches(&"3.0.0".parse().unwrap()));
    let ToolingConfig::Custom(own) = &config.tooling["own"] else {
        panic!("not the app's own");
    };
    let file = SignatureSource::File("tools/own.sig".into());
    assert_eq!(
        (own.manifest.as_str(), &own.signature),
        ("tools/own.locara-tool.json", &file)
    );
}

#[test]
fn a_version_means_the_same_in_each_file_and_form() {
    let read = |path: &str, text: String| {
        let config = loaded(&[(path, &text)]).config;
        let ToolingConfig::Registry(ocr) = &config.tooling["ocr"] else {
            unreachable!("not of a registry");
        };
        ocr.version.to_string()
    };
    let cases = [
        ("1.2.0", "=1.2.0"),
        ("=1.2.0", "=1.2.0"),
        ("1.2.0-rc.1", "=1.2.0-rc.1"),
        ("^1.2.0", "^1.2.0"),
        ("1.2", "^1.2"),
        (">=1, <3", ">=1, <3"),
        ("*", "*"),
    ];
    for (text, means) in cases {
        let short = format!("[tooling]\nocr = '{text}'\n");
        assert_eq!(read(WORKSPACE, short), means);
        let table = format!("[tooling]\nocr = {{ version = '{text}' }}\n");
        assert_eq!(read(WORKSPACE, table), means);
        let app = format!(
            r#"{{"schema": "locara/v1", "name": "a", "version": "1.0.0", "tooling": ["ocr@{text}"]}}"#
        );
        assert_eq!(read("ws/locara.json", app), means);
    }
    for (form, bad) in [
        ("'{}'", "1".repeat(257)),
        ("{ version = '{}' }", format!("1.0.0-{}", "a".repeat(250))),
        ("{ version = '{}' }", "1.0.0.0".to_owned()),
    ] {
        let text = format!("[tooling]\nocr = {}\n", form.replace("{}", &bad));
        let error = error(&[(WORKSPACE, &text)]);
        assert!(
            error.contains("tooling.ocr") && error.len() < 400,
            "{error}"
        );
    }
}

#[test]
fn an_entry_of_tooling_is_replaced_as_a_whole() {
    let user = (
        USER,
        "[tooling]\nocr = { version = '1', registry = 'main' }\npdf = '1'\n",
    );
    let workspace = (
        WORKSPACE,
        "[tooling]\nocr = { path = 'a.wasm', manifest = 'a.json', signature = 'x' }\n",
    );
    let loaded = loaded(&[user, workspace]);
    assert!(matches!(
        loaded.config.tooling["ocr"],
        ToolingConfig::Custom(_)
    ));
    assert_eq!(loaded.defined_by("ocr"), Layer::Workspace);
    assert_eq!(loaded.defined_by("pdf"), Layer::User);
}

#[test]
fn a_name_that_two_tools_claim_is_an_error_that_names_both_places() {
    let user = (USER, "\n[conversation.tools.ocr]\nsource = 'local'\n");
    let workspace = (WORKSPACE, "[tooling]\npdf = '1'\nocr = '1'\n");
    let expected = "~/ws/.jp/config.toml:3: tooling.ocr: the name is taken by ~/user/config.toml:2: \
        conversation.tools.ocr, whose source is `local`; rename one, or give that entry the source `registry`";
    assert_eq!(error(&[user, workspace]), expected);
}

#[test]
fn what_a_signed_manifest_says_cannot_be_said_again() {
    let text = "[conversation.tools.ocr]\nsource = 'registry'\nrun = 'ask'\nlimits.time = '5s'\n\
                wasm = 'x.wasm'\n";
    let warnings = loaded(&[(WORKSPACE, text)]).warnings;
    let keys: Vec<&str> = warnings.iter().map(|w| w.key.as_str()).collect();
    assert_eq!(keys, ["conversation.tools.ocr.wasm"]);
    for line in ["description = 'x'", "grant.net = true", "abi = 1"] {
        let error = error(&[(WORKSPACE, &format!("{text}{line}\n"))]);
        assert!(error.contains("would have no effect"), "{error}");
    }
}
