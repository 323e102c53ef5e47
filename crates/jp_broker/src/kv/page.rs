//! Lists: how many rows an answer holds, and how it says that there are more.

use rusqlite::{Row, params};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Failure, handler::Scope};
use crate::CallError;

/// The most rows of one answer.
const MOST: i64 = 1000;
/// The most text of one answer, in bytes: a thousand long notes would not pass anyone's limit.
const BYTES: usize = 4 * 1024 * 1024;

/// What `limit: 0` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Zero {
    /// All rows, as far as an answer reaches.
    All,
    /// Nothing that makes sense.
    Refused,
}

/// Reads how many rows are wanted.
pub(super) fn limit(given: Option<i64>, default: i64, zero: Zero) -> Result<i64, CallError> {
    match (given.unwrap_or(default), zero) {
        (0, Zero::All) => Ok(MOST),
        (wanted, _) if (1..=MOST).contains(&wanted) => Ok(wanted),
        (_, Zero::All) => {
            let problem = format!("must be between 1 and {MOST}, or 0 for all");
            Err(CallError::invalid("limit", &problem))
        }
        (_, Zero::Refused) => {
            let problem = format!("must be between 1 and {MOST}");
            Err(CallError::invalid("limit", &problem))
        }
    }
}

/// Lists rows under `key`. The statement takes the user and a number of rows; when rows are left out
/// the answer says `more: true` and how many it could hold.
pub(super) fn list<T: Serialize>(
    scope: &Scope<'_>,
    key: &'static str,
    sql: &str,
    limit: i64,
    read: fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Value, Failure> {
    let mut statement = scope.transaction.prepare_cached(sql)?;
    let mut found = statement.query(params![scope.user, limit.saturating_add(1)])?;
    let wanted = usize::try_from(limit).unwrap_or(0);
    let (mut rows, mut bytes, mut more) = (Vec::new(), 0_usize, false);
    while let Some(row) = found.next()? {
        let item = to_json(&read(row)?)?;
        bytes = bytes.saturating_add(weigh(&item));
        if rows.len() >= wanted || (bytes > BYTES && !rows.is_empty()) {
            more = true;
            break;
        }
        rows.push(item);
    }
    let shown = rows.len();
    let mut answer = json!({ "status": "ok", key: rows });
    if let (true, Some(answer)) = (more, answer.as_object_mut()) {
        answer.insert("more".to_owned(), true.into());
        answer.insert("limit".to_owned(), shown.into());
    }
    Ok(answer)
}

/// Turns a row into what a guest is told.
pub(super) fn to_json<T: Serialize>(item: &T) -> Result<Value, CallError> {
    serde_json::to_value(item).map_err(|error| CallError::internal(error.to_string()))
}

/// Estimates what a value takes as JSON. Values here are rows of ours, a few levels deep.
fn weigh(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len().saturating_add(2),
        Value::Array(values) => values.iter().map(weigh).sum(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| name.len().saturating_add(weigh(value)))
            .sum(),
        _ => 8,
    }
}
