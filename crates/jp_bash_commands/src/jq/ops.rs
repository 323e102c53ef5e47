//! The operators: arithmetic, comparison, indexing, slices.

use std::sync::Arc;

use super::ast::Binary;
use super::fail::{self, Fail, Result};
use super::fuel::Fuel;
use super::order;
use super::text::Text;
use super::value::{Array, Object, Value, float};

/// How deep `*` merges objects and `contains` looks; jq's own limit is its stack.
const MAX_DEPTH: u32 = 500;

/// Applies an operator.
pub(super) fn binary(fuel: &mut Fuel<'_>, op: Binary, a: Value, b: Value) -> Result<Value> {
    if let (Value::Number(x), Value::Number(y)) = (&a, &b)
        && let Some(result) = numbers(op, *x, *y)
    {
        return Ok(result);
    }
    match op {
        Binary::Add => add(fuel, a, b),
        Binary::Subtract => subtract(fuel, &a, &b),
        Binary::Multiply => multiply(fuel, a, b, 0),
        Binary::Divide => divide(fuel, &a, &b),
        Binary::Modulo => modulo(fuel, &a, &b),
        Binary::Equal => Ok(Value::Bool(order::equal(fuel, &a, &b)?)),
        Binary::NotEqual => Ok(Value::Bool(!order::equal(fuel, &a, &b)?)),
        Binary::Less => Ok(Value::Bool(order::compare(fuel, &a, &b)?.is_lt())),
        Binary::LessEqual => Ok(Value::Bool(order::compare(fuel, &a, &b)?.is_le())),
        Binary::Greater => Ok(Value::Bool(order::compare(fuel, &a, &b)?.is_gt())),
        Binary::GreaterEqual => Ok(Value::Bool(order::compare(fuel, &a, &b)?.is_ge())),
    }
}

/// The common case of two plain numbers; what needs care is left to the functions below.
fn numbers(op: Binary, x: f64, y: f64) -> Option<Value> {
    Some(match op {
        Binary::Add => Value::Number(x + y),
        Binary::Subtract => Value::Number(x - y),
        Binary::Multiply => Value::Number(x * y),
        _ if x.is_nan() || y.is_nan() => return None,
        #[expect(clippy::float_cmp, reason = "equality of numbers is exact in jq")]
        Binary::Equal => Value::Bool(x == y),
        #[expect(clippy::float_cmp, reason = "equality of numbers is exact in jq")]
        Binary::NotEqual => Value::Bool(x != y),
        Binary::Less => Value::Bool(x < y),
        Binary::LessEqual => Value::Bool(x <= y),
        Binary::Greater => Value::Bool(x > y),
        Binary::GreaterEqual => Value::Bool(x >= y),
        Binary::Divide | Binary::Modulo => return None,
    })
}

/// `-value`.
pub(super) fn negate(fuel: &mut Fuel<'_>, value: &Value) -> Result<Value> {
    match value.number() {
        Some(number) => Ok(Value::Number(-number)),
        None => Err(fail::about(fuel, value, "cannot be negated")),
    }
}

/// `a + b`; takes the values so that a string or array nobody else holds grows in place.
pub(super) fn add(fuel: &mut Fuel<'_>, a: Value, b: Value) -> Result<Value> {
    if let (Some(x), Some(y)) = (a.number(), b.number()) {
        return Ok(Value::Number(x + y));
    }
    match (a, b) {
        (Value::Null, other) | (other, Value::Null) => Ok(other),
        (Value::String(a), Value::String(b)) => {
            fuel.room(a.len() + b.len())?;
            fuel.steps(b.len())?;
            Ok(Value::String(a.append(&b)))
        }
        (Value::Array(mut a), Value::Array(b)) => {
            fuel.room((a.len() + b.len()) * size_of::<Value>())?;
            fuel.steps(b.len())?;
            Array::edit(&mut a, |items| items.extend_from_slice(&b));
            Ok(Value::Array(a))
        }
        (Value::Object(mut a), Value::Object(b)) => {
            for (name, value) in b.members() {
                fuel.step()?;
                Object::set(&mut a, name.clone(), value.clone());
            }
            Ok(Value::Object(a))
        }
        (a, b) => Err(fail::about_two(fuel, &a, &b, "cannot be added")),
    }
}

fn subtract(fuel: &mut Fuel<'_>, a: &Value, b: &Value) -> Result<Value> {
    if let (Some(x), Some(y)) = (a.number(), b.number()) {
        return Ok(Value::Number(x - y));
    }
    let (Value::Array(left), Value::Array(right)) = (a, b) else {
        return Err(fail::about_two(fuel, a, b, "cannot be subtracted"));
    };
    let mut kept = Vec::new();
    'items: for item in left.iter() {
        for gone in right.iter() {
            fuel.step()?;
            if order::equal(fuel, item, gone)? {
                continue 'items;
            }
        }
        kept.push(item.clone());
    }
    Ok(Value::array(kept))
}

