//! Which arguments a remembered approval covers: those of the call it was given for, but for some whose text
//! fits a pattern with `*`.
//!
//! A `*` stands for what a person would take it for and not for what a model can smuggle in: no control
//! character, nothing that ends one command and starts another, and no step out of a directory.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Arguments that are covered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pattern {
    /// Arguments whose text fits.
    pub(super) fits: Map<String, Value>,
    /// All others, as they must be.
    pub(super) rest: Map<String, Value>,
}

impl Pattern {
    /// Reads a pattern as it is stored.
    pub(super) fn read(text: &str) -> Option<Self> {
        let pattern: Self = serde_json::from_str(text).ok()?;
        let all_text = pattern.fits.values().all(Value::is_string);
        all_text.then_some(pattern)
    }

    /// Tells whether arguments are covered: all are there, none is besides.
    pub(super) fn fits(&self, arguments: &Map<String, Value>) -> bool {
        arguments.len() == self.fits.len() + self.rest.len()
            && self
                .rest
                .iter()
                .all(|(key, value)| arguments.get(key) == Some(value))
            && self.fits.iter().all(|(key, pattern)| {
                let pattern = pattern.as_str().unwrap_or_default();
                arguments
                    .get(key)
                    .is_some_and(|value| value_fits(pattern, value))
            })
    }
}

fn value_fits(pattern: &str, value: &Value) -> bool {
    match value {
        Value::String(text) => text_fits(pattern, text),
        Value::Object(_) | Value::Array(_) => pattern == "*",
        plain => text_fits(pattern, &plain.to_string()),
    }
}

/// Tells whether a text fits. Takes the first place where each part fits, so it takes time that grows with
/// the text alone; what would fit only elsewhere is asked again.
fn text_fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut left) = text.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return left.is_empty();
    };
    if text.split(['/', '\\']).any(|step| step == "..") {
        return false;
    }
    for part in middle {
        let Some((before, behind)) = left.split_once(part) else {
            return false;
        };
        if !is_plain(before) {
            return false;
        }
        left = behind;
    }
    left.strip_suffix(last).is_some_and(is_plain)
}

/// Tells whether a text is one that `*` stands for.
fn is_plain(text: &str) -> bool {
    !text
        .chars()
        .any(|c| c.is_control() || jp_text::is_hidden(c) || ";&|$`<>(){}".contains(c))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_star_stands_for_what_a_person_takes_it_for() {
        for (pattern, text, expected) in [
            ("src/*", "src/a.rs", true),
            ("src/*", "src/a/b.rs", true),
            ("src/*.rs", "src/a/b.rs", true),
            ("src/*.rs", "src/a.rs.sh", false),
            ("*a*b*", "xaxbx", true),
            ("*a*b*", "xbxax", false),
            ("*", "", true),
            ("*", "anything at all", true),
            ("a*a", "a", false),
            ("plain", "plain", true),
            ("plain", "plainer", false),
            ("a; b", "a; b", true),
            // Out of the directory, into another command, or past what a person can see.
            ("src/*", "src/../../etc/passwd", false),
            ("src/*", "src/..", false),
            ("git status*", "git status; rm -rf /", false),
            ("git status*", "git status\nrm -rf /", false),
            ("git status*", "git status $(rm)", false),
            ("git status*", "git status -s", true),
            ("git * -s", "git a && b -s", false),
            ("*", "a\u{202e}b", false),
        ] {
            assert_eq!(text_fits(pattern, text), expected, "{pattern} {text:?}");
        }
    }

    #[test]
    fn arguments_that_are_not_named_are_as_they_were() {
        let pattern = json!({"fits": {"path": "src/*"}, "rest": {"mode": "r", "deep": {"a": 1}}});
        let pattern = Pattern::read(&pattern.to_string()).unwrap();
        let with = |mut more: Value, path: &str| {
            more["path"] = json!(path);
            pattern.fits(more.as_object().unwrap())
        };
        let rest = json!({"mode": "r", "deep": {"a": 1}});
        assert!(with(rest.clone(), "src/a"));
        assert!(!with(rest, "lib/a"));
        for other in [
            json!({"mode": "w", "deep": {"a": 1}}),
            json!({"mode": "r"}),
            json!({"mode": "r", "deep": {"a": 1}, "force": true}),
            json!({"mode": "r", "deep": {"a": 2}}),
        ] {
            assert!(!with(other.clone(), "src/a"), "{other}");
        }
        for broken in ["", "{}", "[]", r#"{"fits":{"a":1},"rest":{}}"#] {
            assert_eq!(Pattern::read(broken), None);
        }
    }

    #[test]
    fn a_long_pattern_takes_no_longer_than_the_text() {
        let pattern = "*a".repeat(8_000);
        assert!(!text_fits(
            &pattern,
            &"a".repeat(1_000_000).replace('a', "ab")
        ));
    }
}
