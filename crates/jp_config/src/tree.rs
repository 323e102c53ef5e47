//! Layers as trees: merging them, and the difference between two.
//!
//! The rules are those of JSON Merge Patch: tables are merged key by key, everything else is
//! replaced, and `null` unsets. Some values are whole although they look like tables; [`Spot`]
//! knows them.

use serde_json::{Map, Value};

/// Where in the configuration a value stands, as far as merging cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spot {
    Root,
    Conversation,
    Tools,
    Tool,
    Questions,
    Question,
    Serve,
    /// A table whose entries are replaced as a whole each.
    Entries,
    /// A value that is replaced as a whole: half of one command and half of another is neither.
    Whole,
    Other,
}

impl Spot {
    pub(crate) fn child(self, key: &str) -> Self {
        match (self, key) {
            (Self::Root, "conversation") => Self::Conversation,
            (Self::Root, "tooling" | "registries") => Self::Entries,
            (Self::Root, "serve") => Self::Serve,
            (Self::Serve, "resources" | "prompts") => Self::Entries,
            (Self::Root, "capabilities") | (Self::Entries, _) => Self::Whole,
            (Self::Conversation, "tools") => Self::Tools,
            (Self::Tools, _) => Self::Tool,
            (Self::Tool, "command") => Self::Whole,
            (Self::Tool, "questions") => Self::Questions,
            (Self::Questions, _) => Self::Question,
            (Self::Question, "answer") | (Self::Whole, _) => Self::Whole,
            _ => Self::Other,
        }
    }
}

/// Puts a higher layer over a lower one.
pub(crate) fn merge(low: &mut Value, high: Value, spot: Spot) {
    match (low, high) {
        (Value::Object(low), Value::Object(high)) if spot != Spot::Whole => {
            for (key, mut value) in high {
                if value.is_null() {
                    low.shift_remove(&key);
                } else if let Some(lower) = low.get_mut(&key) {
                    merge(lower, value, spot.child(&key));
                } else {
                    strip_nulls(&mut value);
                    low.insert(key, value);
                }
            }
        }
        (low, mut high) => {
            strip_nulls(&mut high);
            *low = high;
        }
    }
}

/// Returns what to merge over `before` to get `after`, or nothing if they are equal.
pub(crate) fn delta(before: &Value, after: &Value, spot: Spot) -> Option<Value> {
    if before == after {
        return None;
    }
    let (Value::Object(old), Value::Object(new)) = (before, after) else {
        return Some(after.clone());
    };
    if spot == Spot::Whole {
        return Some(after.clone());
    }
    let mut changes = Map::new();
    for (key, value) in new {
        let change = match old.get(key) {
            Some(before) => delta(before, value, spot.child(key)),
            None => Some(value.clone()),
        };
        if let Some(change) = change {
            changes.insert(key.clone(), change);
        }
    }
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        changes.insert(key.clone(), Value::Null);
    }
    Some(Value::Object(changes))
}

/// Removes the keys of tables that are set to nothing; items of lists stay.
pub(crate) fn strip_nulls(value: &mut Value) {
    if let Value::Object(map) = value {
        map.retain(|_, value| !value.is_null());
        map.values_mut().for_each(strip_nulls);
    }
}

/// Takes out tables that hold nothing, and those that hold nothing else.
pub(crate) fn strip_empty(value: &mut Value) {
    if let Value::Object(map) = value {
        map.values_mut().for_each(strip_empty);
        map.retain(|_, value| value.as_object().is_none_or(|table| !table.is_empty()));
    }
}

/// Returns the value at a path, if there is one.
pub(crate) fn get<'v>(value: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, part| match value {
        Value::Object(map) => map.get(part),
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Returns a tree that has just this value at the path.
pub(crate) fn wrap(path: &[String], value: Value) -> Value {
    path.iter().rev().fold(value, |value, part| {
        Value::Object(Map::from_iter([(part.clone(), value)]))
    })
}

/// Writes a path as people type it: parts that are not plain words are quoted.
pub(crate) fn dotted(path: &[String]) -> String {
    let plain = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '*' | '/'))
    };
    let parts = path.iter().map(|part| {
        if plain(part) {
            part.clone()
        } else {
            format!("\"{part}\"")
        }
    });
    parts.collect::<Vec<_>>().join(".")
}
