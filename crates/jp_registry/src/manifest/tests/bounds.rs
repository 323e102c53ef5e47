//! Manifests and schemas that are too large, too deep, or never end.

use serde_json::{Map, Value, json};

use super::{error, with};
use crate::ToolManifest;

#[test]
fn e52_schemas_that_never_end_or_lead_elsewhere_are_refused_without_a_fetch() {
    let schema = |rest: Value| {
        let mut schema = json!({"type": "object", "properties": {"source": {}}});
        schema
            .as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        error(&with("/input_schema", schema))
    };
    for rest in [
        json!({"$ref": "#"}),
        json!({"$ref": "http://127.0.0.1:1/x.json"}),
        json!({"$ref": "file:///etc/passwd"}),
        json!({"$ref": "other.json"}),
        json!({"$ref": ""}),
    ] {
        assert!(schema(rest).contains("nothing outside it is fetched"));
    }
    for rest in [
        json!({"allOf": [{"$ref": "#/allOf/0"}]}),
        json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"not": {"$ref": "#/$defs/a"}}}}),
        json!({"items": {"$ref": "#/properties"}, "properties": {"source": {"$ref": "#/items"}}}),
        json!({"$defs": {"a": {"items": {"$ref": "#/$defs"}}}}),
    ] {
        let error = schema(rest);
        assert!(error.contains("refers to itself in a circle"), "{error}");
    }
    assert!(
        schema(json!({"$defs": {"%61": {"$ref": "#/$defs/%2561"}}}))
            .contains("is not in this schema")
    );
    assert!(schema(json!({"$anchor": "a"})).contains("is not supported"));
}

/// Makes definitions that lead to each other, each so many levels deep.
fn chain(links: usize, levels: usize) -> Value {
    let link = |n: usize| {
        let last = match n + 1 == links {
            true => json!({"type": "string"}),
            false => json!({"$ref": format!("#/$defs/d{}", n + 1)}),
        };
        let deep = (0..levels).fold(last, |inner, _| json!({"not": inner}));
        (format!("d{n}"), deep)
    };
    let definitions: Map<String, Value> = (0..links).map(link).collect();
    json!({"type": "object", "properties": {"source": {"$ref": "#/$defs/d0"}}, "$defs": definitions})
}

#[test]
fn e52_a_chain_of_references_is_as_deep_as_it_would_be_written_out() {
    assert!(ToolManifest::read(&with("/input_schema", chain(4, 25))).is_ok());
    for (links, levels) in [(40, 50), (200, 0), (6, 50)] {
        let error = error(&with("/input_schema", chain(links, levels)));
        assert!(error.contains("128 levels"), "{error}");
    }
    // Links that are already known when they are met count as much as those that are not.
    let mut backwards = chain(140, 0);
    let definitions = backwards["$defs"].as_object().unwrap().clone();
    backwards["$defs"] = definitions.into_iter().rev().collect();
    backwards
        .as_object_mut()
        .unwrap()
        .shift_remove("properties");
    backwards["properties"] = json!({"source": {"$ref": "#/$defs/d0"}});
    let error = error(&with("/input_schema", backwards));
    assert!(
        error.contains("nested more than 128 levels deep"),
        "{error}"
    );
}

#[test]
fn e52_patterns_that_explode_and_too_many_of_them_are_refused() {
    let schema = |count: usize, pattern: &str| {
        let property = |n| (format!("p{n}"), json!({"pattern": format!("{pattern}{n}")}));
        let mut properties: Map<String, Value> = (0..count).map(property).collect();
        properties.insert("source".to_owned(), json!({}));
        with(
            "/input_schema",
            json!({"type": "object", "properties": properties}),
        )
    };
    for bomb in ["((((a{99}){99}){99}){99}){99}", r"(?=\p{L}{900})\p{L}{900}"] {
        let error = error(&schema(1, bomb));
        assert!(
            error.ends_with("or one of more than 1048576 bytes"),
            "{error}"
        );
    }
    assert!(ToolManifest::read(&schema(64, r"^(?=.*\d)[a-z\d]{8,64}$")).is_ok());
    let many = error(&schema(65, "a"));
    assert!(
        many.contains("the schema has 65 patterns, at most 64"),
        "{many}"
    );
    let keys: Map<String, Value> = (0..65).map(|n| (format!("a{n}"), json!({}))).collect();
    let schema = json!({"type": "object", "properties": {"source": {}}, "patternProperties": keys});
    assert!(error(&with("/input_schema", schema)).contains("has 65 patterns"));
}

#[test]
fn a_manifest_too_large_or_deep_is_refused_before_it_is_read() {
    let nested = |levels: usize| (0..levels).fold(json!(1), |value, _| json!([value]));
    assert_eq!(error(&nested(65)), "the manifest has more than 64 levels");
    assert!(error(&nested(63)).contains("invalid type"));
    let many = json!({"input_schema": vec![1; 20_001]});
    assert_eq!(error(&many), "the manifest has more than 20000 values");
    let long = json!({"id": "x".repeat(300_000)});
    assert_eq!(
        error(&long),
        "the manifest has more than 262144 bytes of text"
    );
}
