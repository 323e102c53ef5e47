//! The text of an assignment: its key, its sign and its value.

use serde_json::Value;

use super::{Assignment, Given, Mode};
use crate::{
    error::{ConfigError, Problem},
    tree,
};

/// The most parts a key may have.
const MAX_PARTS: usize = 64;

impl Assignment {
    /// Parses an assignment.
    pub(crate) fn parse(text: &str) -> Result<Self, ConfigError> {
        let not_one = || ConfigError {
            place: None,
            key: None,
            problem: Problem::NotAnAssignment,
        };
        if text.trim_start().starts_with('{') {
            let tree = parse_json(text, String::new())?;
            return Ok(Self::Merge(tree));
        }
        let (key, value) = split(text).ok_or_else(not_one)?;
        let (key, mode) = match key.strip_suffix('+') {
            Some(key) => (key, Mode::Append),
            None => (key, Mode::Replace),
        };
        let (key, is_json) = match key.strip_suffix(':') {
            Some(key) => (key, true),
            None => (key, false),
        };
        let path = parse_path(key).ok_or_else(not_one)?;
        let value = if is_json {
            Given::Json(parse_json(value, tree::dotted(&path))?)
        } else {
            Given::Text(value.to_string())
        };
        Ok(Self::Set { path, value, mode })
    }
}

/// Splits at the first `=` that is not inside quotes.
fn split(text: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '=') => return Some((text.get(..at)?, text.get(at + 1..)?)),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    None
}

/// Splits a key into its parts.
fn parse_path(key: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut rest = key.trim();
    loop {
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let (part, after) = if let Some(quote) = quote {
            rest.get(1..)?.split_once(quote)?
        } else {
            let end = rest.find('.').unwrap_or(rest.len());
            rest.split_at_checked(end)?
        };
        if part.is_empty() || parts.len() == MAX_PARTS {
            return None;
        }
        parts.push(part.to_string());
        if after.is_empty() {
            return Some(parts);
        }
        rest = after.strip_prefix('.')?;
    }
}

fn parse_json(text: &str, key: String) -> Result<Value, ConfigError> {
    crate::json::parse(text).map_err(|error| ConfigError {
        place: None,
        key: (!key.is_empty()).then_some(key),
        problem: Problem::Invalid {
            message: format!("invalid JSON: {error}"),
        },
    })
}