fn multiply(fuel: &mut Fuel<'_>, a: Value, b: Value, depth: u32) -> Result<Value> {
    if let (Some(x), Some(y)) = (a.number(), b.number()) {
        return Ok(Value::Number(x * y));
    }
    match (&a, &b) {
        (Value::String(text), times) if times.number().is_some() => repeat(fuel, text, times),
        (times, Value::String(text)) if times.number().is_some() => repeat(fuel, text, times),
        (Value::Object(left), Value::Object(right)) => {
            if depth > MAX_DEPTH {
                return Err(fail::error("objects are nested too deeply to be merged"));
            }
            let mut merged = Arc::clone(left);
            for (name, value) in right.members() {
                fuel.step()?;
                let value = match (merged.get(name), value) {
                    (Some(old @ Value::Object(_)), Value::Object(_)) => {
                        multiply(fuel, old.clone(), value.clone(), depth + 1)?
                    }
                    _ => value.clone(),
                };
                Object::set(&mut merged, name.clone(), value);
            }
            Ok(Value::Object(merged))
        }
        _ => Err(fail::about_two(fuel, &a, &b, "cannot be multiplied")),
    }
}

/// Repeats a string; not even once is `null`.
fn repeat(fuel: &mut Fuel<'_>, text: &Text, times: &Value) -> Result<Value> {
    let times = times.number().unwrap_or(0.0);
    if times.is_nan() || times <= 0.0 {
        return Ok(Value::Null);
    }
    let times = if times < 1.0 { 1 } else { whole(times) };
    let bytes = text.len().saturating_mul(times);
    fuel.room(bytes)?;
    fuel.steps(bytes)?;
    Ok(Value::owned(text.repeat(times)))
}

fn divide(fuel: &mut Fuel<'_>, a: &Value, b: &Value) -> Result<Value> {
    if let (Some(x), Some(y)) = (a.number(), b.number()) {
        if y == 0.0 {
            let what = "cannot be divided because the divisor is zero";
            return Err(fail::about_two(fuel, a, b, what));
        }
        return Ok(Value::Number(x / y));
    }
    match (a, b) {
        (Value::String(a), Value::String(b)) => split(fuel, a, b),
        _ => Err(fail::about_two(fuel, a, b, "cannot be divided")),
    }
}

/// Cuts a string at each occurrence of another.
pub(super) fn split(fuel: &mut Fuel<'_>, text: &Text, by: &Text) -> Result<Value> {
    fuel.room(text.len().saturating_mul(8))?;
    fuel.steps(text.len())?;
    if text.is_empty() {
        return Ok(Value::array(Vec::new()));
    }
    if by.is_empty() {
        let chars = text.as_str().char_indices();
        return Ok(Value::array(
            chars
                .map(|(at, char)| {
                    Value::string(text.get(at..at + char.len_utf8()).unwrap_or_default())
                })
                .collect(),
        ));
    }
    let mut parts = Vec::new();
    let mut from = 0;
    for at in memchr::memmem::find_iter(text, &**by) {
        parts.push(Value::string(text.get(from..at).unwrap_or_default()));
        from = at + by.len();
    }
    parts.push(Value::string(text.get(from..).unwrap_or_default()));
    Ok(Value::array(parts))
}

fn modulo(fuel: &mut Fuel<'_>, a: &Value, b: &Value) -> Result<Value> {
    let (Some(x), Some(y)) = (a.number(), b.number()) else {
        return Err(fail::about_two(fuel, a, b, "cannot be divided (remainder)"));
    };
    if x.is_nan() || y.is_nan() {
        return Ok(Value::Number(f64::NAN));
    }
    // Both are cut to 64-bit integers; the sign is the dividend's.
    let (x, y) = (integer(x), integer(y));
    if y == 0 {
        let what = "cannot be divided (remainder) because the divisor is zero";
        return Err(fail::about_two(fuel, a, b, what));
    }
    let rest = x.unsigned_abs() % y.unsigned_abs();
    #[expect(clippy::cast_precision_loss, reason = "jq's numbers are doubles")]
    let rest = rest as f64;
    Ok(Value::Number(if x < 0 { -rest } else { rest }))
}

/// Cuts a double to an integer; what is too large becomes the largest.
#[expect(
    clippy::cast_possible_truncation,
    reason = "`as` saturates, which is what is wanted"
)]
pub(super) fn integer(number: f64) -> i64 {
    number as i64
}

/// Cuts a positive double to a count.
pub(super) fn whole(number: f64) -> usize {
    usize::try_from(integer(number)).unwrap_or(0)
}

/// Returns the key that stands for a slice in paths.
pub(super) fn slice_key(from: Value, to: Value) -> Value {
    Value::object([(Text::from("start"), from), (Text::from("end"), to)])
}

