//! Values by path: `getpath`, `setpath`, `delpaths`. Loops, not recursion: a path may be long.

use super::fail::{self, Fail, Result};
use super::fuel::Fuel;
use super::ops;
use super::order;
use super::text::Text;
use super::value::{Array, Object, Value, float};

/// An array cannot be made longer by an assignment than this, as in jq.
const MAX_INDEX: f64 = 536_870_911.0;

fn keys(path: &Value) -> Result<&Array> {
    match path {
        Value::Array(keys) => Ok(keys),
        _ => Err(fail::error("Path must be specified as an array")),
    }
}

/// Returns the value at a path; `null` where a part of it is missing.
pub(super) fn get(fuel: &mut Fuel<'_>, value: &Value, path: &Value) -> Result<Value> {
    let mut at = value.clone();
    for key in keys(path)?.iter() {
        fuel.step()?;
        if matches!(at, Value::Null) {
            return Ok(Value::Null);
        }
        at = ops::index(fuel, &at, key)?;
    }
    Ok(at)
}

/// Sets the value at a path, making containers as needed.
pub(super) fn set(
    fuel: &mut Fuel<'_>,
    mut root: Value,
    path: &Value,
    value: Value,
) -> Result<Value> {
    let keys = keys(path)?;
    let mut at = &mut root;
    let mut rest = keys.iter();
    while let Some(key) = rest.next() {
        fuel.step()?;
        if let Value::Object(slice) = key {
            // Below a slice the change is made to a copy of it, which then replaces it.
            let tail = Value::array(rest.cloned().collect());
            let old = ops::index(fuel, at, key)?;
            let new = match &tail {
                Value::Array(tail) if tail.is_empty() => value,
                _ => set_below_slice(fuel, old, &tail, value)?,
            };
            replace_slice(fuel, at, slice, new)?;
            return Ok(root);
        }
        at = child(fuel, at, key)?;
    }
    *at = value;
    Ok(root)
}

/// Slices of slices are cut to a few levels: each is a call of [`set`] within one.
fn set_below_slice(fuel: &mut Fuel<'_>, old: Value, path: &Value, value: Value) -> Result<Value> {
    let Value::Array(keys) = path else {
        return Ok(value);
    };
    let slices = keys
        .iter()
        .filter(|key| matches!(key, Value::Object(_)))
        .count();
    if slices > 100 {
        return Err(fail::error("a path has too many slices"));
    }
    set(fuel, old, path, value)
}

/// Returns the place of a member, made if it is missing.
fn child<'v>(fuel: &mut Fuel<'_>, at: &'v mut Value, key: &Value) -> Result<&'v mut Value> {
    if matches!(at, Value::Null) {
        *at = match key {
            Value::String(_) => Value::object([]),
            Value::Number(_) | Value::Literal(_) => Value::array(Vec::new()),
            _ => return Err(ops::cannot_index(at, key)),
        };
    }
    match (at, key) {
        (Value::Object(object), Value::String(name)) => {
            Object::entry(object, name).ok_or_else(fail::memory)
        }
        (Value::Array(array), Value::Number(_) | Value::Literal(_)) => {
            let index = place(key.number().unwrap_or(f64::NAN), array.len())?;
            if index >= array.len() {
                fuel.room((index + 1) * size_of::<Value>())?;
                fuel.steps(index - array.len())?;
                Array::edit(array, |items| items.resize(index + 1, Value::Null));
            }
            Array::slot(array, index).ok_or_else(fail::memory)
        }
        (at, key) => Err(ops::cannot_index(at, key)),
    }
}

fn place(number: f64, len: usize) -> Result<usize> {
    if number.is_nan() {
        return Err(fail::error("Cannot set array element at NaN index"));
    }
    let number = number.floor();
    let number = if number < 0.0 {
        number + float(len)
    } else {
        number
    };
    if number < 0.0 {
        return Err(fail::error("Out of bounds negative array index"));
    }
    if number > MAX_INDEX {
        return Err(fail::error("Array index too large"));
    }
    Ok(ops::whole(number))
}

fn replace_slice(fuel: &mut Fuel<'_>, at: &mut Value, slice: &Object, new: Value) -> Result<()> {
    if matches!(at, Value::Null) {
        *at = Value::array(Vec::new());
    }
    match (at, new) {
        (Value::Array(array), Value::Array(new)) => {
            let (from, to) = ops::bounds(slice, array.len())?;
            fuel.room((array.len() + new.len()) * size_of::<Value>())?;
            fuel.steps(array.len() + new.len())?;
            Array::edit(array, |items| {
                items.splice(from..to, new.iter().cloned());
            });
            Ok(())
        }
        (Value::Array(_), _) => Err(fail::error(
            "A slice of an array can only be assigned another array",
        )),
        (Value::String(_), _) => Err(fail::error("Cannot update string slices")),
        (at, _) => Err(fail::error(format!(
            "Cannot update field at object index of {}",
            at.kind_name()
        ))),
    }
}

