//! `JP_CFG_*` variables as assignments.
//!
//! A name joins the parts of a key with `_`, which ids have too. The known keys and the ids that
//! exist decide what is meant. Reads no environment: it is handed in.

use serde_json::Value;

use crate::{
    assign::{Assignment, Given, Mode},
    error::{ConfigError, Problem},
    schema::{Shape, Step},
};

const PREFIX: &str = "JP_CFG_";
/// The most words a name may have; without a bound, the ways to read one could explode.
const MAX_WORDS: usize = 32;
const MAX_READINGS: usize = 64;

/// Returns the variables that are meant for the configuration, sorted by name.
pub(crate) fn ours(env: &[(String, String)]) -> Vec<(&str, &str)> {
    let pairs = env
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let mut ours: Vec<_> = pairs.filter(|(name, _)| name.starts_with(PREFIX)).collect();
    ours.sort_unstable();
    ours
}

/// Reads one variable. The value is text; `:` before it makes it JSON, `+` adds it to what is
/// there, and `\` keeps such a sign.
pub(crate) fn assignment(name: &str, value: &str, tree: &Value) -> Result<Assignment, ConfigError> {
    let path = path_of(name, tree)?;
    let (is_json, rest) = strip(value, ':');
    let (append, rest) = strip(rest, '+');
    let mode = if append { Mode::Append } else { Mode::Replace };
    let value = if is_json {
        let json = crate::json::parse(rest).map_err(|error| ConfigError {
            place: None,
            key: Some(crate::tree::dotted(&path)),
            problem: Problem::Invalid {
                message: format!("invalid JSON: {error}"),
            },
        })?;
        Given::Json(json)
    } else {
        Given::Text(rest.strip_prefix('\\').unwrap_or(rest).to_string())
    };
    Ok(Assignment::Set { path, value, mode })
}

fn strip(text: &str, sign: char) -> (bool, &str) {
    match text.strip_prefix(sign) {
        Some(rest) => (true, rest),
        None => (false, text),
    }
}

/// One way to read a name.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Reading {
    /// How many ids in it exist nowhere yet.
    new_ids: usize,
    path: Vec<String>,
}

fn path_of(name: &str, tree: &Value) -> Result<Vec<String>, ConfigError> {
    let fail = |problem| ConfigError::of_key(name.to_string(), problem);
    let words: Vec<&str> = name
        .get(PREFIX.len()..)
        .unwrap_or_default()
        .split('_')
        .collect();
    let mut readings = Vec::new();
    if words.len() <= MAX_WORDS {
        let start = Reading::default();
        read(&Shape::root(), &words, Some(tree), &start, &mut readings);
    }
    // An existing id beats a new one, and a key of an entry beats an entry with that name.
    readings.sort_by_key(|reading| (reading.new_ids, usize::MAX - reading.path.len()));
    match readings.as_slice() {
        [] => {
            let word = words
                .first()
                .map(|word| word.to_lowercase())
                .unwrap_or_default();
            let nearest = Shape::root().nearest(&word);
            Err(fail(Problem::UnknownKey { nearest }))
        }
        [best, next, ..] if best.new_ids == next.new_ids && best.path.len() == next.path.len() => {
            let [one, other] = [best, next].map(|reading| crate::tree::dotted(&reading.path));
            let message =
                format!("ambiguous: could be `{one}` or `{other}`; use `--cfg` to say which");
            Err(fail(Problem::Invalid { message }))
        }
        [best, ..] => Ok(best.path.clone()),
    }
}

fn read(
    shape: &Shape,
    words: &[&str],
    tree: Option<&Value>,
    so_far: &Reading,
    out: &mut Vec<Reading>,
) {
    if words.is_empty() {
        out.push(so_far.clone());
        return;
    }
    for count in 1..=words.len() {
        if out.len() >= MAX_READINGS {
            return;
        }
        let (head, rest) = words.split_at(count);
        let key = head.join("_").to_lowercase();
        let with = |part: &str, new_ids: usize| {
            let mut reading = so_far.clone();
            reading.path.push(part.to_string());
            reading.new_ids += new_ids;
            reading
        };
        match shape.step(&key) {
            Step::Known(next) => {
                let below = tree.and_then(|tree| tree.get(&key));
                read(&next, rest, below, &with(&key, 0), out);
            }
            Step::Entry(next) => {
                let entries = tree.and_then(Value::as_object);
                let existing = entries.and_then(|entries| {
                    entries.iter().find(|(id, _)| id.eq_ignore_ascii_case(&key))
                });
                match existing {
                    Some((id, below)) => read(&next, rest, Some(below), &with(id, 0), out),
                    None => read(&next, rest, None, &with(&key, 1), out),
                }
            }
            Step::Free if rest.is_empty() => out.push(with(&key, 0)),
            Step::Free | Step::Unknown => {}
        }
    }
}
