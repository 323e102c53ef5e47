//! `kv.sqlite.reminders.*`: titles that come up at a time.

use std::sync::Arc;

use rusqlite::{OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    Failure, check,
    handler::{Scope, reads, writes},
    page::{self, Zero},
    quotas,
    rows::{self, Completion, Id, Table},
};
use crate::{CallError, Capability, Spec};

/// The same title this close in time, in seconds, is the same reminder said twice.
const SAME: i64 = 2;

const REMINDERS: Spec = Spec {
    name: "",
    summary: "",
    arguments: "id*",
    result: "",
    owner: Some("reminders"),
    scope: None,
};

/// Returns the capabilities of this family.
pub(super) fn all() -> Vec<Arc<dyn Capability>> {
    vec![
        writes(
            Spec {
                name: "kv.sqlite.reminders.create",
                summary: "Makes a reminder; the same title within 2 seconds is the one already there, and of several times the first counts",
                arguments: "title*, one of delay_seconds*, in_seconds*, due_at* (seconds or milliseconds since 1970)",
                result: "{status, reminder}",
                ..REMINDERS
            },
            create,
        ),
        reads(
            Spec {
                name: "kv.sqlite.reminders.list",
                summary: "Lists reminders, the next one first",
                arguments: "status (open, completed, all), limit (20; 1 to 1000, or 0 for all)",
                result: "{status, reminders[], more?, limit?}",
                ..REMINDERS
            },
            list,
        ),
        writes(
            Spec {
                name: "kv.sqlite.reminders.complete",
                summary: "Marks a reminder as done",
                result: "{status, completed}",
                ..REMINDERS
            },
            complete,
        ),
        writes(
            Spec {
                name: "kv.sqlite.reminders.delete",
                summary: "Deletes a reminder",
                result: "{status, deleted}",
                ..REMINDERS
            },
            |scope, Id { id }| rows::delete(scope, Table::Reminders, *id),
        ),
        writes(
            Spec {
                name: "kv.sqlite.reminders.snooze",
                summary: "Puts a reminder off; one that is done or was given up is open again",
                arguments: "id*, one of delay_seconds*, in_seconds*, due_at*",
                result: "{status, snoozed}",
                ..REMINDERS
            },
            snooze,
        ),
        writes(
            Spec {
                name: "kv.sqlite.reminders.clear",
                summary: "Deletes the open reminders, the completed ones, or all",
                arguments: "status (open, completed, all)",
                result: "{status, deleted}",
                ..REMINDERS
            },
            clear,
        ),
    ]
}

/// One reminder.
#[derive(Serialize)]
struct Reminder {
    id: i64,
    title: String,
    due_at: i64,
    created_at: i64,
    completed_at: Option<i64>,
    fired_at: Option<i64>,
    /// How often it was tried to fire it.
    attempts: i64,
    last_error: Option<String>,
    /// When firing it was given up.
    parked_at: Option<i64>,
}

const COLUMNS: &str =
    "id, title, due_at, created_at, completed_at, fired_at, attempts, last_error, parked_at";

fn read(row: &Row<'_>) -> rusqlite::Result<Reminder> {
    Ok(Reminder {
        id: row.get(0)?,
        title: row.get(1)?,
        due_at: row.get(2)?,
        created_at: row.get(3)?,
        completed_at: row.get(4)?,
        fired_at: row.get(5)?,
        attempts: row.get(6)?,
        last_error: row.get(7)?,
        parked_at: row.get(8)?,
    })
}

/// The ways to say when. Of several the first one here counts.
struct When {
    delay_seconds: Option<i64>,
    in_seconds: Option<i64>,
    due_at: Option<i64>,
}

