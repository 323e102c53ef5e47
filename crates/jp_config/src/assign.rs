//! Assignments: `key=value`, `key:=json`, `key+=value`, `key:+=json`, or a JSON object.
//!
//! A key is a path of words with dots between them; a word with dots in it is quoted. Text is turned
//! into whatever the key can hold: a text, a number, `true` or `false`, or a list split at commas.

mod parse;

use serde_json::{Map, Value};

use crate::{
    diagnose,
    error::{ConfigError, Problem},
    tree::{self, Spot},
};

/// A change to a configuration.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Assignment {
    /// A tree to merge at the root.
    Merge(Value),
    /// One key to set.
    Set {
        path: Vec<String>,
        value: Given,
        mode: Mode,
    },
}

/// A value as it was given.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Given {
    Text(String),
    Json(Value),
}

/// What becomes of the value that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Replace,
    Append,
}

impl Assignment {
    /// Returns the keys this sets.
    pub(crate) fn paths(&self) -> Vec<Vec<String>> {
        match self {
            Self::Set { path, .. } => vec![path.clone()],
            Self::Merge(tree) => {
                let mut paths = Vec::new();
                leaves(tree, Spot::Root, &mut Vec::new(), &mut paths);
                paths
            }
        }
    }

    /// Applies this to a tree; on an error the tree is as it was.
    pub(crate) fn apply(&self, tree: &mut Value) -> Result<(), ConfigError> {
        match self {
            Self::Merge(changes) => {
                let mut checked = changes.clone();
                tree::strip_nulls(&mut checked);
                diagnose::check(&checked).map_err(key_error)?;
                tree::merge(tree, changes.clone(), Spot::Root);
                Ok(())
            }
            Self::Set { path, value, mode } => {
                diagnose::check_key(path).map_err(key_error)?;
                if *value == Given::Json(Value::Null) {
                    remove(tree, path);
                    return Ok(());
                }
                let (path, value) = choose(tree, path, value, *mode)?;
                put(tree, &path, value)
            }
        }
    }
}

/// Finds the form of the value that the key can hold; the path ends before the first list index.
fn choose(
    tree: &Value,
    path: &[String],
    given: &Given,
    mode: Mode,
) -> Result<(Vec<String>, Value), ConfigError> {
    let mut first_error = None;
    for candidate in candidates(tree::get(tree, path), given, mode, path)? {
        let (path, value) = above_lists(tree, path, candidate)?;
        match diagnose::check_at(&path, &value) {
            Ok(()) => return Ok((path, value)),
            Err(finding) => first_error.get_or_insert(finding),
        };
    }
    let nothing = || (path.to_vec(), type_error("nothing fits"));
    Err(key_error(first_error.unwrap_or_else(nothing)))
}

/// Returns the values a given one can stand for, best first.
fn candidates(
    before: Option<&Value>,
    given: &Given,
    mode: Mode,
    path: &[String],
) -> Result<Vec<Value>, ConfigError> {
    let appended = before.filter(|_| mode == Mode::Append);
    Ok(match (appended, given) {
        (None, Given::Text(text)) => plain(text),
        (None, Given::Json(value)) => vec![value.clone()],
        (Some(Value::Array(items)), Given::Text(text)) => {
            let added = plain(text).into_iter().map(|value| match value {
                Value::Array(more) => more,
                one => vec![one],
            });
            // The list of texts first: that is what nearly all lists hold.
            let mut added: Vec<_> = added.collect();
            added.rotate_right(1);
            added
                .into_iter()
                .map(|more| [items.clone(), more].concat().into())
                .collect()
        }
        (Some(Value::Array(items)), Given::Json(Value::Array(more))) => {
            vec![[items.clone(), more.clone()].concat().into()]
        }
        (Some(Value::Array(items)), Given::Json(one)) => {
            vec![[items.clone(), vec![one.clone()]].concat().into()]
        }
        (Some(Value::String(before)), Given::Text(text) | Given::Json(Value::String(text))) => {
            vec![format!("{before}{text}").into()]
        }
        (Some(Value::Object(_)), Given::Json(table @ Value::Object(_))) => vec![table.clone()],
        (Some(_), _) => {
            let problem = type_error("cannot add this to the value that is there");
            return Err(key_error((path.to_vec(), problem)));
        }
    })
}

