//! What a guest may send: bounded texts, numbers and times. An error names the field.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::CallError;

/// The longest title or name, in bytes.
pub(super) const TITLE: usize = 1024;
/// The longest notes, prompt, goal or description, in bytes.
pub(super) const TEXT: usize = 64 * 1024;
/// The longest word: a status, a step's id, a date.
pub(super) const WORD: usize = 256;
/// The most items or steps of one call.
pub(super) const ITEMS: usize = 500;
/// The most references of one item.
pub(super) const REFERENCES: usize = 64;
/// The most story points, far beyond any use.
pub(super) const POINTS: i64 = 1000;
/// The longest estimate or interval: ten years, in minutes.
pub(super) const MINUTES: i64 = 10 * 365 * 24 * 60;
/// The last second of the year 9999.
const LAST_TIME: i64 = 253_402_300_799;
/// From here on a number of seconds is one of milliseconds.
const MILLISECONDS_FROM: i64 = 1_000_000_000_000;

/// Refuses a text that is too long.
pub(super) fn text(field: &str, text: &str, most: usize) -> Result<(), CallError> {
    if text.len() <= most {
        return Ok(());
    }
    let problem = format!("takes {} bytes; {most} are the most", text.len());
    Err(CallError::invalid(field, &problem))
}

/// Refuses a text that is too long, or says nothing.
pub(super) fn filled(field: &str, given: &str, most: usize) -> Result<(), CallError> {
    if given.trim().is_empty() {
        return Err(CallError::invalid(field, "is empty"));
    }
    text(field, given, most)
}

/// Refuses a list that is too long.
pub(super) fn count(field: &str, found: usize, most: usize) -> Result<(), CallError> {
    if found <= most {
        return Ok(());
    }
    let problem = format!("has {found} entries; {most} are the most");
    Err(CallError::invalid(field, &problem))
}

/// Refuses a number outside of 1 to `most`.
pub(super) fn number(field: &str, given: Option<i64>, most: i64) -> Result<(), CallError> {
    if given.is_none_or(|given| (1..=most).contains(&given)) {
        return Ok(());
    }
    let problem = format!("must be between 1 and {most}");
    Err(CallError::invalid(field, &problem))
}

/// Refuses references that are too many or too long.
pub(super) fn references(field: &str, given: &[String]) -> Result<(), CallError> {
    count(field, given.len(), REFERENCES)?;
    given
        .iter()
        .try_for_each(|reference| filled(field, reference, WORD))
}

/// Refuses a point in time before 1970 or after the year 9999.
pub(super) fn time(field: &str, given: i64) -> Result<i64, CallError> {
    if (0..=LAST_TIME).contains(&given) {
        return Ok(given);
    }
    let problem = format!("must be between 0 and {LAST_TIME}, in seconds since 1970 (UTC)");
    Err(CallError::invalid(field, &problem))
}

/// Reads a point in time in seconds or milliseconds.
pub(super) fn time_or_milliseconds(field: &str, given: i64) -> Result<i64, CallError> {
    let milliseconds = given >= MILLISECONDS_FROM;
    time(field, if milliseconds { given / 1000 } else { given })
}

/// Reads a delay from now.
pub(super) fn delay(field: &str, seconds: i64, now: i64) -> Result<i64, CallError> {
    let longest = LAST_TIME.saturating_sub(now);
    if (0..=longest).contains(&seconds) {
        return Ok(now.saturating_add(seconds));
    }
    let problem = format!("must be between 0 and {longest} seconds from now");
    Err(CallError::invalid(field, &problem))
}

/// Refuses an interval that is too short or too long.
pub(super) fn interval(field: &str, minutes: i64, least: i64) -> Result<(), CallError> {
    if (least..=MINUTES).contains(&minutes) {
        return Ok(());
    }
    let problem = format!("must be between {least} and {MINUTES} minutes");
    Err(CallError::invalid(field, &problem))
}

/// Reads one entry of a list; an error names the entry.
pub(super) fn entry<T: DeserializeOwned>(path: &str, value: &Value) -> Result<T, CallError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let field = match error.path().to_string() {
            field if field == "." => path.to_owned(),
            field => format!("{path}.{field}"),
        };
        CallError::invalid(&field, &format!("does not fit: {}", error.into_inner()))
    })
}
