//! A quick yes for arguments that plainly fit a plain schema.
//!
//! Getting a validator ready costs as much as the rest of a short call in a new process. This never
//! says yes where the validator would say no; whatever it is not sure of is left to the validator.

use serde_json::{Map, Value};

use super::depth::MAX_DEPTH;

/// Tells whether a value fits a schema made of a few well-known words, without doubt.
pub(super) fn surely_fits(value: &Value, schema: &Value) -> bool {
    fits(value, schema, 0)
}

fn fits(value: &Value, schema: &Value, depth: usize) -> bool {
    let Value::Object(words) = schema else {
        return false;
    };
    depth <= MAX_DEPTH
        && words
            .iter()
            .all(|(word, rule)| keeps(value, word, rule, words, depth))
}

/// Tells whether a value keeps the rule of one word. An unknown word is a rule we cannot judge.
fn keeps(
    value: &Value,
    word: &str,
    rule: &Value,
    words: &Map<String, Value>,
    depth: usize,
) -> bool {
    match word {
        "title" | "description" | "default" | "examples" => true,
        "type" => match rule {
            Value::String(name) => is_a(value, name),
            Value::Array(names) => names
                .iter()
                .any(|name| name.as_str().is_some_and(|name| is_a(value, name))),
            _ => false,
        },
        // Numbers compare by value there (1 is 1.0), so only text is judged here.
        "enum" => match (rule, value) {
            (Value::Array(all), Value::String(_)) => all.contains(value),
            _ => false,
        },
        "items" => match value {
            Value::Array(items) => items.iter().all(|item| fits(item, rule, depth + 1)),
            _ => true,
        },
        "properties" => match (value, rule) {
            (Value::Object(map), Value::Object(properties)) => map
                .iter()
                .filter_map(|(name, part)| Some((part, properties.get(name)?)))
                .all(|(part, schema)| fits(part, schema, depth + 1)),
            (Value::Object(_), _) => false,
            _ => true,
        },
        "required" => match (value, rule) {
            (Value::Object(map), Value::Array(names)) => names
                .iter()
                .all(|name| name.as_str().is_some_and(|name| map.contains_key(name))),
            (Value::Object(_), _) => false,
            _ => true,
        },
        "additionalProperties" => match (value, rule) {
            (_, Value::Bool(true)) => true,
            (Value::Object(map), Value::Bool(false)) => {
                let known = words.get("properties").and_then(Value::as_object);
                map.keys()
                    .all(|name| known.is_some_and(|known| known.contains_key(name)))
            }
            (Value::Object(_), _) => false,
            _ => true,
        },
        _ => false,
    }
}

fn is_a(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        // 1.0 is an integer too, which the validator knows better.
        "integer" => value.is_i64() || value.is_u64(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!(null)),
            any::<bool>().prop_map(Value::from),
            (-3..3_i64).prop_map(Value::from),
            prop_oneof![Just(json!(1.0)), Just(json!(0.5))],
            "[ab]{0,2}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::vec(("[abc]", inner), 0..3)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    fn schemas() -> impl Strategy<Value = Value> {
        let kinds = prop::sample::select(vec![
            "null", "boolean", "string", "array", "object", "number", "integer",
        ]);
        let leaf = prop_oneof![
            Just(json!({})),
            kinds.clone().prop_map(|kind| json!({"type": kind})),
            prop::collection::vec(kinds, 1..3).prop_map(|kinds| json!({"type": kinds})),
            prop::collection::vec(values(), 1..3).prop_map(|all| json!({"enum": all})),
            Just(json!({"minLength": 1})),
            Just(json!({"const": "a"})),
        ];
        leaf.prop_recursive(3, 16, 3, |inner| {
            prop_oneof![
                inner
                    .clone()
                    .prop_map(|part| json!({"type": "array", "items": part})),
                (
                    prop::collection::vec(("[abc]", inner), 0..3),
                    prop::collection::vec("[abc]", 0..2),
                    any::<bool>(),
                )
                    .prop_map(|(parts, mut required, open)| {
                        required.sort();
                        required.dedup();
                        json!({
                            "properties": Value::Object(parts.into_iter().collect()),
                            "required": required,
                            "additionalProperties": open,
                        })
                    }),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_quick_yes_is_the_validators_yes(value in values(), schema in schemas()) {
            let validator = jsonschema::draft7::new(&schema);
            if let Ok(validator) = validator && surely_fits(&value, &schema) {
                prop_assert!(validator.is_valid(&value));
            }
        }
    }

    #[test]
    fn ordinary_arguments_get_a_quick_yes() {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"type": "string", "enum": ["x", "y"]}, "b": {"type": "array", "items": {"type": "integer"}}},
            "required": ["a"],
            "additionalProperties": false,
        });
        assert!(surely_fits(&json!({"a": "x", "b": [1, 2]}), &schema));
        for other in [
            json!({"a": "z"}),
            json!({"b": []}),
            json!({"a": "x", "c": 1}),
            json!([]),
        ] {
            assert!(!surely_fits(&other, &schema), "{other}");
        }
    }
}
