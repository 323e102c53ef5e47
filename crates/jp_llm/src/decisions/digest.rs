//! Digests of what a person is shown: arguments, definitions, grants. Whatever changes how a call runs
//! changes one of them.

use jp_disk::{Sha256, Sha256Hasher};
use jp_policy::Grant;
use serde_json::{Map, Value};

use super::Digest;
use crate::tool::{ToolDefinition, body::Body};

/// Returns the digest of arguments, whatever the order of their keys, and of the files chosen for them.
#[must_use]
pub fn arguments_digest(arguments: &Map<String, Value>, files: &[String]) -> Digest {
    let mut text = String::new();
    object(&mut text, arguments);
    for file in files {
        text.push('\n');
        text.push_str(file);
    }
    *Sha256::of(text.as_bytes()).as_bytes()
}

/// Returns the digest of what a tool is: all that the person who reads about it could see, and the code
/// behind it where that has a hash; [`with_file`] adds that of a Wasm file in the workspace.
pub(crate) fn definition(tool: &ToolDefinition) -> Digest {
    let body = match &tool.body {
        Body::Bash => "bash".to_owned(),
        Body::Builtin(name) => format!("builtin {name}"),
        Body::Command(command, name) => format!("command {name} {command:?}"),
        Body::File(path, _) => format!("file {path}"),
        Body::Signed(name, stored, _) => format!("signed {name} {}", stored.sha256()),
        Body::Server(tool) => format!("server {} {} {:?}", tool.server, tool.tool, tool.digest),
        Body::Native(_) => "native".to_owned(),
    };
    let mut options = String::new();
    object(&mut options, &tool.options);
    object(&mut options, &tool.fixed_answers);
    let mut schemas = String::new();
    value(&mut schemas, &tool.schema);
    tool.output_schema
        .iter()
        .for_each(|schema| value(&mut schemas, schema));
    parts(&[
        &tool.name,
        &format!("{:?} {:?}", tool.source, tool.defined_by),
        &format!("{:?}", tool.docs),
        &format!("{:?}", tool.request),
        &schemas,
        &options,
        &body,
    ])
}

/// Returns the digest of a tool with its Wasm file, by that file's hash.
pub(crate) fn with_file(definition: &Digest, file: &str) -> Digest {
    let mut hasher = Sha256Hasher::default();
    hasher.update(definition);
    hasher.update(file.as_bytes());
    *hasher.finish().as_bytes()
}

/// Returns the digest of a tool and what a call of it gets.
pub(crate) fn shown(definition: &Digest, grant: &Grant, unconfined: bool) -> Digest {
    let grant = parts(&[
        &grant.capabilities().to_string(),
        &format!("{:?}", grant.limits()),
        if unconfined { "unconfined" } else { "confined" },
    ]);
    let mut hasher = Sha256Hasher::default();
    hasher.update(definition);
    hasher.update(&grant);
    *hasher.finish().as_bytes()
}

/// Hashes texts so that no two lists of them are the same.
fn parts(parts: &[&str]) -> Digest {
    let mut hasher = Sha256Hasher::default();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    *hasher.finish().as_bytes()
}

/// Writes JSON with sorted keys. Its depth was bounded when it was read.
fn value(out: &mut String, found: &Value) {
    match found {
        Value::Object(found) => object(out, found),
        Value::Array(items) => {
            out.push('[');
            for item in items {
                value(out, item);
                out.push(',');
            }
            out.push(']');
        }
        plain => out.push_str(&plain.to_string()),
    }
}

fn object(out: &mut String, found: &Map<String, Value>) {
    let mut keys: Vec<&String> = found.keys().collect();
    keys.sort_unstable();
    out.push('{');
    for key in keys {
        out.push_str(&Value::from(key.as_str()).to_string());
        out.push(':');
        value(out, &found[key.as_str()]);
        out.push(',');
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(arguments: &Value) -> Digest {
        arguments_digest(arguments.as_object().unwrap(), &[])
    }

    #[test]
    fn arguments_are_the_same_in_any_order_and_only_then() {
        let one = of(&json!({"a": 1, "b": {"c": [1, 2], "d": "x"}}));
        assert_eq!(one, of(&json!({"b": {"d": "x", "c": [1, 2]}, "a": 1})));
        for other in [
            json!({"a": 1, "b": {"c": [2, 1], "d": "x"}}),
            json!({"a": 1, "b": {"c": [1, 2], "d": "x", "e": null}}),
            json!({"a": "1", "b": {"c": [1, 2], "d": "x"}}),
            json!({"a": 1}),
            json!({}),
        ] {
            assert_ne!(one, of(&other), "{other}");
        }
        let arguments = json!({});
        let arguments = arguments.as_object().unwrap();
        let with = arguments_digest(arguments, &["/in/0 read /home/a".to_owned()]);
        assert_ne!(with, arguments_digest(arguments, &[]));
    }

    #[test]
    fn no_two_lists_of_texts_have_one_digest() {
        assert_ne!(parts(&["ab", "c"]), parts(&["a", "bc"]));
        assert_ne!(parts(&["a"]), parts(&["a", ""]));
    }
}
