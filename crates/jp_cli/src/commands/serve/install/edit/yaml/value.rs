//! Reads and writes the values of an entry in YAML.

use serde_json::{Map, Value};

use super::lines::{Kind, Line};

/// How deep an entry is nested.
const MAX_DEPTH: usize = 4;

/// Reads the lines below a key; nothing is returned for what is written in a way that is not read here.
pub(super) fn read(lines: &[Line<'_>], above: usize) -> Option<Value> {
    let lines: Vec<&Line<'_>> = lines.iter().filter(|line| line.is_value()).collect();
    mapping(&lines, above, 0)
}

fn mapping(lines: &[&Line<'_>], above: usize, depth: usize) -> Option<Value> {
    let own = lines.first()?.indent;
    if own <= above || depth > MAX_DEPTH {
        return None;
    }
    let mut members = Map::new();
    let mut rest = lines;
    while let Some((first, below)) = rest.split_first() {
        let Kind::Key(key, value) = first.kind else {
            return None;
        };
        if first.indent != own {
            return None;
        }
        let is_below = |line: &&Line<'_>| {
            line.indent > own || (line.indent == own && matches!(line.kind, Kind::Item(_)))
        };
        let count = below.iter().take_while(|line| is_below(line)).count();
        let (inner, next) = below.split_at(count);
        let value = match (value, inner.first().map(|line| line.kind)) {
            (_, None) => scalar(value)?,
            ("", Some(Kind::Item(_))) => list(inner)?,
            ("", Some(_)) => mapping(inner, own, depth + 1)?,
            _ => return None,
        };
        if members.insert(key.to_owned(), value).is_some() {
            return None;
        }
        rest = next;
    }
    Some(Value::Object(members))
}

fn list(lines: &[&Line<'_>]) -> Option<Value> {
    let own = lines.first()?.indent;
    let items = lines.iter().map(|line| match line.kind {
        Kind::Item(item) if line.indent == own && !item.is_empty() => scalar(item),
        _ => None,
    });
    items.collect::<Option<Vec<_>>>().map(Value::Array)
}

fn scalar(text: &str) -> Option<Value> {
    if let Some(inner) = text.strip_prefix('\'') {
        return Some(Value::from(inner.strip_suffix('\'')?.replace("''", "'")));
    }
    if text.starts_with('"') || text.starts_with('{') {
        return serde_json::from_str(text).ok();
    }
    if let Some(inner) = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'))
    {
        if inner.contains(['"', '\'', '[', '{']) {
            return serde_json::from_str(text).ok();
        }
        let items = inner
            .split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty());
        return items
            .map(scalar)
            .collect::<Option<Vec<_>>>()
            .map(Value::Array);
    }
    // What a plain text may not be without saying something else.
    if text.contains(": ") || text.starts_with(['|', '>', '@', '`']) {
        return None;
    }
    Some(match text {
        "" | "~" | "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => text
            .parse::<i64>()
            .map_or_else(|_| Value::from(text), Value::from),
    })
}

/// Writes a mapping, one line for each key and each item.
pub(super) fn write(value: &Value, indent: usize, lines: &mut Vec<String>) {
    let space = " ".repeat(indent);
    for (key, value) in value.as_object().into_iter().flatten() {
        match value {
            Value::Array(items) if !items.is_empty() => {
                lines.push(format!("{space}{key}:"));
                let items = items.iter().map(|item| format!("{space}- {}", plain(item)));
                lines.extend(items);
            }
            Value::Object(members) if !members.is_empty() => {
                lines.push(format!("{space}{key}:"));
                write(value, indent + 2, lines);
            }
            other => lines.push(format!("{space}{key}: {}", plain(other))),
        }
    }
}

fn plain(value: &Value) -> String {
    let Some(text) = value.as_str() else {
        return value.to_string();
    };
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    let usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-');
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_word = words.iter().any(|word| text.eq_ignore_ascii_case(word));
    match starts && text.chars().all(usual) && !is_word {
        true => text.to_owned(),
        false => value.to_string(),
    }
}