/// Deletes all the paths of an array, the last ones first so that the others stay valid.
pub(super) fn delete(fuel: &mut Fuel<'_>, mut value: Value, paths: &Value) -> Result<Value> {
    let Value::Array(paths) = paths else {
        return Err(fail::error("Paths must be specified as an array"));
    };
    if let Some(bad) = paths.iter().find(|path| !matches!(path, Value::Array(_))) {
        return Err(fail::error(format!(
            "Path must be specified as array, not {}",
            bad.kind_name()
        )));
    }
    let sorted = order::sort(fuel, paths.to_vec(), |path| path)?;
    let mut rest = sorted.as_slice();
    while let Some((last, before)) = rest.split_last() {
        let last_keys = keys(last)?;
        let Some((_, parent)) = last_keys.split_last() else {
            return Ok(Value::Null);
        };
        // Neighbours with the same parent go together: one pass for all of them.
        let mut from = before.len();
        while from > 0
            && let Some(Value::Array(path)) = before.get(from - 1)
            && let Some((_, theirs)) = path.split_last()
            && same_keys(fuel, theirs, parent)?
        {
            from -= 1;
        }
        let group: Vec<Value> = rest
            .get(from..)
            .unwrap_or_default()
            .iter()
            .filter_map(|path| keys(path).ok().and_then(|keys| keys.last().cloned()))
            .collect();
        delete_group(fuel, &mut value, parent, &group)?;
        rest = rest.get(..from).unwrap_or_default();
    }
    Ok(value)
}

fn same_keys(fuel: &mut Fuel<'_>, a: &[Value], b: &[Value]) -> Result<bool> {
    if a.len() != b.len() {
        return Ok(false);
    }
    for (a, b) in a.iter().zip(b) {
        if !order::equal(fuel, a, b)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Deletes members of one container, named by keys in ascending order.
fn delete_group(
    fuel: &mut Fuel<'_>,
    root: &mut Value,
    parent: &[Value],
    group: &[Value],
) -> Result<()> {
    let mut at = root;
    for (depth, key) in parent.iter().enumerate() {
        fuel.step()?;
        if let Value::Object(slice) = key {
            let mut part = ops::index(fuel, at, key)?;
            if matches!(part, Value::Null) {
                return Ok(());
            }
            let rest = parent.get(depth + 1..).unwrap_or_default();
            if rest.iter().any(|key| matches!(key, Value::Object(_))) {
                return Err(fail::error("a path has too many slices"));
            }
            delete_group(fuel, &mut part, rest, group)?;
            return replace_slice(fuel, at, slice, part);
        }
        if matches!(ops::index(fuel, at, key)?, Value::Null) {
            return Ok(());
        }
        at = child(fuel, at, key)?;
    }
    match at {
        Value::Null => Ok(()),
        Value::Object(object) => {
            let mut names = std::collections::HashSet::new();
            for key in group {
                match key {
                    Value::String(name) => names.insert(name.clone()),
                    _ => return Err(cannot_delete(key, "field of object")),
                };
            }
            fuel.steps(object.len())?;
            Object::retain(object, |name| !names.contains(name));
            Ok(())
        }
        Value::Array(array) => {
            let len = array.len();
            fuel.steps(len)?;
            let mut keep = vec![true; len];
            for key in group {
                let (from, to) = match key {
                    Value::Object(slice) => ops::bounds(slice, len)?,
                    _ => match key.number() {
                        Some(number) => element(number, len),
                        None => return Err(cannot_delete(key, "element of array")),
                    },
                };
                if let Some(keep) = keep.get_mut(from..to) {
                    keep.fill(false);
                }
            }
            Array::edit(array, |items| {
                let mut keep = keep.iter();
                items.retain(|_| keep.next().copied().unwrap_or(true));
            });
            Ok(())
        }
        other => Err(fail::error(format!(
            "Cannot delete fields from {}",
            other.kind_name()
        ))),
    }
}

/// Returns the range that holds one element, empty if there is no such one.
fn element(number: f64, len: usize) -> (usize, usize) {
    let number = number.floor();
    let number = if number < 0.0 {
        number + float(len)
    } else {
        number
    };
    if number.is_nan() || number < 0.0 || number >= float(len) {
        return (0, 0);
    }
    let at = ops::whole(number);
    (at, at + 1)
}

fn cannot_delete(key: &Value, what: &str) -> Fail {
    fail::error(format!("Cannot delete {} {what}", key.kind_name()))
}

/// `has(key)`.
pub(super) fn has(value: &Value, key: &Value) -> Result<Value> {
    match (value, key) {
        (Value::Object(object), Value::String(name)) => {
            let name: &Text = name;
            Ok(Value::Bool(object.get(name).is_some()))
        }
        (Value::Array(array), Value::Number(_) | Value::Literal(_)) => {
            let number = key.number().unwrap_or(f64::NAN);
            Ok(Value::Bool(number >= 0.0 && number < float(array.len())))
        }
        _ => Err(fail::error(format!(
            "Cannot check whether {} has a {} key",
            value.kind_name(),
            key.kind_name()
        ))),
    }
}
