//! What is known about a tool of a server, and a digest that changes when any of it does.

use jp_disk::Sha256;
use serde_json::{Map, Value, json};

/// A tool as its server describes it, checked and cleaned.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolInfo {
    /// The name it is called by.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it does, as the server says.
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub input_schema: Map<String, Value>,
    /// The JSON Schema of its structured result.
    pub output_schema: Option<Map<String, Value>>,
    /// Hints of the server, such as `readOnlyHint`. Nothing may rest on them.
    pub annotations: Map<String, Value>,
}

impl ToolInfo {
    /// Returns a digest of all of it, whatever the order of keys.
    #[must_use]
    pub fn digest(&self) -> Sha256 {
        let mut text = String::new();
        write_sorted(&self.to_json(), &mut text);
        Sha256::of(text.as_bytes())
    }

    /// Returns it as the protocol writes it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut json = json!({ "name": self.name, "inputSchema": self.input_schema });
        if let Some(object) = json.as_object_mut() {
            let mut put = |key: &str, value: Option<Value>| {
                if let Some(value) = value {
                    object.insert(key.to_owned(), value);
                }
            };
            put("title", self.title.clone().map(Value::String));
            put("description", self.description.clone().map(Value::String));
            put(
                "outputSchema",
                self.output_schema.clone().map(Value::Object),
            );
            let annotations = (!self.annotations.is_empty()).then(|| self.annotations.clone());
            put("annotations", annotations.map(Value::Object));
        }
        json
    }
}

/// Writes JSON with the keys of objects in order, so that equal values give equal texts.
fn write_sorted(value: &Value, text: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            text.push('{');
            for (key, value) in entries {
                text.push_str(&Value::String(key.clone()).to_string());
                text.push(':');
                write_sorted(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write_sorted(item, text);
                text.push(',');
            }
            text.push(']');
        }
        other => text.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(description: &str, schema: Value) -> ToolInfo {
        let Value::Object(input_schema) = schema else {
            panic!("an object")
        };
        ToolInfo {
            name: "t".to_owned(),
            title: None,
            description: Some(description.to_owned()),
            input_schema,
            output_schema: None,
            annotations: Map::new(),
        }
    }

    #[test]
    fn the_digest_follows_the_meaning_and_not_the_order_of_keys() {
        let first = tool("d", json!({"a": 1, "b": [{"c": 2, "d": 3}]}));
        let same = tool("d", json!({"b": [{"d": 3, "c": 2}], "a": 1}));
        assert_eq!(first.digest(), same.digest());
        assert_eq!(first.digest().to_string().len(), 64);
        for other in [
            tool("e", json!({"a": 1, "b": [{"c": 2, "d": 3}]})),
            tool("d", json!({"a": 1, "b": [{"c": 2, "d": 4}]})),
            ToolInfo {
                title: Some("d".to_owned()),
                ..first.clone()
            },
            ToolInfo {
                name: "u".to_owned(),
                ..first.clone()
            },
            ToolInfo {
                output_schema: Some(Map::new()),
                ..first.clone()
            },
        ] {
            assert_ne!(first.digest(), other.digest(), "{other:?}");
        }
    }
}
