//! What tasks and wake-ups have in common: a prompt that runs later, once or again and again.

use rusqlite::{OptionalExtension as _, Row, params};
use serde::Serialize;

use super::{
    Failure,
    handler::Scope,
    page::{self, List, Listed, Page},
    rows::{Activity, Table},
};
use crate::answer::Status;

/// One task or wake-up.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Scheduled {
    id: i64,
    user_id: String,
    name: String,
    prompt: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_at: Option<i64>,
    interval_minutes: Option<i64>,
    enabled: bool,
    created_at: i64,
    updated_at: i64,
    last_run_at: Option<i64>,
    next_run_at: i64,
    /// Who put it there: the prompt runs unattended.
    origin: String,
    /// How often the run at `next_run_at` was tried.
    attempts: i64,
    last_error: Option<String>,
    /// When it was given up; switching it on again tries anew.
    parked_at: Option<i64>,
}

/// Returns the columns of [`Scheduled::read`].
pub(super) const fn columns(table: Table) -> &'static str {
    match table {
        Table::Tasks => {
            "id, user_id, name, prompt, run_at, interval_minutes, enabled, created_at, updated_at, \
             last_run_at, next_run_at, origin, attempts, last_error, parked_at"
        }
        _ => {
            "id, user_id, name, prompt, NULL, interval_minutes, enabled, created_at, updated_at, \
             last_run_at, next_run_at, origin, attempts, last_error, parked_at"
        }
    }
}

impl Scheduled {
    /// Reads a row of [`columns`].
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            user_id: row.get(1)?,
            name: row.get(2)?,
            prompt: row.get(3)?,
            run_at: row.get(4)?,
            interval_minutes: row.get(5)?,
            enabled: row.get(6)?,
            created_at: row.get(7)?,
            updated_at: row.get(8)?,
            last_run_at: row.get(9)?,
            next_run_at: row.get(10)?,
            origin: row.get(11)?,
            attempts: row.get(12)?,
            last_error: row.get(13)?,
            parked_at: row.get(14)?,
        })
    }

    /// Turns it into the answer of a call about it.
    fn answer(self) -> OneTask {
        OneTask {
            status: Status::Ok,
            task: self,
        }
    }
}

/// The answer of a call about one task or wake-up.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct OneTask {
    status: Status,
    task: Scheduled,
}

impl Listed for Scheduled {
    const KEY: &'static str = "tasks";
}

/// Inserts a task or wake-up by a statement that returns [`columns`].
pub(super) fn insert(
    scope: &Scope<'_>,
    sql: &str,
    values: impl rusqlite::Params,
) -> Result<OneTask, Failure> {
    let mut statement = scope.transaction.prepare_cached(sql)?;
    Ok(statement.query_row(values, Scheduled::read)?.answer())
}

/// Lists tasks or wake-ups, the next one first.
pub(super) fn list<const USUAL: i64>(
    scope: &Scope<'_>,
    table: Table,
    given: &List<Activity, USUAL, 1>,
) -> Result<Page<Scheduled>, Failure> {
    let sql = format!(
        "SELECT {} FROM {} WHERE user_id = ? AND {} ORDER BY next_run_at, id LIMIT ?",
        columns(table),
        table.name(),
        given.status.condition(),
    );
    page::list(scope, &sql, given.limit.get(), Scheduled::read)
}

/// Switches a task or wake-up on. One that is on and waiting stays as it is; any other is due at its
/// time or, when that has passed, at once, and what went wrong before is forgotten. A run that was
/// already done is not repeated under its old time: the same time would be the same event.
pub(super) fn enable(scope: &Scope<'_>, table: Table, id: i64) -> Result<OneTask, Failure> {
    let next = "max(next_run_at + (interval_minutes IS NULL AND last_run_at IS NOT NULL), ?1)";
    let sql = format!(
        "UPDATE {table} SET enabled = 1, updated_at = ?1, attempts = 0, last_error = NULL,
             parked_at = NULL, claimed_by = NULL, next_run_at = {next}, wake_at = {next}
         WHERE user_id = ?2 AND id = ?3 AND (enabled = 0 OR parked_at IS NOT NULL)
         RETURNING {columns}",
        table = table.name(),
        columns = columns(table),
    );
    let changed = scope
        .transaction
        .prepare_cached(&sql)?
        .query_row(params![scope.now, scope.user, id], Scheduled::read)
        .optional()?;
    match changed {
        Some(changed) => Ok(changed.answer()),
        None => Ok(get(scope, table, id)?.answer()),
    }
}

/// Switches a task or wake-up off.
pub(super) fn disable(scope: &Scope<'_>, table: Table, id: i64) -> Result<OneTask, Failure> {
    let sql = format!(
        "UPDATE {} SET enabled = 0, updated_at = ?1, wake_at = NULL
         WHERE user_id = ?2 AND id = ?3 RETURNING {}",
        table.name(),
        columns(table),
    );
    let changed = scope
        .transaction
        .prepare_cached(&sql)?
        .query_row(params![scope.now, scope.user, id], Scheduled::read)
        .optional()?;
    Ok(changed.ok_or_else(|| table.not_found(id))?.answer())
}

fn get(scope: &Scope<'_>, table: Table, id: i64) -> Result<Scheduled, Failure> {
    let sql = format!(
        "SELECT {} FROM {} WHERE user_id = ? AND id = ?",
        columns(table),
        table.name(),
    );
    let found = scope
        .transaction
        .prepare_cached(&sql)?
        .query_row(params![scope.user, id], Scheduled::read)
        .optional()?;
    Ok(found.ok_or_else(|| table.not_found(id))?)
}
