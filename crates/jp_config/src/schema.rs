//! The JSON Schema of a configuration file, and the walk along it.
//!
//! The schema is what people's editors read. It is also the list of known keys: it is only
//! looked at when something is wrong or a key comes from the environment, so that a good
//! configuration does not pay for it.

use std::sync::OnceLock;

use serde_json::{Map, Value};

use crate::{app::AppConfig, stage::Loose};

/// Returns the JSON Schema of a configuration file.
#[must_use]
pub fn json_schema() -> Value {
    let mut schema = schemars::schema_for!(AppConfig<Loose>).to_value();
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("title".into(), "jp configuration".into());
    }
    schema
}

fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(json_schema)
}

/// What the schema says about one place in a configuration.
#[derive(Debug, Clone)]
pub(crate) struct Shape(Vec<&'static Value>);

/// What a key leads to.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// A key with a meaning.
    Known(Shape),
    /// An id that the user chose.
    Entry(Shape),
    /// Free data.
    Free,
    /// No such key.
    Unknown,
}

impl Shape {
    /// Returns the shape of a whole configuration.
    pub(crate) fn root() -> Self {
        Self(alternatives(schema()))
    }

    /// Returns what a key leads to.
    pub(crate) fn step(&self, key: &str) -> Step {
        let tables = || self.0.iter().filter_map(|schema| table(schema));
        for table in tables() {
            if let Some(schema) = property(table, key) {
                return Step::Known(Self(alternatives(schema)));
            }
        }
        for table in tables() {
            match table.get("additionalProperties") {
                Some(Value::Bool(false)) => {}
                Some(schema @ Value::Object(_)) => return Step::Entry(Self(alternatives(schema))),
                _ => return Step::Free,
            }
        }
        let free = self.0.iter().any(|schema| {
            schema.as_bool() == Some(true)
                || schema
                    .as_object()
                    .is_some_and(|schema| !schema.keys().any(|key| is_rule(key)))
        });
        if free { Step::Free } else { Step::Unknown }
    }

    /// Returns the keys with a meaning.
    pub(crate) fn keys(&self) -> Vec<&'static str> {
        let tables = self.0.iter().filter_map(|schema| table(schema));
        let properties = tables.filter_map(|table| table.get("properties")?.as_object());
        properties.flat_map(Map::keys).map(String::as_str).collect()
    }

    /// Returns the known keys that look most like one, best first.
    pub(crate) fn nearest(&self, key: &str) -> Vec<String> {
        let key: String = key.chars().take(64).collect();
        let reach = usize::max(2, key.chars().count() / 3);
        let mut near: Vec<(usize, &str)> = self
            .keys()
            .into_iter()
            .map(|known| (strsim::damerau_levenshtein(&key, known), known))
            .filter(|(distance, _)| *distance <= reach)
            .collect();
        near.sort_unstable();
        near.into_iter()
            .take(2)
            .map(|(_, known)| known.to_string())
            .collect()
    }
}

fn is_rule(key: &str) -> bool {
    !matches!(key, "description" | "title" | "default")
}

fn table(schema: &'static Value) -> Option<&'static Map<String, Value>> {
    let schema = schema.as_object()?;
    let is_table = match schema.get("type") {
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        _ => false,
    };
    is_table.then_some(schema)
}

fn property(table: &'static Map<String, Value>, key: &str) -> Option<&'static Value> {
    table.get("properties")?.get(key)
}

/// Returns what a schema can be, with references followed.
fn alternatives(from: &'static Value) -> Vec<&'static Value> {
    let mut found = Vec::new();
    let mut left = vec![from];
    // Our own schema has no cycle of bare references; the count only makes that harmless.
    for _ in 0..100 {
        let Some(schema) = left.pop() else { break };
        let reference = schema.get("$ref").and_then(Value::as_str);
        let target =
            reference.and_then(|name| self::schema().pointer(name.trim_start_matches('#')));
        let several = schema
            .get("anyOf")
            .or_else(|| schema.get("oneOf"))
            .and_then(Value::as_array);
        match (target, several) {
            (Some(target), _) => left.push(target),
            (None, Some(several)) => left.extend(several),
            (None, None) => found.push(schema),
        }
    }
    found
}
