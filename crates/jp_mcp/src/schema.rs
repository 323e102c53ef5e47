//! Checks a stranger's JSON Schema before anybody works with it: size, depth, references and hidden
//! text. It does not know what a schema means beyond that.

use serde_json::{Map, Value};

use crate::hidden;

/// Deeper schemas are refused.
const MAX_DEPTH: usize = 40;

/// The keywords whose schemas apply to the same value again: a circle of them never ends.
const IN_PLACE_LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const IN_PLACE: [&str; 4] = ["not", "if", "then", "else"];

/// The keywords that may hold words for people.
const WORDS: [&str; 3] = ["description", "title", "$comment"];

/// The references that can leave the schema, or mean another place than they say.
const REFUSED: [&str; 5] = [
    "$dynamicRef",
    "$recursiveRef",
    "$anchor",
    "$dynamicAnchor",
    "$recursiveAnchor",
];

/// Why a schema is not worked with.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SchemaProblem {
    #[error("schema too large: expected at most {most} bytes, found {size}")]
    TooLarge { most: usize, size: usize },
    #[error("its schema is nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
    #[error("a name in its schema contains invisible characters")]
    HiddenInName,
    #[error("a value in its schema contains invisible characters")]
    HiddenInValue,
    #[error("a part of its schema has an `$id` of its own")]
    OwnId,
    #[error("its schema refers to `{shown}`, but nothing outside it is fetched")]
    Outside { shown: String },
    #[error("its schema uses `{keyword}`, which is not supported")]
    Unsupported { keyword: &'static str },
    #[error("its schema refers to itself too often")]
    TooManyReferences,
    #[error("its schema has a circular reference")]
    Circle,
    #[error("its schema refers to a place that does not exist")]
    Nowhere,
}

/// Checks a schema and takes hidden characters out of its words; returns how many those were.
pub(crate) fn check(schema: &mut Map<String, Value>, most: usize) -> Result<usize, SchemaProblem> {
    let size = serde_json::to_vec(&*schema).map_or(usize::MAX, |json| json.len());
    if size > most {
        return Err(SchemaProblem::TooLarge { most, size });
    }
    let mut cleaned = 0;
    for (key, value) in schema.iter_mut() {
        walk(key, value, 1, &mut cleaned)?;
    }
    let root = Value::Object(schema.clone());
    Circles {
        root: &root,
        left: 10_000,
    }
    .search(&root)?;
    Ok(cleaned)
}

