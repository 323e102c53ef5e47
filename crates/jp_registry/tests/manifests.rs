//! One rule per file: `samples/valid` is read, `samples/invalid` is refused with the text beside it.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail the test they help"
)]

use std::{
    fs,
    path::{Path, PathBuf},
};

use jp_registry::{ToolManifest, json_schema};
use serde_json::Value;

fn samples(kind: &str) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("samples")
        .join(kind);
    let files = fs::read_dir(dir).unwrap();
    let files = files.map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|kind| kind == "json"))
        .collect();
    files.sort();
    assert!(files.len() > 10);
    files
}

fn value(file: &Path) -> Value {
    jp_registry::parse_document(&fs::read(file).unwrap(), 1 << 20).unwrap()
}

fn sample(name: &str) -> Value {
    let samples = samples("valid");
    let found = samples
        .iter()
        .find(|file| file.file_stem().unwrap() == name);
    value(found.unwrap())
}

#[test]
fn valid_samples_are_read() {
    for file in samples("valid") {
        let read = ToolManifest::read(&value(&file));
        assert!(read.is_ok(), "{}: {}", file.display(), read.unwrap_err());
    }
}

#[test]
fn invalid_samples_are_refused_with_the_expected_words() {
    let mut wrong = Vec::new();
    for file in samples("invalid") {
        let expected = fs::read_to_string(file.with_extension("txt")).unwrap_or_default();
        let found = match ToolManifest::read(&value(&file)) {
            Ok(_) => "it is read".to_owned(),
            Err(error) => error.to_string(),
        };
        if found != expected.trim_end() {
            wrong.push(format!("{}: {found}", file.file_stem().unwrap().display()));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_schema_is_the_one_that_is_checked_in() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/tool-manifest.json");
    let committed: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let hint = "run `cargo run -p jp_registry --example manifest_schema`";
    assert!(committed == json_schema(), "the schema has changed: {hint}");
}

#[test]
fn the_schema_allows_every_valid_sample() {
    let validator = jsonschema::validator_for(&json_schema()).unwrap();
    for file in samples("valid") {
        let errors: Vec<String> = validator
            .iter_errors(&value(&file))
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{}: {errors:?}", file.display());
    }
}

/// Follows references and alternatives to the table at a place of the schema.
fn table<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return table(
            root.pointer(reference.trim_start_matches('#')).unwrap(),
            root,
        );
    }
    let several = schema.get("anyOf").and_then(Value::as_array);
    let mut several = several.into_iter().flatten().map(|one| table(one, root));
    several
        .find(|one| one.get("properties").is_some())
        .unwrap_or(schema)
}

#[test]
fn the_schema_and_the_reader_know_the_same_keys() {
    let schema = json_schema();
    let all = sample("all_fields");
    for path in [
        "",
        "/artifact",
        "/wasi_imports",
        "/wasi_imports/fs",
        "/wasi_imports/net",
        "/limits",
        "/deprecated",
        "/capability_requirements/0",
    ] {
        let mut place = &schema;
        for part in path.split('/').skip(1) {
            place = table(place, &schema);
            place = match part {
                "0" => &place["items"],
                _ => &place["properties"][part],
            };
        }
        let properties = table(place, &schema)["properties"].as_object().unwrap();
        let mut in_schema: Vec<&str> = properties.keys().map(String::as_str).collect();
        in_schema.sort_unstable();
        let mut manifest = all.clone();
        let map = manifest.pointer_mut(path).unwrap().as_object_mut().unwrap();
        let mut in_sample: Vec<String> = map.keys().cloned().collect();
        in_sample.sort_unstable();
        assert_eq!(in_sample, in_schema, "{path}");
        map.insert("zzzzzzzzzzzz".to_owned(), Value::Null);
        let error = ToolManifest::read(&manifest).unwrap_err().to_string();
        let start = format!("at `{path}/zzzzzzzzzzzz`: unknown key; expected one of ");
        let known = error
            .strip_prefix(&start)
            .unwrap_or_else(|| panic!("{error}"));
        let mut in_reader: Vec<&str> = known.split(", ").collect();
        in_reader.sort_unstable();
        assert_eq!(in_reader, in_schema, "{path}");
    }
}