impl When {
    /// Returns the time that was given.
    fn seen_from(self, now: i64) -> Result<i64, CallError> {
        if let Some(seconds) = self.delay_seconds {
            return check::delay("delay_seconds", seconds, now);
        }
        if let Some(seconds) = self.in_seconds {
            return check::delay("in_seconds", seconds, now);
        }
        let Some(given) = self.due_at else {
            let problem = "is required, or delay_seconds, or in_seconds";
            return Err(CallError::invalid("due_at", problem));
        };
        check::time_or_milliseconds("due_at", given)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Create {
    title: String,
    delay_seconds: Option<i64>,
    in_seconds: Option<i64>,
    due_at: Option<i64>,
}

fn create(scope: &Scope<'_>, given: &Create) -> Result<Value, Failure> {
    check::filled("title", &given.title, check::TITLE)?;
    let when = When {
        delay_seconds: given.delay_seconds,
        in_seconds: given.in_seconds,
        due_at: given.due_at,
    };
    let due_at = when.seen_from(scope.now)?;
    let same = format!(
        "SELECT {COLUMNS} FROM reminders
         WHERE user_id = ? AND due_at BETWEEN ? AND ? AND title = ?
             AND completed_at IS NULL AND fired_at IS NULL
         ORDER BY id LIMIT 1"
    );
    let (from, to) = (due_at.saturating_sub(SAME), due_at.saturating_add(SAME));
    let there = scope
        .transaction
        .prepare_cached(&same)?
        .query_row(params![scope.user, from, to, given.title], read)
        .optional()?;
    let reminder = match there {
        Some(there) => there,
        None => insert(scope, &given.title, due_at)?,
    };
    Ok(json!({ "status": "ok", "reminder": page::to_json(&reminder)? }))
}

fn insert(scope: &Scope<'_>, title: &str, due_at: i64) -> Result<Reminder, Failure> {
    quotas::check(scope, Table::Reminders, 1)?;
    let sql = format!(
        "INSERT INTO reminders(user_id, title, due_at, created_at, origin, wake_at)
         VALUES(?1, ?2, ?3, ?4, ?5, ?3) RETURNING {COLUMNS}"
    );
    let values = params![scope.user, title, due_at, scope.now, scope.origin()];
    let mut statement = scope.transaction.prepare_cached(&sql)?;
    Ok(statement.query_row(values, read)?)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    status: Option<Completion>,
    limit: Option<i64>,
}

fn list(scope: &Scope<'_>, given: &List) -> Result<Value, Failure> {
    let limit = page::limit(given.limit, 20, Zero::All)?;
    let which = given.status.unwrap_or(Completion::Open);
    let sql = format!(
        "SELECT {COLUMNS} FROM reminders WHERE user_id = ? AND {} ORDER BY due_at, id LIMIT ?",
        which.condition()
    );
    page::list(scope, "reminders", &sql, limit, read)
}

fn complete(scope: &Scope<'_>, Id { id }: &Id) -> Result<Value, Failure> {
    let mut statement = scope.transaction.prepare_cached(
        "UPDATE reminders SET completed_at = coalesce(completed_at, ?1), wake_at = NULL
         WHERE user_id = ?2 AND id = ?3",
    )?;
    let completed = statement.execute(params![scope.now, scope.user, id])?;
    Ok(json!({ "status": "ok", "completed": completed > 0 }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Snooze {
    id: i64,
    delay_seconds: Option<i64>,
    in_seconds: Option<i64>,
    due_at: Option<i64>,
}

fn snooze(scope: &Scope<'_>, given: &Snooze) -> Result<Value, Failure> {
    let when = When {
        delay_seconds: given.delay_seconds,
        in_seconds: given.in_seconds,
        due_at: given.due_at,
    };
    let due_at = when.seen_from(scope.now)?;
    // Firing completes a reminder, and it is mostly then that it is put off. To the time at which it
    // has already fired it cannot be: that would be the same event.
    let mut statement = scope.transaction.prepare_cached(
        "UPDATE reminders SET due_at = ?1 + (due_at = ?1 AND fired_at IS NOT NULL),
             wake_at = ?1 + (due_at = ?1 AND fired_at IS NOT NULL), fired_at = NULL, completed_at = NULL,
             claimed_by = NULL, attempts = 0, last_error = NULL, parked_at = NULL
         WHERE user_id = ?2 AND id = ?3",
    )?;
    let snoozed = statement.execute(params![due_at, scope.user, given.id])?;
    Ok(json!({ "status": "ok", "snoozed": snoozed > 0 }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Clear {
    status: Option<Completion>,
}

fn clear(scope: &Scope<'_>, given: &Clear) -> Result<Value, Failure> {
    let which = given.status.unwrap_or(Completion::Open);
    rows::clear(scope, Table::Reminders, which.condition())
}
