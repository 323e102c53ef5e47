//! Two JSON values, field by field.

use std::borrow::Cow;

use serde_json::Value;

use super::{Diff, MAX_TEXT, Sign};
use crate::Digest;

/// Longer names of fields are shortened; they stand before every line beneath them.
const MAX_KEY: usize = 200;

/// Says what differs. Values nest no deeper than a document may, which is what recursion relies on.
pub(super) fn compare(path: &str, old: &Value, new: &Value, diff: &mut Diff) {
    match (old, new) {
        (old, new) if old == new => {}
        (Value::Object(old), Value::Object(new)) => {
            for (key, was) in old {
                let path = join(path, key);
                match new.get(key) {
                    Some(is) => compare(&path, was, is, diff),
                    None => whole(&path, was, Sign::Removed, diff),
                }
            }
            for (key, is) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
                whole(&join(path, key), is, Sign::Added, diff);
            }
        }
        (Value::Array(old), Value::Array(new)) => items(path, old, new, diff),
        (Value::String(old), Value::String(new)) if old.contains('\n') || new.contains('\n') => {
            let (at, old, new) = differing(split(old), split(new));
            for (sign, lines) in [(Sign::Removed, old), (Sign::Added, new)] {
                for (number, line) in lines.iter().enumerate() {
                    let number = at + number + 1;
                    diff.push(
                        sign,
                        &format!("{path}, line {number}: {}", bounded(line, MAX_TEXT)),
                    );
                }
            }
        }
        (old, new) => {
            whole(path, old, Sign::Removed, diff);
            whole(path, new, Sign::Added, diff);
        }
    }
}

/// Compares lists from where they begin to differ to where they end to.
fn items(path: &str, old: &[Value], new: &[Value], diff: &mut Diff) {
    let (at, old, new) = differing(old.iter().collect(), new.iter().collect());
    for number in 0..old.len().max(new.len()) {
        let path = format!("{path}[{}]", at + number);
        match (old.get(number), new.get(number)) {
            (Some(old), Some(new)) => compare(&path, old, new, diff),
            (Some(old), None) => whole(&path, old, Sign::Removed, diff),
            (None, Some(new)) => whole(&path, new, Sign::Added, diff),
            (None, None) => {}
        }
    }
}

/// Says all of a value, one line for each of its ends.
fn whole(path: &str, value: &Value, sign: Sign, diff: &mut Diff) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (key, value) in fields {
                whole(&join(path, key), value, sign, diff);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                whole(&format!("{path}[{at}]"), item, sign, diff);
            }
        }
        Value::String(text) => diff.push(sign, &format!("{path}: {}", bounded(text, MAX_TEXT))),
        end => diff.push(
            sign,
            &format!("{path}: {}", bounded(&end.to_string(), MAX_TEXT)),
        ),
    }
}

/// Takes away what two lists have in common at both ends; returns how much that was at the start.
fn differing<T: PartialEq>(mut old: Vec<T>, mut new: Vec<T>) -> (usize, Vec<T>, Vec<T>) {
    while old.last().is_some() && old.last() == new.last() {
        old.pop();
        new.pop();
    }
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new);
    let at = same.count();
    (at, old.split_off(at), new.split_off(at))
}

/// Splits at line feeds alone: what else ends a line is shown as what it is.
fn split(text: &str) -> Vec<&str> {
    text.split('\n').collect()
}

fn join(path: &str, key: &str) -> String {
    let key = bounded(key, MAX_KEY);
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-$".contains(&b);
    // In quotes where it could pass for something else, such as two fields.
    let key = match !key.is_empty() && key.bytes().all(plain) {
        true => key,
        false => Cow::Owned(format!("{key:?}")),
    };
    match path {
        "" => key.into_owned(),
        path => format!("{path}.{key}"),
    }
}

fn bounded(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    let start = text
        .get(..text.floor_char_boundary(max))
        .unwrap_or_default();
    let (size, sha256) = (text.len(), Digest::of(text.as_bytes()));
    Cow::Owned(format!("{start}… (all {size} bytes: sha256 {sha256})"))
}
