//! Audit records of the caller. A record of somebody else is as if it were not there.

use jp_audit::{Entry, Reader};
use serde_json::{Map, Value};

use super::{read::ReadError, uri};
use crate::principal::Served;

/// As many records are in `jp://audit/recent`.
const RECENT: usize = 50;

/// As many records are looked at for suggestions.
const SUGGESTED: usize = 1_000;

/// What of a record is about the log and not about the call.
const CHAIN: [&str; 3] = ["prev", "mac", "arguments_hash"];

/// Returns the newest records of the caller, oldest first.
pub(super) fn recent(shared: &Served) -> Result<Value, ReadError> {
    let records = newest(shared, RECENT)?;
    let records = records.iter().filter_map(shown).map(Value::Object);
    Ok(Value::Array(records.collect()))
}

/// Returns one record of the caller.
pub(super) fn record(shared: &Served, number: u64) -> Result<Value, ReadError> {
    // The search ends where the record would stand: who looks for others' records learns nothing from
    // how much of the log was read.
    let found = reader(shared)?.tail(1, |entry| entry.seq <= number)?;
    let found = found.into_iter().filter_map(Result::ok);
    let mut found = found.filter(|entry| entry.seq == number && is_of(entry, shared));
    let record = found.next().as_ref().and_then(shown);
    record.map(Value::Object).ok_or(ReadError::Unknown)
}

/// Returns the number of the caller's newest record; 0 when there is none.
pub(super) fn last(shared: &Served) -> u64 {
    let newest = newest(shared, 1).unwrap_or_default();
    newest.last().map_or(0, |entry| entry.seq)
}

/// Returns the numbers of the caller's newest records, newest first.
pub(crate) fn numbers(shared: &Served) -> Vec<String> {
    let records = newest(shared, SUGGESTED).unwrap_or_default();
    let numbers = records.iter().rev().map(|entry| entry.seq.to_string());
    numbers.collect()
}

/// Returns the newest records of the caller, oldest first.
fn newest(shared: &Served, count: usize) -> Result<Vec<Entry>, ReadError> {
    let found = reader(shared)?.tail(count, |entry| is_of(entry, shared))?;
    // A damaged line is for `jp audit verify` to report.
    Ok(found.into_iter().filter_map(Result::ok).collect())
}

fn reader(shared: &Served) -> Result<Reader, ReadError> {
    let dir = shared.live().places().audit_dir()?;
    Ok(Reader::open(&dir)?)
}

/// Tells whether a record is of a call that the caller made. What the log says of itself is nobody's.
fn is_of(entry: &Entry, shared: &Served) -> bool {
    entry.event.is_none() && entry.principal == shared.principal()
}

fn shown(entry: &Entry) -> Option<Map<String, Value>> {
    let mut record: Map<String, Value> = serde_json::from_str(&entry.raw).ok()?;
    record.retain(|key, _| !CHAIN.contains(&key.as_str()));
    record.insert("uri".to_owned(), uri::of_record(entry.seq).into());
    Some(record)
}