fn walk(
    key: &str,
    value: &mut Value,
    depth: usize,
    cleaned: &mut usize,
) -> Result<(), SchemaProblem> {
    if depth > MAX_DEPTH {
        return Err(SchemaProblem::TooDeep);
    }
    if hidden::has_hidden(key) {
        return Err(SchemaProblem::HiddenInName);
    }
    let next = depth.saturating_add(1);
    match value {
        Value::String(text) => {
            refuse_reference(key, text)?;
            let (clean, removed) = hidden::clean(text);
            if removed > 0 && !WORDS.contains(&key) {
                return Err(SchemaProblem::HiddenInValue);
            }
            *cleaned = cleaned.saturating_add(removed);
            *text = clean;
            Ok(())
        }
        Value::Array(items) => items
            .iter_mut()
            .try_for_each(|item| walk("", item, next, cleaned)),
        Value::Object(map) => {
            if map.get("$id").is_some_and(Value::is_string) {
                return Err(SchemaProblem::OwnId);
            }
            map.iter_mut()
                .try_for_each(|(key, value)| walk(key, value, next, cleaned))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// Nothing is ever fetched, so a reference must lead to a place in the same schema.
fn refuse_reference(key: &str, text: &str) -> Result<(), SchemaProblem> {
    if key == "$ref" && text != "#" && !text.starts_with("#/") {
        let shown = hidden::shown(text, 100);
        return Err(SchemaProblem::Outside { shown });
    }
    if let Some(keyword) = REFUSED.into_iter().find(|refused| *refused == key) {
        return Err(SchemaProblem::Unsupported { keyword });
    }
    Ok(())
}

/// Looks for schemas that apply themselves to the same value for ever.
struct Circles<'a> {
    root: &'a Value,
    left: usize,
}

impl<'a> Circles<'a> {
    /// Looks at a schema and all schemas in it.
    fn search(&mut self, value: &'a Value) -> Result<(), SchemaProblem> {
        match value {
            Value::Object(map) => {
                self.follow(value, &mut Vec::new())?;
                map.values().try_for_each(|value| self.search(value))
            }
            Value::Array(items) => items.iter().try_for_each(|value| self.search(value)),
            _ => Ok(()),
        }
    }

    /// Follows what applies to the same value.
    fn follow(
        &mut self,
        value: &'a Value,
        path: &mut Vec<*const Value>,
    ) -> Result<(), SchemaProblem> {
        self.left = self
            .left
            .checked_sub(1)
            .ok_or(SchemaProblem::TooManyReferences)?;
        let Value::Object(map) = value else {
            return Ok(());
        };
        let here: *const Value = value;
        if path.contains(&here) || path.len() > 100 {
            return Err(SchemaProblem::Circle);
        }
        path.push(here);
        if let Some(Value::String(reference)) = map.get("$ref") {
            let pointer = reference.strip_prefix('#').unwrap_or_default();
            let Some(target) = self.root.pointer(pointer) else {
                return Err(SchemaProblem::Nowhere);
            };
            self.follow(target, path)?;
        }
        for key in IN_PLACE_LISTS {
            for part in map.get(key).and_then(Value::as_array).into_iter().flatten() {
                self.follow(part, path)?;
            }
        }
        for key in IN_PLACE {
            if let Some(part) = map.get(key) {
                self.follow(part, path)?;
            }
        }
        if let Some(Value::Object(parts)) = map.get("dependentSchemas") {
            parts
                .values()
                .try_for_each(|part| self.follow(part, path))?;
        }
        path.pop();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn checked(schema: Value) -> Result<(usize, Value), String> {
        let Value::Object(mut schema) = schema else {
            panic!("an object")
        };
        let checked = check(&mut schema, 10_000);
        let cleaned = checked.map_err(|problem| problem.to_string())?;
        Ok((cleaned, Value::Object(schema)))
    }

    #[test]
    fn honest_schemas_pass_unchanged() {
        for schema in [
            json!({}),
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/node"}},
                   "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}}}),
            json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "urn:x", "type": "object"}),
            json!({"properties": {"$id": {"type": "string"}, "not": {"type": "string"}}}),
        ] {
            assert_eq!(checked(schema.clone()), Ok((0, schema)));
        }
    }

    #[test]
    fn words_are_cleaned_and_everything_else_is_refused() {
        let schema = json!({"properties": {"a": {"description": "x\u{200b}y"}}});
        let clean = json!({"properties": {"a": {"description": "xy"}}});
        assert_eq!(checked(schema), Ok((1, clean)));
        for (schema, complaint) in [
            (
                json!({"properties": {"a\u{202e}": {}}}),
                "a name in its schema contains",
            ),
            (
                json!({"enum": ["x\u{e0041}"]}),
                "a value in its schema contains",
            ),
            (
                json!({"$ref": "https://example.com/s.json"}),
                "nothing outside it is fetched",
            ),
            (
                json!({"properties": {"a": {"$ref": "file:///etc/passwd"}}}),
                "nothing outside",
            ),
            (json!({"$dynamicRef": "#x"}), "not supported"),
            (
                json!({"properties": {"a": {"$id": "http://x/", "$ref": "#/y"}}}),
                "`$id` of its own",
            ),
            (
                json!({"$ref": "#/$defs/none"}),
                "a place that does not exist",
            ),
            (json!({"$ref": "#"}), "has a circular reference"),
            (
                json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}}),
                "has a circular reference",
            ),
            (json!({"x": "y".repeat(20_000)}), "at most 10000"),
        ] {
            let refused = checked(schema.clone()).unwrap_err();
            assert!(refused.contains(complaint), "{schema}: {refused}");
        }
    }

    #[test]
    fn depth_and_branching_are_bounded() {
        let deep = (0..60).fold(json!({}), |inner, _| json!({"properties": {"a": inner}}));
        assert!(checked(deep).unwrap_err().contains("levels deep"));
        // Each level refers twice to the next: 2^30 ways through.
        let mut defs = Map::new();
        for level in 0..30 {
            let next = format!("#/$defs/l{}", level + 1);
            defs.insert(
                format!("l{level}"),
                json!({"allOf": [{"$ref": next}, {"$ref": next}]}),
            );
        }
        defs.insert("l30".to_owned(), json!({}));
        assert!(
            checked(json!({"$defs": defs}))
                .unwrap_err()
                .contains("too often")
        );
    }
}
