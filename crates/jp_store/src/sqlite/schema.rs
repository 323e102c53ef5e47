//! The tables, and how a file of an older version gets them. Knows nothing of what the rows mean.
//!
//! A file is ours by its `application_id`; its `user_version` counts the steps it has taken. A step
//! that was published is never changed: what comes later is a further step.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::Failure;
use crate::{Damage, StoreError};

/// Marks a file as ours: `jpst`.
pub(super) const APPLICATION_ID: i32 = 0x6a70_7374;

/// The steps from an empty file to the tables of today.
pub(super) const STEPS: &[&str] = &[include_str!("schema/1.sql"), include_str!("schema/2.sql")];

/// The tables that a file must have; without them it is damaged, whatever its version says.
const TABLES: &[&str] = &[
    "generation",
    "grants",
    "requests",
    "spent",
    "spent_forgotten",
    "spill_parts",
    "spill_usage",
    "spills",
    "tasks",
];

/// Takes the steps that a file has not taken yet, all or none of them.
pub(super) fn migrate(
    connection: &mut Connection,
    path: &Path,
    steps: &[&str],
) -> Result<(), StoreError> {
    let failed = |failure: Failure| failure.of(path);
    let taken = version(connection).map_err(|error| failed(error.into()))?;
    let Some(missing) = usize::try_from(taken).ok().and_then(|n| steps.get(n..)) else {
        return Err(StoreError::Newer {
            path: path.to_owned(),
            version: taken,
            known: steps.len(),
        });
    };
    if !missing.is_empty() {
        take(connection, missing, steps.len()).map_err(|error| failed(error.into()))?;
    }
    check_tables(connection).map_err(failed)
}

fn take(connection: &mut Connection, missing: &[&str], version: usize) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    for step in missing {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", version as i64)?;
    transaction.commit()
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

fn check_tables(connection: &Connection) -> Result<(), Failure> {
    let mut statement =
        connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
    let found: Vec<String> = statement
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let is_there = |table: &str| found.iter().any(|name| name == table);
    match TABLES.iter().find(|table| !is_there(table)) {
        Some(table) => Err(Failure::Damaged(Damage::NoTable(table))),
        None => Ok(()),
    }
}
