//! What tools of jp answer in JSON, for people: a table of what is listed, or lines of what one thing says.
//! Programs, and `--json`, get the JSON itself.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::{clock, text};

/// Keys that say nothing to people: whose it is, where it stands, and sizes that nobody stated.
const HIDDEN: &[&str] = &[
    "abi_version",
    "user_id",
    "position",
    "t_shirt_size",
    "story_points",
    "estimate_optimistic_minutes",
    "estimate_likely_minutes",
    "estimate_pessimistic_minutes",
];

/// Keys that come first, in this order.
const FIRST: &[&str] = &[
    "id", "title", "name", "prompt", "message", "text", "goal", "status",
];

/// The most rows that are laid out.
const MAX_ROWS: usize = 500;

/// The most columns: more do not fit a terminal.
const MAX_COLUMNS: usize = 6;

/// The longest cell of a table.
const MAX_CELL: usize = 60;

/// Something a person can read.
#[derive(Debug, PartialEq)]
pub(crate) enum View {
    /// Columns and rows.
    Table(Vec<String>, Vec<Vec<String>>),
    /// Names and values.
    Fields(Vec<(String, String)>),
    /// A sentence.
    Sentence(String),
}

/// Makes a view of what a tool answered, if it is one of those that ask jp to do something and pass on what
/// came of it.
pub(crate) fn of(content: &str) -> Option<View> {
    let answer: Value = serde_json::from_str(content).ok()?;
    let result = answer
        .get("capability_result")?
        .get("result")?
        .as_object()?;
    let said = result.iter().filter(|(key, value)| {
        let is_fine = *key == "status" && *value == "ok";
        !is_fine && !is_hidden(key, value)
    });
    let said: Vec<(&String, &Value)> = said.collect();
    let lists = said.iter().filter(|(_, value)| value.is_array());
    match (lists.clone().count(), said.as_slice()) {
        (0, []) => Some(View::Sentence("Done.".to_owned())),
        (0, [(_, Value::Object(one))]) => Some(fields(one)),
        (1, _) => {
            let (name, list) = lists.copied().next()?;
            table(name, list.as_array()?)
        }
        _ => Some(fields(result)),
    }
}

fn is_hidden(key: &str, value: &Value) -> bool {
    let is_empty = match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty() && key.ends_with("_refs"),
        Value::Object(members) => members.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    };
    is_empty || HIDDEN.contains(&key)
}

/// Lays out a list of things.
fn table(name: &str, items: &[Value]) -> Option<View> {
    if items.is_empty() {
        return Some(View::Sentence(format!("No {}.", words(name))));
    }
    let items: Vec<&Map<String, Value>> =
        items.iter().map(Value::as_object).collect::<Option<_>>()?;
    // How many things say something of each key, in the order of the first that does.
    let mut keys: Vec<&str> = Vec::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (key, value) in items.iter().flat_map(|item| item.iter()) {
        if is_hidden(key, value) || value.is_object() || value.is_array() {
            continue;
        }
        let count = counts.entry(key).or_default();
        *count += 1;
        if *count == 1 {
            keys.push(key);
        }
    }
    let rank = |key: &&str| {
        FIRST
            .iter()
            .position(|first| first == key)
            .unwrap_or(FIRST.len())
    };
    keys.sort_by_key(rank);
    // `updated_at` says nothing beside `created_at` unless something changed.
    keys.retain(|key| *key != "updated_at");
    keys.truncate(MAX_COLUMNS);
    let header = keys.iter().map(|key| words(key).to_uppercase()).collect();
    let rows = items.iter().take(MAX_ROWS).map(|item| {
        let cell = |key: &&str| {
            let value = item.get(*key).filter(|value| !is_hidden(key, value));
            let value = value.map_or_else(String::new, |value| scalar(key, value));
            text::short_line(&value, MAX_CELL)
        };
        keys.iter().map(cell).collect()
    });
    Some(View::Table(header, rows.collect()))
}

