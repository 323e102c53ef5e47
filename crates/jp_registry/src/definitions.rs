//! Definitions that the host supplies to every schema: `{"$ref": "#/definitions/blob_or_path"}`.
//!
//! They describe what the *guest* gets. A file that a person chose is `{"path": "/in/0/x.pdf"}`
//! there: the host has replaced its handle before anything is checked.

use serde_json::{Map, Value, json};

/// The names that are supplied, and that no manifest may define itself.
pub(crate) const NAMES: [&str; 3] = ["blob", "blob_or_path", "path"];

/// Where the definitions lie in a schema.
pub(crate) const KEY: &str = "definitions";

/// Returns a definition by its name.
#[must_use]
fn definition(name: &str) -> Option<Value> {
    match name {
        "blob" => Some(described(blob(), "Bytes, as base64.")),
        "path" => Some(described(
            path(),
            "A file, by the path at which the tool can open it.",
        )),
        "blob_or_path" => Some(json!({
            "description": "A file: bytes as base64, or the path at which the tool can open it.",
            "oneOf": [path(), blob()],
        })),
        _ => None,
    }
}

/// Puts the definitions that a schema refers to into it.
pub(crate) fn supply(schema: &mut Map<String, Value>) {
    let wanted = references(schema);
    for (name, definition) in wanted {
        let own = schema
            .entry(KEY)
            .or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(own) = own {
            own.insert(name.to_owned(), definition);
        }
    }
}

/// Changes a tool's schema to what callers write: the handle of a file where the guest gets a path.
pub fn schema_for_callers(schema: &mut Value) {
    let own = schema.get_mut(KEY).and_then(Value::as_object_mut);
    for (name, definition) in own.into_iter().flatten() {
        match name.as_str() {
            "path" => {
                *definition = described(handle(), "A file that the user chose, by its id.");
            }
            "blob_or_path" => {
                *definition = json!({
                    "description": "A file: bytes as base64, or one that the user chose, by its id.",
                    "oneOf": [handle(), blob()],
                });
            }
            _ => {}
        }
    }
}

/// Finds the definitions that a schema refers to, without recursion.
fn references(schema: &Map<String, Value>) -> Vec<(&'static str, Value)> {
    let mut found = Vec::new();
    let mut left: Vec<(&str, &Value)> = pairs(schema).collect();
    while let Some((key, value)) = left.pop() {
        match value {
            Value::Object(map) => left.extend(pairs(map)),
            Value::Array(items) => left.extend(items.iter().map(|item| ("", item))),
            Value::String(text) if key == "$ref" => found.push(text.as_str()),
            _ => {}
        }
    }
    let named = |name: &&str| {
        found
            .iter()
            .any(|at| at.strip_prefix("#/definitions/") == Some(name))
    };
    let named = NAMES.into_iter().filter(named);
    named
        .filter_map(|name| Some((name, definition(name)?)))
        .collect()
}

fn pairs(map: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    map.iter().map(|(key, value)| (key.as_str(), value))
}

fn path() -> Value {
    json!({
        "type": "object",
        "properties": {"path": {"type": "string", "pattern": "^/", "maxLength": 4096}},
        "required": ["path"],
        "additionalProperties": false,
    })
}

fn handle() -> Value {
    json!({
        "type": "object",
        "properties": {"$file": {"type": "string"}},
        "required": ["$file"],
        "additionalProperties": false,
    })
}

fn blob() -> Value {
    json!({
        "type": "object",
        "properties": {
            "base64": {
                "type": "string",
                "contentEncoding": "base64",
                "pattern": "^[A-Za-z0-9+/]*={0,2}$",
            },
            "media_type": {"type": "string", "maxLength": 127},
        },
        "required": ["base64"],
        "additionalProperties": false,
    })
}

fn described(mut definition: Value, description: &str) -> Value {
    if let Value::Object(map) = &mut definition {
        map.insert("description".to_owned(), Value::from(description));
    }
    definition
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(name: &str, value: &Value) -> bool {
        let mut schema = Map::new();
        schema.insert(
            "$ref".to_owned(),
            Value::from(format!("#/definitions/{name}")),
        );
        supply(&mut schema);
        let options = jsonschema::options().with_draft(jsonschema::Draft::Draft202012);
        let validator = options.build(&Value::Object(schema)).unwrap();
        validator.is_valid(value)
    }

    #[test]
    fn callers_write_handles_where_the_guest_gets_paths() {
        let mut schema = json!({"properties": {"a": {"$ref": "#/definitions/blob_or_path"}}});
        supply(schema.as_object_mut().unwrap());
        let given = schema.clone();
        schema_for_callers(&mut schema);
        let written = schema["definitions"]["blob_or_path"].to_string();
        assert!(written.contains("$file") && written.contains("base64"));
        assert!(!written.contains("\"path\""));
        assert_eq!(schema["properties"], given["properties"]);
        let mut none = json!({"type": "object"});
        schema_for_callers(&mut none);
        assert_eq!(none, json!({"type": "object"}));
    }

    #[test]
    fn a_file_is_a_path_or_its_bytes() {
        let path = json!({"path": "/in/0/x.pdf"});
        let blob = json!({"base64": "aGk=", "media_type": "text/plain"});
        assert!(allows("path", &path) && !allows("path", &blob));
        assert!(allows("blob", &blob) && !allows("blob", &path));
        assert!(allows("blob_or_path", &path) && allows("blob_or_path", &blob));
    }

    #[test]
    fn a_file_is_never_a_bare_text_a_handle_or_both() {
        for value in [
            json!("/in/0"),
            json!({"path": "relative"}),
            json!({"$file": "1"}),
            json!({"path": "/in/0", "base64": ""}),
            json!({"base64": "not base64!"}),
            json!({}),
        ] {
            assert!(!allows("blob_or_path", &value), "{value}");
        }
    }

    #[test]
    fn only_what_is_referred_to_is_supplied() {
        let mut schema = Map::new();
        schema.insert(
            "items".to_owned(),
            json!([{"$ref": "#/definitions/path"}, {"a": "#/definitions/blob"}]),
        );
        supply(&mut schema);
        let supplied = schema["definitions"].as_object().unwrap();
        assert_eq!(supplied.keys().collect::<Vec<_>>(), ["path"]);
        assert!(NAMES.iter().all(|name| definition(name).is_some()));
    }
}
