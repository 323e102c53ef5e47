//! Arguments as models send them, and what becomes of them.

use serde_json::json;

use super::*;

fn check(schema: Value, arguments: Value) -> Result<Value, String> {
    let Value::Object(arguments) = arguments else {
        panic!("an object")
    };
    Checker::new(&schema, SchemaBy::Others)
        .unwrap()
        .check(arguments)
        .map(Value::Object)
        .map_err(|rejected| rejected.problems)
}

fn object(properties: Value) -> Value {
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

#[test]
fn json_in_strings_is_read_where_it_fits() {
    let schema = object(json!({
        "n": {"type": "integer"}, "list": {"type": "array", "items": {"type": "number"}},
        "text": {"type": "string"}, "any": {},
    }));
    let sent = json!({"n": "7", "list": "[1, \"2\"]", "text": "7", "any": "7"});
    let fixed = check(schema, sent).unwrap();
    assert_eq!(
        fixed,
        json!({"n": 7, "list": [1, 2], "text": "7", "any": "7"})
    );
}

#[test]
fn json_in_strings_is_left_alone_where_it_does_not_fit() {
    let schema = object(json!({"n": {"type": "integer"}}));
    let error = check(schema.clone(), json!({"n": "[1]"})).unwrap_err();
    assert!(error.contains("at `/n`"), "{error}");
    let deep = "[".repeat(100_000);
    assert!(check(schema, json!({"n": deep})).is_err());
}

#[test]
fn defaults_are_filled_in_at_every_level() {
    let schema = object(json!({
        "a": {"type": "integer", "default": 1},
        "o": {"type": "object", "properties": {"b": {"default": 2}}},
        "l": {"type": "array", "items": {"type": "object", "properties": {"c": {"default": 3}}}},
    }));
    let fixed = check(schema, json!({"o": {}, "l": [{}, {"c": 4}]})).unwrap();
    assert_eq!(
        fixed,
        json!({"o": {"b": 2}, "l": [{"c": 3}, {"c": 4}], "a": 1})
    );
}

#[test]
fn a_problem_names_the_path_and_the_rule() {
    let schema = json!({"type": "object", "required": ["topic"], "additionalProperties": false,
        "properties": {"topic": {"type": "string"}, "n": {"enum": [1, 2]}}});
    let error = check(schema.clone(), json!({"n": 3, "topic": "t"})).unwrap_err();
    assert!(
        error.contains("at `/n`") && error.contains("enum"),
        "{error}"
    );
    let error = check(schema.clone(), json!({})).unwrap_err();
    assert!(
        error.contains("\"topic\" is a required property"),
        "{error}"
    );
    let error = check(schema, json!({"topic": "t", "tpoic": 1})).unwrap_err();
    assert!(
        error.contains("tpoic") && error.contains("additionalProperties"),
        "{error}"
    );
}

#[test]
fn many_problems_are_counted_and_long_ones_shortened() {
    let schema = object(json!({"l": {"type": "array", "items": {"type": "integer"}}}));
    let items: Vec<Value> = (0..1000).map(|_| json!("x".repeat(10_000))).collect();
    let error = check(schema, json!({"l": items})).unwrap_err();
    assert!(
        error.len() < 4000 && error.contains("and 992 more"),
        "{}",
        error.len()
    );
}

#[test]
fn remote_references_are_never_fetched() {
    let schema =
        json!({"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:1/x.json"}}});
    assert!(Checker::new(&schema, SchemaBy::Others).is_err());
    let ours = Checker::new(&schema, SchemaBy::Us).unwrap();
    assert!(
        ours.check(Map::from_iter([("a".to_owned(), json!(1))]))
            .is_err()
    );
}
