//! What becomes of an entry: whether it is jp's, and what of it its user keeps.

use serde_json::{Map, Value};

use super::{Change, error::EditError};

/// What says how jp is reached. All else in an entry may be the user's own choice and stays.
const TRANSPORT: &[&str] = &[
    "type",
    "command",
    "cmd",
    "args",
    "cwd",
    "url",
    "uri",
    "httpUrl",
    "headers",
    "bearer_token_env_var",
    "env_keys",
];

/// The variable of the environment that holds the token for a jp behind a URL.
pub(in super::super) const TOKEN: &str = "JP_TOKEN";

/// What a file should have.
pub(super) enum Wanted {
    /// What it has already.
    Nothing,
    Entry(Value),
    Removed,
}

/// Decides what becomes of the entry of a name.
pub(super) fn wanted(
    old: Option<Value>,
    name: &str,
    change: &Change<'_>,
) -> Result<Wanted, EditError> {
    let is_ours = old.as_ref().is_none_or(is_ours);
    if !is_ours && !change.is_forced() {
        return Err(EditError::Taken {
            name: name.to_owned(),
        });
    }
    Ok(match (old, change) {
        (None, Change::Remove { .. }) => Wanted::Nothing,
        (Some(_), Change::Remove { .. }) => Wanted::Removed,
        (None, Change::Add { entry, .. }) => Wanted::Entry((*entry).clone()),
        (Some(old), Change::Add { entry, .. }) => {
            let merged = match is_ours {
                true => merged(&old, entry),
                false => (*entry).clone(),
            };
            match merged == old {
                true => Wanted::Nothing,
                false => Wanted::Entry(merged),
            }
        }
    })
}

/// Says whether an entry starts jp, or reaches one with jp's token.
pub(in super::super) fn is_ours(entry: &Value) -> bool {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let mut words: Vec<&str> = Vec::new();
    for key in ["command", "cmd", "args"] {
        match entry.get(key) {
            Some(Value::String(word)) => words.push(word),
            Some(Value::Array(all)) => words.extend(all.iter().filter_map(Value::as_str)),
            _ => {}
        }
    }
    let program = words
        .first()
        .and_then(|word| word.rsplit(['/', '\\']).next());
    if matches!(program, Some("jp" | "jp.exe")) {
        return words.get(1) == Some(&"serve");
    }
    let header = entry
        .get("headers")
        .and_then(|all| all.get("Authorization"));
    let header = header.and_then(Value::as_str).unwrap_or_default();
    let is_remote = ["url", "uri", "httpUrl"]
        .iter()
        .any(|key| text(key).is_some());
    is_remote && (header.contains(TOKEN) || text("bearer_token_env_var") == Some(TOKEN))
}

/// Puts how jp is reached into the entry that is there.
fn merged(old: &Value, new: &Value) -> Value {
    let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else {
        return new.clone();
    };
    let kept = |key: &str| !TRANSPORT.contains(&key);
    // Where the new entry has no place for variables, none are lost with an empty table of them.
    let is_idle = |key: &str, value: &Value| {
        matches!(key, "env" | "environment") && value.as_object().is_some_and(Map::is_empty)
    };
    let mut merged = Map::new();
    for (key, value) in old {
        match new.get(key) {
            None if is_idle(key, value) => None,
            _ if kept(key) => merged.insert(key.clone(), value.clone()),
            Some(new) => merged.insert(key.clone(), new.clone()),
            None => None,
        };
    }
    for (key, value) in new {
        if !merged.contains_key(key) {
            merged.insert(key.clone(), value.clone());
        }
    }
    Value::Object(merged)
}
