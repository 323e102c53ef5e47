//! Finding the key that makes a tree an invalid configuration.
//!
//! Only runs when reading a tree has failed, so it may be slow; it must be exact.

use serde::Deserialize;
use serde_json::Value;

use crate::{
    app::AppConfig,
    error::Problem,
    schema::{Shape, Step},
    stage::Loose,
    tree::wrap,
};

/// A key and what is wrong with it.
pub(crate) type Finding = (Vec<String>, Problem);

/// The entries that must have a key.
const REQUIRED: [(&str, &str, &str); 2] = [
    ("conversation", "tools", "source"),
    ("kb", "topic", "subjects"),
];

/// How an error about an absent key starts.
const MISSING: &str = "missing field";

/// Checks that a tree is a layer: every key is known and every value can be had.
pub(crate) fn check(tree: &Value) -> Result<(), Finding> {
    match AppConfig::<Loose>::deserialize(tree) {
        Ok(_) => Ok(()),
        Err(error) => Err(find(tree, &error.to_string())),
    }
}

/// Checks the value at one path. What other keys beside it are missing is not its fault.
pub(crate) fn check_at(path: &[String], value: &Value) -> Result<(), Finding> {
    let tree = wrap(path, value.clone());
    match try_read(&tree) {
        None => Ok(()),
        Some(message) => Err(find(&tree, &message)),
    }
}

/// Checks that a key is known, whatever its value.
pub(crate) fn check_key(path: &[String]) -> Result<(), Finding> {
    let tree = wrap(path, Value::Null);
    unknown_key(&tree, &Shape::root(), &mut Vec::new()).map_or(Ok(()), Err)
}

/// Finds what keeps a tree from being a configuration, given that reading it failed.
pub(crate) fn find(tree: &Value, message: &str) -> Finding {
    if let Some(found) = unknown_key(tree, &Shape::root(), &mut Vec::new()) {
        return found;
    }
    if let Some(found) = narrow(tree)
        .or_else(|| lacking(tree))
        .or_else(|| missing(tree))
    {
        return found;
    }
    let message = message.to_string();
    (Vec::new(), Problem::Invalid { message })
}

fn unknown_key(tree: &Value, shape: &Shape, path: &mut Vec<String>) -> Option<Finding> {
    for (key, value) in tree.as_object()? {
        path.push(key.clone());
        let found = match shape.step(key) {
            Step::Known(shape) | Step::Entry(shape) => unknown_key(value, &shape, path),
            Step::Free => None,
            Step::Unknown if shape.keys().is_empty() => None,
            Step::Unknown => {
                let nearest = shape.nearest(key);
                Some((path.clone(), Problem::UnknownKey { nearest }))
            }
        };
        if found.is_some() {
            return found;
        }
        path.pop();
    }
    None
}

/// Follows the first key that fails on its own, as deep as one does.
fn narrow(tree: &Value) -> Option<Finding> {
    let (path, message) = descend(tree, |value| try_read(value.tree))?;
    Some((path, Problem::Invalid { message }))
}

/// Finds the innermost table that lacks a key it must have.
fn lacking(tree: &Value) -> Option<Finding> {
    let (path, field) = descend(tree, |value| {
        let error = AppConfig::<Loose>::deserialize(value.tree)
            .err()?
            .to_string();
        let field = error.strip_prefix(MISSING)?.split('`').nth(1)?;
        let lacks = value.at.as_object()?.get(field).is_none();
        lacks.then(|| field.to_string())
    })?;
    Some((path, Problem::Missing { field }))
}

/// A value, and a tree that has nothing else.
struct Alone<'v> {
    at: &'v Value,
    tree: &'v Value,
}

fn descend<T>(tree: &Value, fails: impl Fn(&Alone<'_>) -> Option<T>) -> Option<(Vec<String>, T)> {
    let mut path = Vec::new();
    let mut reason = None;
    let mut value = tree;
    while let Value::Object(map) = value {
        let failing = map.iter().find_map(|(key, value)| {
            path.push(key.clone());
            let tree = wrap(&path, value.clone());
            path.pop();
            let alone = Alone {
                at: value,
                tree: &tree,
            };
            fails(&alone).map(|reason| (key, value, reason))
        });
        let Some((key, child, failed)) = failing else {
            break;
        };
        path.push(key.clone());
        reason = Some(failed);
        value = child;
    }
    reason.map(|reason| (path, reason))
}

/// Returns why a tree cannot be read. A missing neighbour does not count: it was left out here.
fn try_read(tree: &Value) -> Option<String> {
    let error = AppConfig::<Loose>::deserialize(tree).err()?.to_string();
    (!error.starts_with(MISSING)).then_some(error)
}

fn missing(tree: &Value) -> Option<Finding> {
    REQUIRED.iter().find_map(|(section, table, field)| {
        let entries = tree.get(section)?.get(table)?.as_object()?;
        let lacks = |id: &str, entry: &Value| id != "*" && entry.get(field).is_none();
        let (id, _) = entries.iter().find(|(id, entry)| lacks(id, entry))?;
        let path = [section, table, id.as_str()].map(ToString::to_string);
        let field = (*field).to_string();
        Some((path.to_vec(), Problem::Missing { field }))
    })
}
