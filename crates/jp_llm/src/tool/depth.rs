//! How deep and how large arguments are, found out without recursion: callers hand in
//! values that no parser has bounded.

use serde_json::{Map, Value};

/// How deep schemas and values are followed. serde_json stops at 128 levels when it reads.
pub(super) const MAX_DEPTH: usize = 128;

/// Arguments nested so deeply that following them would overflow the stack.
pub(super) struct TooDeep;

/// Lets arguments pass that can be followed by recursion.
pub(super) fn bounded(arguments: Map<String, Value>) -> Result<Map<String, Value>, TooDeep> {
    let value = Value::Object(arguments);
    let deep = size(&value, MAX_DEPTH).is_none();
    match value {
        Value::Object(arguments) if !deep => Ok(arguments),
        value => {
            // Dropping it as a whole is recursion too.
            let mut left = vec![value];
            let is_deep = |value: &Value| value.is_array() || value.is_object();
            while let Some(value) = left.pop() {
                match value {
                    Value::Array(items) => left.extend(items.into_iter().filter(is_deep)),
                    Value::Object(map) => left.extend(map.into_values().filter(is_deep)),
                    _ => {}
                }
            }
            Err(TooDeep)
        }
    }
}

/// What stands directly below a value.
enum Children<'a> {
    Items(std::slice::Iter<'a, Value>),
    Fields(serde_json::map::Values<'a>),
}

impl<'a> Children<'a> {
    fn of(value: &'a Value) -> Option<Self> {
        match value {
            Value::Array(items) => Some(Self::Items(items.iter())),
            Value::Object(map) => Some(Self::Fields(map.values())),
            _ => None,
        }
    }

    fn next(&mut self) -> Option<&'a Value> {
        match self {
            Self::Items(items) => items.next(),
            Self::Fields(fields) => fields.next(),
        }
    }
}

/// Counts the values in a value, without recursion; `None` when they are nested too deeply.
pub(super) fn size(value: &Value, depth: usize) -> Option<usize> {
    // Most arguments are flat: nothing to open, nothing to allocate.
    let is_leaf = |value: &Value| !value.is_array() && !value.is_object();
    let flat = match value {
        Value::Array(items) => items.iter().all(is_leaf).then_some(items.len()),
        Value::Object(map) => map.values().all(is_leaf).then_some(map.len()),
        _ => Some(0),
    };
    if let Some(children) = flat {
        return Some(children + 1);
    }
    let mut count = 1;
    let mut open: Vec<_> = Children::of(value).into_iter().collect();
    while let Some(last) = open.last_mut() {
        let Some(next) = last.next() else {
            open.pop();
            continue;
        };
        count += 1;
        if let Some(below) = Children::of(next) {
            if open.len() == depth {
                return None;
            }
            open.push(below);
        }
    }
    Some(count)
}
