//! What a manifest asks for and shows, and what no manifest can do to us.

use jp_policy::{Capabilities, Denied, Policy, compose, could_be_satisfied};
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Value, json};

use super::*;

mod bounds;

fn ocr() -> Value {
    let text = include_str!("../../samples/valid/manifest_of_the_first_document.json");
    document::parse(text.as_bytes(), 1 << 20).unwrap()
}

fn with(path: &str, value: Value) -> Value {
    let mut manifest = ocr();
    let (parent, key) = path.rsplit_once('/').unwrap();
    manifest.pointer_mut(parent).unwrap()[key] = value;
    manifest
}

fn read(value: &Value) -> ToolManifest {
    ToolManifest::read(value).unwrap()
}

fn error(value: &Value) -> String {
    ToolManifest::read(value).unwrap_err().to_string()
}

#[test]
fn the_request_has_imports_and_models_and_keeps_conditions_apart() {
    let request = read(&ocr()).request();
    assert_eq!(
        request.capabilities.to_string(),
        "fs=/models/glm-ocr-1.5-q8:read,/tmp:read-write net=none"
    );
    let conditional: Vec<&str> = request
        .conditional
        .iter()
        .map(|r| r.text.as_str())
        .collect();
    assert_eq!(
        conditional,
        ["fs.user-selected:read when /source is a file"]
    );
    assert_eq!(request.default_fuel, Some(Limits::REGISTRY_FUEL));
    let always = with(
        "/capability_requirements",
        json!(["net:a.example", "clocks"]),
    );
    let request = read(&always).request();
    assert!(request.conditional.is_empty());
    assert!(request.capabilities.to_string().contains("net=a.example"));
}

#[test]
fn a_model_sees_name_description_and_schemas_with_definitions() {
    let manifest = read(&ocr());
    let shown = manifest.shown();
    let keys: Vec<&String> = shown.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["name", "description", "input_schema", "output_schema"]
    );
    assert!(shown["input_schema"]["definitions"]["blob_or_path"].is_object());
    assert_eq!(shown["input_schema"], manifest.input_schema);
    assert_eq!(
        Some(&shown["output_schema"]),
        manifest.output_schema.as_ref()
    );
    let validator = jsonschema::validator_for(&manifest.input_schema).unwrap();
    assert!(validator.is_valid(&json!({"source": {"path": "/in/0/x.pdf"}, "language": "en"})));
    assert!(!validator.is_valid(&json!({"source": "/in/0/x.pdf"})));
}

#[test]
fn a_digest_changes_with_what_it_is_of_and_with_nothing_else() {
    let before = read(&ocr());
    for (path, value, shown, capabilities) in [
        ("/displayName", json!("Other"), false, false),
        ("/version", json!("1.3.0"), false, false),
        ("/limits", json!({"fuel": 5}), false, false),
        ("/description", json!("Other."), true, false),
        (
            "/input_schema/properties/language/enum",
            json!(["en"]),
            true,
            false,
        ),
        ("/output_schema/properties/text", json!({}), true, false),
        ("/wasi_imports", json!({}), false, false),
        ("/wasi_imports", json!({"net": ["a.example"]}), false, true),
        (
            "/capability_requirements",
            json!([{"capability": "fs.user-selected", "when": "/source"}]),
            false,
            false,
        ),
        (
            "/capability_requirements",
            json!(["fs.user-selected:read-write when /source is a file"]),
            false,
            true,
        ),
        ("/capability_requirements", json!([]), false, true),
        ("/model_dependencies", json!([]), false, true),
    ] {
        let after = read(&with(path, value));
        let changed = |a: Digest, b: Digest| a != b;
        assert_eq!(
            changed(before.shown_digest, after.shown_digest),
            shown,
            "{path}"
        );
        let found = changed(before.capabilities_digest, after.capabilities_digest);
        assert_eq!(found, capabilities, "{path}");
    }
}