/// Returns what a text can stand for: itself, a truth value, a number, a list.
fn plain(text: &str) -> Vec<Value> {
    let mut values = vec![Value::String(text.to_string())];
    values.extend(text.parse::<bool>().ok().map(Value::Bool));
    values.extend(text.parse::<i64>().ok().map(Value::from));
    values.push(
        text.split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .collect(),
    );
    values
}

/// Turns "set item 2 of this list" into "set this list".
fn above_lists(
    tree: &Value,
    path: &[String],
    value: Value,
) -> Result<(Vec<String>, Value), ConfigError> {
    let is_list = |at: &usize| {
        let above = path.get(..*at).and_then(|above| tree::get(tree, above));
        above.is_some_and(Value::is_array)
    };
    let Some(at) = (1..path.len()).find(is_list) else {
        return Ok((path.to_vec(), value));
    };
    let (above, below) = path.split_at(at);
    let mut list = tree::get(tree, above).cloned().unwrap_or_default();
    put(&mut list, below, value).map_err(|error| ConfigError {
        key: Some(tree::dotted(path)),
        ..error
    })?;
    Ok((above.to_vec(), list))
}

/// Sets the value at a path; tables are merged into.
fn put(tree: &mut Value, path: &[String], value: Value) -> Result<(), ConfigError> {
    let fail = |message| Err(key_error((path.to_vec(), type_error(message))));
    let mut spot = Spot::Root;
    let mut at = tree;
    for part in path {
        spot = spot.child(part);
        if at.is_null() {
            *at = Value::Object(Map::new());
        }
        at = match at {
            Value::Object(map) => map.entry(part.as_str()).or_insert(Value::Null),
            Value::Array(items) => match part.parse::<usize>() {
                Ok(index) if index <= items.len() => {
                    if index == items.len() {
                        items.push(Value::Null);
                    }
                    match items.get_mut(index) {
                        Some(item) => item,
                        None => return fail("no such item"),
                    }
                }
                Ok(_) => return fail("no such item in the list"),
                Err(_) => return fail("expected the number of an item"),
            },
            _ => return fail("the key above it is not a table"),
        };
    }
    tree::merge(at, value, spot);
    Ok(())
}

fn remove(tree: &mut Value, path: &[String]) {
    let Some((last, above)) = path.split_last() else {
        return;
    };
    let parent = above.iter().try_fold(tree, |at, part| match at {
        Value::Object(map) => map.get_mut(part),
        Value::Array(items) => items.get_mut(part.parse::<usize>().ok()?),
        _ => None,
    });
    match parent {
        Some(Value::Object(map)) => {
            map.shift_remove(last);
        }
        Some(Value::Array(items)) => {
            if let Some(index) = last.parse().ok().filter(|index| *index < items.len()) {
                items.remove(index);
            }
        }
        _ => {}
    }
}

fn leaves(tree: &Value, spot: Spot, path: &mut Vec<String>, out: &mut Vec<Vec<String>>) {
    match tree {
        Value::Object(map) if spot != Spot::Whole && !map.is_empty() => {
            for (key, value) in map {
                path.push(key.clone());
                leaves(value, spot.child(key), path, out);
                path.pop();
            }
        }
        _ => out.push(path.clone()),
    }
}

fn type_error(message: &str) -> Problem {
    Problem::Invalid {
        message: format!("type error: {message}"),
    }
}

fn key_error((path, problem): diagnose::Finding) -> ConfigError {
    ConfigError::of_key(tree::dotted(&path), problem)
}