/// `.[key]`.
pub(super) fn index(fuel: &mut Fuel<'_>, value: &Value, key: &Value) -> Result<Value> {
    match (value, key) {
        (Value::Object(object), Value::String(name)) => {
            Ok(object.get(name).cloned().unwrap_or_default())
        }
        (Value::Null, Value::String(_) | Value::Null | Value::Number(_) | Value::Literal(_)) => {
            Ok(Value::Null)
        }
        (Value::Array(array), Value::Number(_) | Value::Literal(_)) => {
            let number = key.number().unwrap_or(f64::NAN);
            if number.is_nan() {
                return Ok(Value::Null);
            }
            let at = number.floor();
            let at = if at < 0.0 {
                at + float(array.len())
            } else {
                at
            };
            Ok(if at < 0.0 {
                Value::Null
            } else {
                array.get(whole(at)).cloned().unwrap_or_default()
            })
        }
        (Value::Null | Value::Array(_) | Value::String(_), Value::Object(slice)) => {
            slice_of(fuel, value, slice)
        }
        (Value::Array(array), Value::Array(find)) => indices(fuel, array, find),
        _ => Err(cannot_index(value, key)),
    }
}

/// Makes the error for a key that does not fit.
pub(super) fn cannot_index(value: &Value, key: &Value) -> Fail {
    match key {
        Value::String(name) => fail::error(format!(
            "Cannot index {} with string \"{}\"",
            value.kind_name(),
            name.as_str()
        )),
        _ => fail::error(format!(
            "Cannot index {} with {}",
            value.kind_name(),
            key.kind_name()
        )),
    }
}

fn slice_of(fuel: &mut Fuel<'_>, value: &Value, slice: &Object) -> Result<Value> {
    match value {
        Value::Array(array) => {
            let (from, to) = bounds(slice, array.len())?;
            fuel.room((to - from) * size_of::<Value>())?;
            fuel.steps(to - from)?;
            Ok(Value::array(
                array.get(from..to).unwrap_or_default().to_vec(),
            ))
        }
        Value::String(text) => {
            let text = text.as_str();
            fuel.steps(text.len())?;
            let (from, to) = bounds(slice, text.chars().count())?;
            let at = |n: usize| text.char_indices().nth(n).map_or(text.len(), |(at, _)| at);
            let (from, to) = (at(from), at(to));
            Ok(Value::string(
                text.get(from..to).unwrap_or_default().as_bytes(),
            ))
        }
        _ => Ok(Value::Null),
    }
}

/// Returns where a slice begins and ends, within the length.
pub(super) fn bounds(slice: &Object, len: usize) -> Result<(usize, usize)> {
    let edge = |name: &[u8], default: f64| match slice.get(name) {
        Some(Value::Null) => Ok(default),
        value => value
            .and_then(Value::number)
            .ok_or_else(|| fail::error("Start and end indices of an array slice must be numbers")),
    };
    let len = float(len);
    let wrap = |n: f64| {
        let n = if n < 0.0 { n + len } else { n };
        if n.is_nan() { 0.0 } else { n.clamp(0.0, len) }
    };
    let from = wrap(edge(b"start", 0.0)?).floor();
    let to = wrap(edge(b"end", len)?).ceil();
    Ok((whole(from), whole(to.max(from))))
}

/// Returns where an array occurs inside another.
fn indices(fuel: &mut Fuel<'_>, array: &Array, find: &Array) -> Result<Value> {
    let mut found = Vec::new();
    if find.is_empty() {
        return Ok(Value::Null);
    }
    'starts: for (at, window) in array.windows(find.len()).enumerate() {
        for (a, b) in window.iter().zip(find.iter()) {
            fuel.step()?;
            if !order::equal(fuel, a, b)? {
                continue 'starts;
            }
        }
        found.push(Value::count(at));
    }
    Ok(Value::array(found))
}

/// Tells whether a value holds another, as `contains` sees it.
pub(super) fn contains(fuel: &mut Fuel<'_>, a: &Value, b: &Value, depth: u32) -> Result<bool> {
    fuel.step()?;
    if depth > MAX_DEPTH {
        return Err(fail::error("values are nested too deeply to be compared"));
    }
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            for (name, wanted) in b.members() {
                match a.get(name) {
                    Some(value) if contains_any(fuel, value, wanted, depth)? => {}
                    _ => return Ok(false),
                }
            }
            Ok(true)
        }
        (Value::Array(a), Value::Array(b)) => {
            'wanted: for wanted in b.iter() {
                for value in a.iter() {
                    if contains_any(fuel, value, wanted, depth)? {
                        continue 'wanted;
                    }
                }
                return Ok(false);
            }
            Ok(true)
        }
        (Value::String(a), Value::String(b)) => Ok(memchr::memmem::find(a, b).is_some()),
        _ => Ok(order::equal(fuel, a, b)?),
    }
}

/// Inside containers, values of different kinds are merely unequal.
fn contains_any(fuel: &mut Fuel<'_>, a: &Value, b: &Value, depth: u32) -> Result<bool> {
    if a.kind_name() == b.kind_name() {
        contains(fuel, a, b, depth + 1)
    } else {
        Ok(false)
    }
}
