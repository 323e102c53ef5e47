//! Changing one key of a TOML file in place, with its comments and order kept.

use std::path::Path;

use serde_json::Value;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table};

use crate::{
    assign::{Assignment, Given, Mode},
    diagnose,
    document::{Document, Format},
    error::{ConfigError, Origin, Place, Problem},
    file::Reader,
    tree,
};

/// Applies an assignment to a TOML file; a file that does not exist is made.
///
/// The new file takes the place of the old one in one step, so that no reader sees half of it, and
/// nobody else changes it between the reading and the writing, so that no change is lost.
///
/// # Errors
///
/// When the file or the assignment is not what it must be, or writing fails; the file is as it
/// was then.
pub fn set(path: &Path, assignment: &str) -> Result<(), ConfigError> {
    let parsed = Assignment::parse(assignment).map_err(|error| located(assignment, error))?;
    change(path, &parsed, assignment)
}

/// Takes a key out of a TOML file.
///
/// # Errors
///
/// As [`set`].
pub fn unset(path: &Path, key: &[String]) -> Result<(), ConfigError> {
    let removal = Assignment::Set {
        path: key.to_vec(),
        value: Given::Json(Value::Null),
        mode: Mode::Replace,
    };
    change(path, &removal, &tree::dotted(key))
}

/// Tells whether a file has a key; one that does not exist has none.
///
/// # Errors
///
/// When the file cannot be read or understood.
pub fn holds(path: &Path, key: &[String]) -> Result<bool, ConfigError> {
    let document = Reader::default().read(path, None)?;
    let tree = document.as_ref().map(Document::parse).transpose()?;
    Ok(tree.is_some_and(|tree| tree::get(&tree, key).is_some()))
}

/// Reads a key as it is typed: words with dots between them, a word with dots in it in quotes.
///
/// # Errors
///
/// When it is not one, or no configuration can have it.
pub fn key(text: &str) -> Result<Vec<String>, ConfigError> {
    let parsed = Assignment::parse(&format!("{text}=")).map_err(|error| located(text, error))?;
    let key = match parsed {
        Assignment::Set {
            path,
            value: Given::Text(_),
            mode: Mode::Replace,
        } => path,
        _ => {
            let problem = Problem::NotAnAssignment;
            return Err(ConfigError::at(place(text), None, problem));
        }
    };
    diagnose::check_key(&key).map_err(|(key, problem)| {
        ConfigError::at(place(text), Some(tree::dotted(&key)), problem)
    })?;
    Ok(key)
}

fn place(text: &str) -> Place {
    Place::of(Origin::Setting(text.to_string()))
}

fn located(text: &str, error: ConfigError) -> ConfigError {
    ConfigError {
        place: Some(Box::new(place(text))),
        ..error
    }
}

/// Changes a file; `text` is what was typed.
fn change(path: &Path, parsed: &Assignment, text: &str) -> Result<(), ConfigError> {
    let located = |error| located(text, error);
    let failed = |error: std::io::Error| {
        let message = error.to_string();
        ConfigError::of_file(path, Problem::Write { message })
    };
    // Read only now: another process may have changed it while this one waited.
    let held = jp_disk::Held::take(path).map_err(failed)?;
    let document = Reader::default()
        .read(path, None)?
        .unwrap_or_else(|| Document {
            path: path.to_path_buf(),
            format: Format::Toml,
            text: String::new(),
        });
    if Format::of(path) != Some(Format::Toml) {
        let message = "only TOML files can be changed in place".to_string();
        return Err(ConfigError::of_file(path, Problem::Invalid { message }));
    }
    let mut wanted = document.parse()?;
    parsed.apply(&mut wanted).map_err(located)?;
    diagnose::check(&wanted).map_err(|(key, problem)| {
        ConfigError::at(document.place(&key), Some(tree::dotted(&key)), problem)
    })?;
    let text = edited(&document, parsed, &wanted)?;
    held.replace(text.as_bytes()).map_err(failed)
}

/// Writes the keys of an assignment into the text.
fn edited(
    document: &Document,
    assignment: &Assignment,
    wanted: &Value,
) -> Result<String, ConfigError> {
    let invalid =
        |message: String| ConfigError::of_file(&document.path, Problem::Invalid { message });
    let mut edit: DocumentMut = document
        .text
        .parse()
        .map_err(|error: toml_edit::TomlError| invalid(error.message().to_string()))?;
    for path in assignment.paths() {
        // An item of a list is changed by writing the list.
        let lists = |at: &usize| {
            let above = path.get(..*at).and_then(|above| tree::get(wanted, above));
            above.is_some_and(Value::is_array)
        };
        let end = (1..path.len()).find(lists).unwrap_or(path.len());
        let path = path.get(..end).unwrap_or_default();
        write(edit.as_item_mut(), path, tree::get(wanted, path));
    }
    let text = edit.to_string();
    let written = Document {
        text: text.clone(),
        ..document.clone()
    };
    // Whatever the text looked like before, it must now say what was wanted and nothing else.
    let (mut written, mut wanted) = (written.parse()?, wanted.clone());
    // A table that lost its last key needs no line of its own.
    tree::strip_empty(&mut written);
    tree::strip_empty(&mut wanted);
    if tree::delta(&written, &wanted, tree::Spot::Root).is_some() {
        let message = "the file cannot be changed in place; edit it by hand".to_string();
        return Err(invalid(message));
    }
    Ok(text)
}

fn write(mut at: &mut Item, path: &[String], value: Option<&Value>) {
    let Some((last, above)) = path.split_last() else {
        return;
    };
    for part in above {
        let Some(table) = at.as_table_like_mut() else {
            return;
        };
        if value.is_none() && !table.contains_key(part) {
            return;
        }
        at = table.entry(part).or_insert_with(|| {
            let mut table = Table::new();
            // Without this, `[conversation]` and `[conversation.tools]` would be written too.
            table.set_implicit(true);
            Item::Table(table)
        });
    }
    let Some(table) = at.as_table_like_mut() else {
        return;
    };
    match value.and_then(to_toml) {
        None => {
            table.remove(last);
        }
        Some(mut value) => {
            if let Some(old) = table.get(last).and_then(Item::as_value) {
                *value.decor_mut() = old.decor().clone();
            }
            table.insert(last, Item::Value(value));
        }
    }
}

fn to_toml(value: &Value) -> Option<toml_edit::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => match number.as_i64() {
            Some(number) => number.into(),
            None => number.as_f64()?.into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => {
            let items = items.iter().map(to_toml).collect::<Option<Array>>()?;
            toml_edit::Value::Array(items)
        }
        Value::Object(map) => {
            let mut table = InlineTable::new();
            for (key, value) in map {
                table.insert(key, to_toml(value)?);
            }
            toml_edit::Value::InlineTable(table)
        }
    })
}
