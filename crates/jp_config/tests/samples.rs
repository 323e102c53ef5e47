//! One rule per file: `samples/valid` loads, `samples/invalid` fails with the text of its first line.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail the test they help"
)]

use std::{
    fs,
    path::{Path, PathBuf},
};

use jp_config::{ConfigError, Loaded, PartialAppConfig, Sources, json_schema, load};
use serde_json::Value;

fn samples(kind: &str) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("samples")
        .join(kind);
    let mut files: Vec<PathBuf> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() > 5);
    files
}

fn load_as_workspace(text: &str) -> Result<Loaded, ConfigError> {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(".jp")).unwrap();
    fs::write(dir.path().join(".jp/config.toml"), text).unwrap();
    load(&Sources {
        workspace_root: Some(dir.path().to_path_buf()),
        cwd: dir.path().to_path_buf(),
        ..Sources::default()
    })
}

#[test]
fn valid_samples_load() {
    for file in samples("valid") {
        let text = fs::read_to_string(&file).unwrap();
        if file.ends_with("all_fields.toml") {
            continue; // It has a policy; `all_fields` loads it as the user's.
        }
        let loaded = load_as_workspace(&text);
        assert!(
            loaded.is_ok(),
            "{}: {}",
            file.display(),
            loaded.unwrap_err()
        );
    }
}

#[test]
fn invalid_samples_fail_with_the_expected_words() {
    for file in samples("invalid") {
        let text = fs::read_to_string(&file).unwrap();
        let expected = text
            .lines()
            .next()
            .unwrap()
            .strip_prefix("# expect: ")
            .unwrap();
        let error = load_as_workspace(&text)
            .expect_err(&file.display().to_string())
            .to_string();
        assert!(error.contains(expected), "{}:\n{error}", file.display());
    }
}

fn all_fields() -> (tempfile::TempDir, Loaded) {
    let dir = tempfile::tempdir().unwrap();
    let text = include_str!("../samples/valid/all_fields.toml");
    fs::write(dir.path().join("config.toml"), text).unwrap();
    let loaded = load(&Sources {
        user_config_dir: Some(dir.path().to_path_buf()),
        ..Sources::default()
    });
    (dir, loaded.unwrap())
}

#[test]
fn all_fields_snapshot() {
    insta::assert_debug_snapshot!(all_fields().1.config);
}

#[test]
fn all_fields_survive_the_way_to_partial_and_back() {
    let config = all_fields().1.config;
    let partial = config.to_partial().unwrap();
    assert_eq!(
        jp_config::AppConfig::from_partial(partial.clone()).unwrap(),
        config
    );
    insta::assert_snapshot!(serde_json::to_string_pretty(partial.as_value()).unwrap());
}

#[test]
fn defaults_are_not_written_out() {
    let text = r#"{"conversation": {"tools": {"x": {"source": "local", "style": {
        "inline_results": 10, "parameters": "json"}, "parameters": {}, "limits": {}}}},
        "kb": {"topic": {"t": {"subjects": "t", "enable": true}}},
        "providers": {"mcp": {"m": {"command": "m", "startup_timeout_secs": 60}}}}"#;
    let partial = PartialAppConfig::from_value(serde_json::from_str(text).unwrap()).unwrap();
    let config = jp_config::AppConfig::from_partial(partial).unwrap();
    insta::assert_snapshot!(config.to_partial().unwrap().as_value(), @r#"{"conversation":{"tools":{"x":{"source":"local","style":{}}}},"kb":{"topic":{"t":{"subjects":"t"}}},"providers":{"mcp":{"m":{"command":"m"}}}}"#);
}

/// Lists `Type.key` for every key of every table in the schema.
fn keys_of_schema() -> Vec<String> {
    let schema = json_schema();
    let mut keys = Vec::new();
    let tables = schema["$defs"].as_object().unwrap().iter();
    for (name, table) in tables.chain([(&"AppConfig".to_string(), &schema)]) {
        let properties = table["properties"].as_object().into_iter().flatten();
        keys.extend(properties.map(|(key, _)| format!("{name}.{key}")));
    }
    keys
}

fn keys_of_tree(value: &toml::Value, keys: &mut std::collections::BTreeSet<String>) {
    match value {
        toml::Value::Table(table) => {
            for (key, value) in table {
                keys.insert(key.clone());
                keys_of_tree(value, keys);
            }
        }
        toml::Value::Array(items) => items.iter().for_each(|item| keys_of_tree(item, keys)),
        _ => {}
    }
}

#[test]
fn the_sample_of_all_fields_leaves_none_out() {
    let text = include_str!("../samples/valid/all_fields.toml");
    let mut used = std::collections::BTreeSet::new();
    keys_of_tree(&toml::Value::Table(text.parse().unwrap()), &mut used);
    let known = keys_of_schema();
    assert!(known.len() > 60, "{known:?}");
    for key in known {
        let (_, name) = key.split_once('.').unwrap();
        assert!(used.contains(name), "{key} is in no sample");
    }
}

#[test]
fn the_committed_schema_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/config.schema.json");
    let committed: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let hint = "run `cargo run -p jp_config --example schema`";
    assert!(committed == json_schema(), "the schema has changed: {hint}");
}
