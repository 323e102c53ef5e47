//! Schemas of a stranger: bounded, without hidden text, with nothing to fetch, nothing that never
//! ends, and compiled once as JSON Schema 2020-12 to see that they are schemas at all.

use jsonschema::{Draft, PatternOptions};
use serde_json::{Map, Value};

use super::{
    ManifestError,
    expand::Expansion,
    shape::escaped,
    text::{self, Kind},
};
use crate::definitions;

/// The longest name of a property.
const MAX_NAME: usize = 64;

/// The longest `title`.
const MAX_TITLE: usize = 80;

/// The longest text anywhere else in a schema.
const MAX_TEXT: usize = 1000;

/// The most patterns in a schema, and the most memory of one: each becomes a machine of its own.
const MAX_PATTERNS: usize = 64;
const MAX_PATTERN_BYTES: usize = 1024 * 1024;

/// The only draft there is.
const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// References that leave the schema, or mean another place than they say.
const REFUSED: [&str; 6] = [
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$recursiveAnchor",
    "$recursiveRef",
];

/// Checks a schema of a manifest, and returns it with the host's definitions.
pub(crate) fn check(
    path: &str,
    schema: &Map<String, Value>,
) -> Result<Map<String, Value>, ManifestError> {
    let own = schema.get(definitions::KEY).and_then(Value::as_object);
    if let Some(name) = definitions::NAMES
        .iter()
        .find(|name| own.is_some_and(|own| own.contains_key(**name)))
    {
        let problem = "the host supplies this definition; leave it out";
        let path = format!("{path}/{}/{name}", definitions::KEY);
        return Err(ManifestError::schema(&path, problem));
    }
    match schema.get("$schema") {
        None => {}
        Some(draft) if draft == DRAFT => {}
        Some(_) => {
            let problem = format!("write `{DRAFT}`, or leave it out");
            return Err(ManifestError::schema(&format!("{path}/$schema"), problem));
        }
    }
    check_map(path, schema)?;
    check_patterns(path, schema)?;
    let mut full = schema.clone();
    definitions::supply(&mut full);
    let root = Value::Object(full);
    Expansion::new(path, &root).check()?;
    compile(path, &root)?;
    match root {
        Value::Object(full) => Ok(full),
        _ => Ok(Map::new()),
    }
}

/// Counts what becomes a regular expression; a property that is named `pattern` is counted too.
fn check_patterns(path: &str, schema: &Map<String, Value>) -> Result<(), ManifestError> {
    let mut count = 0_usize;
    let mut left: Vec<&Map<String, Value>> = vec![schema];
    while let Some(map) = left.pop() {
        for (key, value) in map {
            match value {
                Value::String(_) if key == "pattern" => count = count.saturating_add(1),
                Value::Object(below) => {
                    let named = key == "patternProperties";
                    count = count.saturating_add(if named { below.len() } else { 0 });
                    left.push(below);
                }
                Value::Array(items) => left.extend(items.iter().filter_map(Value::as_object)),
                _ => {}
            }
        }
    }
    if count > MAX_PATTERNS {
        let problem =
            format!("the schema has {count} patterns, at most {MAX_PATTERNS} are allowed");
        return Err(ManifestError::schema(path, problem));
    }
    Ok(())
}

fn compile(path: &str, schema: &Value) -> Result<(), ManifestError> {
    let patterns = PatternOptions::fancy_regex()
        .size_limit(MAX_PATTERN_BYTES)
        .dfa_size_limit(MAX_PATTERN_BYTES);
    let options = jsonschema::options()
        .with_draft(Draft::Draft202012)
        .with_pattern_options(patterns);
    let built = options.build(schema).map_err(|error| {
        let at = error.instance_path().to_string();
        let words = jp_text::short_line(&error.to_string(), 300);
        let problem = if words.ends_with("is not a \"regex\"") {
            format!("invalid regular expression, or one of more than {MAX_PATTERN_BYTES} bytes")
        } else {
            format!("invalid JSON Schema: {words}")
        };
        ManifestError::schema(&format!("{path}{}", jp_text::short_line(&at, 200)), problem)
    });
    built.map(|_| ())
}

// Recursion is safe here: the manifest was bounded when it was read.
fn check_map(path: &str, map: &Map<String, Value>) -> Result<(), ManifestError> {
    for (key, value) in map {
        let path = format!("{path}/{}", escaped(key));
        text::check(&path, key, Kind::Line(MAX_NAME))?;
        check_reference(&path, key, value)?;
        let kind = match key.as_str() {
            "title" => Kind::Line(MAX_TITLE),
            _ => Kind::Lines(MAX_TEXT),
        };
        check_value(&path, value, kind)?;
    }
    Ok(())
}

fn check_value(path: &str, value: &Value, kind: Kind) -> Result<(), ManifestError> {
    match value {
        Value::String(words) => text::check(path, words, kind),
        Value::Object(map) => check_map(path, map),
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.try_for_each(|(at, item)| check_value(&format!("{path}/{at}"), item, kind))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// Nothing is ever fetched, so a reference must lead to a place in the same schema.
fn check_reference(path: &str, key: &str, value: &Value) -> Result<(), ManifestError> {
    if REFUSED.contains(&key) && !value.is_object() {
        return Err(ManifestError::schema(
            path,
            format!("`{key}` is not supported"),
        ));
    }
    match value {
        Value::String(to) if key == "$ref" && !to.starts_with("#/") => {
            let to = jp_text::short_line(to, 100);
            let problem =
                format!("`{to}` is not in this schema, but nothing outside it is fetched");
            Err(ManifestError::schema(path, problem))
        }
        _ => Ok(()),
    }
}
