//! A path is the host's to write wherever a schema takes a file, and data everywhere else.

use std::path::PathBuf;

use jp_policy::Access;
use serde_json::json;

use super::*;
use crate::tool::ChosenFile;

fn file() -> Value {
    json!({"$ref": "#/definitions/blob_or_path"})
}

/// Makes a schema of these words, with what the host supplies.
fn schema(words: Value) -> Value {
    let Value::Object(mut schema) = words else {
        panic!("an object")
    };
    let mut supplied = jp_registry::ToolManifest::read(&json!({
        "id": "x", "version": "1.0.0", "displayName": "x", "description": "x", "license": "MIT",
        "artifact": {"sha256": "0".repeat(64), "size_bytes": 1},
        "input_schema": {"type": "object", "properties": {
            "a": file(), "b": {"$ref": "#/definitions/path"}}},
    }))
    .unwrap()
    .input_schema;
    let own = schema.remove("definitions").unwrap_or(json!({}));
    for (name, definition) in own.as_object().unwrap() {
        supplied["definitions"][name] = definition.clone();
    }
    schema.insert("definitions".to_owned(), supplied["definitions"].take());
    Value::Object(schema)
}

fn refused(words: Value, arguments: &Value, placed: &[Placed]) -> Option<String> {
    let schema = schema(words);
    assert!(takes_files(&schema));
    let refused = refuse(arguments.as_object().unwrap(), &schema, placed);
    refused.err().map(|error| error.to_string())
}

/// A file that the host has put at a place.
fn at(argument: &str) -> Placed {
    Placed {
        argument: argument.to_owned(),
        place: "/in/0".to_owned(),
        name: "x.pdf".to_owned(),
        file: ChosenFile {
            path: PathBuf::from("/home/u/x.pdf"),
            access: Access::Read,
        },
    }
}

#[test]
fn a_typed_path_is_refused_with_the_argument_and_the_way_out() {
    let words = json!({"properties": {"source": file()}});
    for path in ["/x", "/in/0/x.pdf", "/etc/passwd", "x.pdf", ""] {
        let sent = json!({"source": {"path": path}});
        let said = refused(words.clone(), &sent, &[]).unwrap();
        assert!(said.contains("at `/source`"), "{said}");
        assert!(
            said.contains("{\"$file\": \"<id>\"}") && said.contains("base64"),
            "{said}"
        );
    }
}

#[test]
fn a_path_that_the_host_has_put_there_passes_at_its_place_alone() {
    let words = json!({"properties": {"source": file(), "other": file()}});
    let found = json!({"path": "/in/0/x.pdf"});
    let placed = [at("/source")];
    assert_eq!(
        refused(words.clone(), &json!({"source": found}), &placed),
        None
    );
    let said = refused(
        words.clone(),
        &json!({"source": found, "other": found}),
        &placed,
    );
    assert!(said.unwrap().contains("at `/other`"));
    let said = refused(words, &json!({"source": {"path": "/in/0/y.pdf"}}), &placed);
    assert!(said.unwrap().contains("at `/source`"));
}

#[test]
fn a_typed_path_is_found_wherever_a_schema_says_that_there_is_a_file() {
    let typed = json!({"path": "/x"});
    let deep = json!({"type": "object", "properties": {"f": file()}});
    for (words, sent, place) in [
        (
            json!({"properties": {"a": {"type": "array", "items": file()}}}),
            json!({"a": [{"base64": ""}, typed]}),
            "/a/1",
        ),
        (
            json!({"properties": {"a": {"properties": {"b/c": {"items": deep}}}}}),
            json!({"a": {"b/c": [{}, {"f": typed}]}}),
            "/a/b~1c/1/f",
        ),
        (
            json!({"properties": {"a": {"prefixItems": [{}, file()], "items": {}}}}),
            json!({"a": [typed, typed]}),
            "/a/1",
        ),
        (
            json!({"properties": {"a": {"anyOf": [{"type": "string"}, file()]}}}),
            json!({"a": typed}),
            "/a",
        ),
        (
            json!({"allOf": [{"if": {}, "then": {"properties": {"a": file()}}}]}),
            json!({"a": typed}),
            "/a",
        ),
        (
            json!({"additionalProperties": file()}),
            json!({"a": typed}),
            "/a",
        ),
        (
            json!({"patternProperties": {"^a": file()}}),
            json!({"a": typed}),
            "/a",
        ),
        (
            json!({"definitions": {"own": {"properties": {"f": file()}}},
                "properties": {"a": {"$ref": "#/definitions/own"}}}),
            json!({"a": {"f": typed}}),
            "/a/f",
        ),
        (
            json!({"properties": {"a": {"$ref": "#/definitions/path"}}}),
            json!({"a": typed}),
            "/a",
        ),
        (
            json!({"properties": {"a": {"$ref": "#/definitions/blob_or_path/oneOf/0"}}}),
            json!({"a": typed}),
            "/a",
        ),
    ] {
        let said = refused(words.clone(), &sent, &[]);
        let said = said.unwrap_or_else(|| panic!("{words} takes {sent}"));
        assert!(said.contains(&format!("at `{place}`")), "{said}");
    }
}

#[test]
fn bytes_and_what_is_no_file_are_let_pass() {
    let words = json!({"properties": {
        "source": file(), "bytes": {"$ref": "#/definitions/blob"},
        "route": {"type": "object", "properties": {"path": {"type": "string"}}},
        "all": {"type": "array", "items": {}}, "not": {"not": file()},
    }});
    let typed = json!({"path": "/x"});
    let sent = json!({"source": {"base64": "aGk="}, "route": typed, "all": [typed], "not": typed,
        "unknown": typed});
    assert_eq!(refused(words.clone(), &sent, &[]), None);
    assert_eq!(refused(words, &json!({"path": "/x"}), &[]), None);
    assert!(!takes_files(&json!({"type": "object"})));
}
