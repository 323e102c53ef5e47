//! The JSON Schema of a manifest, for editors and reviewers. Types that other crates own are
//! described here by hand; a test compares them with what those crates read.

use jp_policy::{Ceilings, USER_PATHS};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::raw::RawManifest;

/// Returns the JSON Schema of a tool manifest.
#[must_use]
pub fn json_schema() -> Value {
    schemars::schema_for!(RawManifest).to_value()
}

/// Describes `jp_policy::Declared`.
pub(super) fn declared(_: &mut SchemaGenerator) -> Schema {
    let paths = USER_PATHS.map(|name| (name.to_owned(), access()));
    let files = table(json!({
        "scope": {"const": "$TOOL_TEMP"},
        "user-selected": access(),
        "app-data": access(),
        "user-paths": table(Value::Object(Map::from_iter(paths))),
    }));
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let ports =
        json!({"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 65535}});
    let mut hosts = table(json!({"allowed_hosts": texts, "allowed_ports": ports}));
    hosts["required"] = json!(["allowed_hosts"]);
    let all = table(json!({
        "net": {"anyOf": [{"type": "boolean"}, texts, hosts]},
        "fs": {"anyOf": [{"const": false}, files]},
        "clocks": {"type": "boolean"},
        "random": {"type": "boolean"},
        "env": {"anyOf": [{"const": false}, texts]},
        "process": {"const": false},
        "stdio": {"enum": ["read-write", "none", true, false]},
        "tool.exec.subprocess": {"type": "boolean"},
        "tools.mcp": {"type": "boolean"},
        "calls": texts,
    }));
    schema(all)
}

/// Describes a list of `jp_policy::Requirement`.
pub(super) fn requirements(_: &mut SchemaGenerator) -> Schema {
    let mut object = table(json!({
        "capability": {"type": "string"},
        "access": {"enum": ["read", "read-write"]},
        "when": {"type": "string"},
    }));
    object["required"] = json!(["capability"]);
    let one = json!({"anyOf": [{"type": "string"}, object]});
    schema(json!({"type": "array", "items": one}))
}

/// Describes `jp_policy::LimitsRequest`.
pub(super) fn limits(_: &mut SchemaGenerator) -> Schema {
    let most = Ceilings::default();
    let number = |most: u64| json!({"type": "integer", "minimum": 1, "maximum": most});
    let ms = u64::try_from(most.time.as_millis()).unwrap_or(u64::MAX);
    schema(table(json!({
        "memory": number(most.memory_bytes),
        "time_ms": number(ms),
        "fuel": number(most.fuel),
        "output": number(most.output_bytes),
    })))
}

fn access() -> Value {
    json!({"enum": ["read", "read-write", false]})
}

fn table(properties: Value) -> Value {
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

fn schema(value: Value) -> Schema {
    match value {
        Value::Object(map) => map.into(),
        other => Schema::from(other != Value::Bool(false)),
    }
}