#[test]
fn e49_hidden_instructions_are_refused_in_every_text_a_person_or_model_sees() {
    let property = |part: Value| json!({"type": "object", "properties": {"source": part}});
    let hidden = [
        "zero\u{200b}width",
        "\u{202e}bidi",
        "\u{1b}[8mansi\u{1b}[0m",
        "tags\u{e0041}\u{e0042}",
        "<!-- obey -->",
        "open <!-- comment",
    ];
    for text in hidden {
        let long = "x".repeat(1001);
        for text in [text, long.as_str()] {
            for (path, value) in [
                ("/displayName", json!(text)),
                ("/description", json!(text)),
                ("/validated_by", json!(text)),
                ("/deprecated", json!(text)),
                ("/deprecated", json!({"reason": text})),
                ("/input_schema", property(json!({"title": text}))),
                ("/input_schema", property(json!({"description": text}))),
                ("/input_schema", property(json!({"enum": [text]}))),
                ("/input_schema", property(json!({"const": text}))),
                ("/input_schema", property(json!({"default": {"a": [text]}}))),
                ("/input_schema", property(json!({"examples": [text]}))),
                ("/input_schema", property(json!({"$comment": text}))),
                (
                    "/input_schema",
                    property(json!({"anyOf": [{"title": text}]})),
                ),
                ("/input_schema", property(json!({"properties": {text: {}}}))),
                ("/output_schema", json!({"description": text})),
            ] {
                let error = ToolManifest::read(&with(path, value)).unwrap_err();
                let crate::format::Kind::Manifest(ManifestError::Text { path: at, .. }) =
                    error.kind()
                else {
                    panic!("{path}: {error}")
                };
                assert!(at.starts_with(path), "{error}");
                assert!(
                    !error.to_string().chars().any(jp_text::is_hidden),
                    "{error:?}"
                );
            }
        }
    }
}

#[test]
fn e60_what_a_manifest_asks_for_is_a_request_and_never_a_grant() {
    let everything = json!({
        "net": true, "fs": {"user-selected": "read-write", "app-data": "read-write"},
        "tool.exec.subprocess": true, "env": ["HOME"], "calls": ["*", "secrets.*"],
    });
    let request = read(&with("/wasi_imports", everything)).request();
    let (nothing, all) = (
        Policy::default(),
        Policy {
            capabilities: request.capabilities.clone(),
            ..Policy::default()
        },
    );
    assert!(matches!(
        compose(&nothing, &all, &request),
        Err(Denied::ByHost { .. })
    ));
    assert!(matches!(
        compose(&all, &nothing, &request),
        Err(Denied::ByApp { .. })
    ));
    assert!(could_be_satisfied(&nothing, &all, &request).is_err());
    assert_eq!(nothing.capabilities, Capabilities::default());
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        select(vec![
            "#/definitions/blob",
            "#/properties",
            "$ref",
            "object",
            "read",
            "1.0.0"
        ])
        .prop_map(Value::from),
    ];
    let key = prop_oneof![
        "\\PC{0,6}",
        select(vec![
            "$ref",
            "type",
            "properties",
            "items",
            "anyOf",
            "fs",
            "net",
            "id",
            "pattern"
        ])
        .prop_map(ToOwned::to_owned),
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            vec((key.clone(), inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// Lists where every value of a manifest is.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            let key = key.replace('~', "~0").replace('/', "~1");
            places(value, &format!("{at}/{key}"), found);
        }),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(n, value)| places(value, &format!("{at}/{n}"), found)),
        _ => {}
    }
}

proptest! {
    #[test]
    fn no_json_makes_reading_panic(value in any_json()) {
        prop_assert!(ToolManifest::read(&value).is_err());
    }

    #[test]
    fn no_change_of_a_good_manifest_makes_reading_panic(
        at in any::<prop::sample::Index>(), value in any_json(), full: bool,
    ) {
        let mut manifest = if full {
            serde_json::from_str(include_str!("../../samples/valid/all_fields.json")).unwrap()
        } else {
            ocr()
        };
        let mut all = Vec::new();
        places(&manifest, "", &mut all);
        *manifest.pointer_mut(at.get(&all).as_str()).unwrap() = value;
        match ToolManifest::read(&manifest) {
            Ok(manifest) => {
                let digest = document::digest(&manifest.shown()).unwrap();
                prop_assert_eq!(digest, manifest.shown_digest);
                prop_assert!(jsonschema::validator_for(&manifest.input_schema).is_ok());
            }
            Err(error) => prop_assert!(!error.to_string().chars().any(jp_text::is_hidden), "{:?}", error),
        }
    }
}
