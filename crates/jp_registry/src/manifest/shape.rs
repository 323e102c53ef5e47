//! Reading strictly: bounded, without unknown keys, and with the place of what is wrong.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

use super::ManifestError;

/// Deeper documents are refused; reading them is recursion.
const MAX_DEPTH: usize = 64;

/// The most values in a document.
const MAX_VALUES: usize = 20_000;

/// The most bytes of text in a document, keys included.
const MAX_BYTES: usize = 256 * 1024;

/// Reads a document of a stranger.
pub(crate) fn read<T: DeserializeOwned>(value: &Value) -> Result<T, ManifestError> {
    check_bounds(value)?;
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = pointer(error.path());
        explain(path, &error.inner().to_string())
    })
}

/// Checks how much there is of a document, without recursion.
fn check_bounds(value: &Value) -> Result<(), ManifestError> {
    let too_large = |what, most| Err(ManifestError::TooLarge { what, most });
    let (mut values, mut bytes) = (0_usize, 0_usize);
    let mut left = vec![(value, 1_usize)];
    while let Some((value, depth)) = left.pop() {
        values = values.saturating_add(1);
        if depth > MAX_DEPTH {
            return too_large("levels", MAX_DEPTH);
        }
        let next = depth.saturating_add(1);
        match value {
            Value::String(text) => bytes = bytes.saturating_add(text.len()),
            Value::Array(items) => {
                values = values.saturating_add(items.len());
                if values <= MAX_VALUES {
                    left.extend(items.iter().map(|item| (item, next)));
                }
            }
            Value::Object(map) => {
                values = values.saturating_add(map.len());
                if values <= MAX_VALUES {
                    bytes = map
                        .keys()
                        .fold(bytes, |sum, key| sum.saturating_add(key.len()));
                    left.extend(map.values().map(|value| (value, next)));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        if values > MAX_VALUES {
            return too_large("values", MAX_VALUES);
        }
        if bytes > MAX_BYTES {
            return too_large("bytes of text", MAX_BYTES);
        }
    }
    Ok(())
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => pointer.push_str(&format!("/{index}")),
            Segment::Map { key } => {
                pointer.push('/');
                pointer.push_str(&escaped(key));
            }
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    if pointer.is_empty() {
        pointer.push('/');
    }
    pointer
}

/// Returns a key as a part of a JSON pointer, fit for a message.
pub(crate) fn escaped(key: &str) -> String {
    jp_text::short_line(&key.replace('~', "~0").replace('/', "~1"), 80)
}

/// Turns serde's words into ours.
fn explain(path: String, words: &str) -> ManifestError {
    // The only way to learn from serde what it would have taken.
    let known = words
        .strip_prefix("unknown field `")
        .and_then(|rest| rest.rsplit_once("`, expected "));
    let Some((key, expected)) = known else {
        return ManifestError::Shape {
            path,
            problem: jp_text::short_line(words, 600),
        };
    };
    let names: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    let path = match path.rsplit_once('/') {
        Some((_, last)) if last == escaped(key) => path,
        _ => format!("{}/{}", path.trim_end_matches('/'), escaped(key)),
    };
    let hint = match nearest(key, &names) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("expected one of {}", names.join(", ")),
    };
    ManifestError::UnknownKey { path, hint }
}

/// Returns the known name that looks most like an unknown one.
pub(crate) fn nearest<'a>(unknown: &str, known: &[&'a str]) -> Option<&'a str> {
    let unknown: String = unknown.chars().take(64).collect();
    let reach = usize::max(2, unknown.chars().count() / 3);
    let near = known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(&unknown, name), *name));
    near.filter(|(distance, _)| *distance <= reach)
        .min()
        .map(|(_, name)| name)
}