/// Lists what one thing says.
fn fields(one: &Map<String, Value>) -> View {
    let said = one.iter().filter(|(key, value)| {
        let is_same = *key == "updated_at" && one.get("created_at") == Some(*value);
        let is_fine = *key == "status" && **value == "ok";
        !is_same && !is_fine && !is_hidden(key, value)
    });
    let mut said: Vec<(&String, &Value)> = said.collect();
    let rank = |key: &str| {
        FIRST
            .iter()
            .position(|first| *first == key)
            .unwrap_or(FIRST.len())
    };
    said.sort_by_key(|(key, _)| rank(key));
    let said = said.into_iter();
    View::Fields(
        said.map(|(key, value)| (words(key), scalar(key, value)))
            .collect(),
    )
}

/// Writes a value for people.
fn scalar(key: &str, value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) if key.ends_with("_at") || key.ends_with("_unix") => {
            let seconds = number.as_u64();
            // A time in milliseconds is one far in the future, taken for seconds.
            let milliseconds = seconds.map(|time| match time < 100_000_000_000 {
                true => time.saturating_mul(1000),
                false => time,
            });
            milliseconds.map_or_else(|| number.to_string(), clock::utc)
        }
        Value::Array(items) if items.iter().all(Value::is_object) => {
            let lines = items.iter().map(|item| {
                let title = FIRST
                    .iter()
                    .skip(1)
                    .find_map(|key| item.get(*key)?.as_str());
                let title = title.map_or_else(|| item.to_string(), str::to_owned);
                format!("- {title}")
            });
            lines.collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}

/// Writes a key as words.
fn words(key: &str) -> String {
    let key = key
        .strip_suffix("_at")
        .or_else(|| key.strip_suffix("_unix"))
        .unwrap_or(key);
    text::one_line(&key.replace('_', " "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(result: &Value) -> String {
        let called = json!({"name": "kv.sqlite.todo.list", "result": result});
        json!({"status": "ok", "abi_version": 1, "capability_result": called}).to_string()
    }

    #[test]
    fn a_list_is_a_table_without_what_nobody_stated() {
        let items = json!([{"id": 1, "user_id": "me", "title": "buy\u{1b}[2J milk", "notes": null,
            "created_at": 0, "updated_at": 0, "t_shirt_size": "XS", "estimate_likely_minutes": 75,
            "dependency_refs": []}]);
        let view = of(&answer(&json!({"status": "ok", "items": items}))).unwrap();
        let texts = |texts: &[&str]| {
            texts
                .iter()
                .map(|&text| text.to_owned())
                .collect::<Vec<_>>()
        };
        let row = texts(&["1", "buy\\u{1b}[2J milk", "1970-01-01 00:00:00"]);
        assert_eq!(
            view,
            View::Table(texts(&["ID", "TITLE", "CREATED"]), vec![row])
        );
        let none = of(&answer(&json!({"status": "ok", "due_tasks": []}))).unwrap();
        assert_eq!(none, View::Sentence("No due tasks.".to_owned()));
    }

    #[test]
    fn one_thing_is_lines_and_nothing_is_a_sentence() {
        let item =
            json!({"id": 1, "title": "x", "done": true, "steps": [{"title": "a"}], "notes": ""});
        let View::Fields(fields) = of(&answer(&json!({"status": "ok", "item": item}))).unwrap()
        else {
            panic!("fields")
        };
        let said: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(said, ["id=1", "title=x", "done=yes", "steps=- a"]);
        let done = of(&answer(&json!({"status": "ok"}))).unwrap();
        assert_eq!(done, View::Sentence("Done.".to_owned()));
    }

    #[test]
    fn what_is_no_such_answer_is_left_alone() {
        for content in [
            "",
            "x",
            "[]",
            "{}",
            "{\"a\": 1}",
            "{\"capability_result\": {\"result\": 1}}",
        ] {
            assert_eq!(of(content), None, "{content}");
        }
        let odd = answer(&json!({"items": [1, "x"]}));
        assert_eq!(of(&odd), None);
    }
}
