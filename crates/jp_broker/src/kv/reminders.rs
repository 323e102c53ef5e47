//! `kv.sqlite.reminders.*`: titles that come up at a time.

use std::sync::Arc;

use rusqlite::{OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};

use super::{
    Failure,
    handler::{Scope, reads, writes},
    page::{self, Clear, List, Listed, Page},
    quotas,
    rows::{self, Completion, Id, Table},
};
use crate::{
    CallError, Code,
    answer::Status,
    arguments::kinds::{LAST_TIME, Seconds, TimeOrMilliseconds, Title},
    capability::{Known, Spec},
};

/// The same title this close in time, in seconds, is the same reminder, asked for twice.
const SAME: i64 = 2;

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary).on_data_of("reminders")
}

/// Returns the capabilities of this family.
pub(super) fn all() -> Vec<Arc<dyn Known>> {
    vec![
        writes(
            spec(
                "kv.sqlite.reminders.create",
                "Makes a reminder; the same title within 2 seconds is the one already there, and of several times the delay counts",
            ),
            create,
        ),
        reads(
            spec(
                "kv.sqlite.reminders.list",
                "Lists reminders, the next one first",
            ),
            list,
        ),
        writes(
            spec("kv.sqlite.reminders.complete", "Marks a reminder as done"),
            complete,
        ),
        writes(
            spec("kv.sqlite.reminders.delete", "Deletes a reminder"),
            |scope, Id { id }| rows::delete(scope, Table::Reminders, *id),
        ),
        writes(
            spec(
                "kv.sqlite.reminders.snooze",
                "Puts a reminder off; one that is done or was given up is open again",
            ),
            snooze,
        ),
        writes(
            spec(
                "kv.sqlite.reminders.clear",
                "Deletes the open reminders, the completed ones, or all",
            ),
            |scope, Clear::<Completion> { status }| {
                rows::clear(scope, Table::Reminders, status.condition())
            },
        ),
    ]
}

/// One reminder.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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

impl Listed for Reminder {
    const KEY: &'static str = "reminders";
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
    delay_seconds: Option<Seconds>,
    in_seconds: Option<Seconds>,
    due_at: Option<TimeOrMilliseconds>,
}

impl When {
    /// Returns the time that was given.
    fn seen_from(self, now: i64) -> Result<i64, CallError> {
        let delays = [
            ("delay_seconds", self.delay_seconds),
            ("in_seconds", self.in_seconds),
        ];
        let mut delays = delays.into_iter();
        match (
            delays.find_map(|(field, delay)| Some((field, delay?))),
            self.due_at,
        ) {
            (Some((field, delay)), _) => after(field, delay.get(), now),
            (None, Some(time)) => Ok(time.seconds()),
            (None, None) => Err(CallError::new(
                Code::InvalidArgs,
                "missing argument `due_at`, `delay_seconds` or `in_seconds`",
            )),
        }
    }
}

/// Returns the time after a delay.
fn after(field: &str, delay: i64, now: i64) -> Result<i64, CallError> {
    let longest = LAST_TIME.saturating_sub(now);
    if delay <= longest {
        return Ok(now.saturating_add(delay));
    }
    let problem = format!("expected 0 to {longest} seconds from now, found {delay}");
    Err(CallError::invalid(field, &problem))
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(extend("anyOf" = [
    { "required": ["due_at"] }, { "required": ["delay_seconds"] },
])))]
#[serde(deny_unknown_fields)]
struct Create {
    /// What to remind of.
    title: Title,
    /// In how many seconds.
    #[cfg_attr(test, schemars(extend("x-aliases" = ["in_seconds"])))]
    delay_seconds: Option<Seconds>,
    #[cfg_attr(test, schemars(skip))]
    in_seconds: Option<Seconds>,
    /// When, in seconds since 1970 (UTC).
    due_at: Option<TimeOrMilliseconds>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Made {
    status: Status,
    reminder: Reminder,
}

fn create(scope: &Scope<'_>, given: &Create) -> Result<Made, Failure> {
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
        .query_row(params![scope.user, from, to, &*given.title], read)
        .optional()?;
    let reminder = match there {
        Some(there) => there,
        None => insert(scope, &given.title, due_at)?,
    };
    Ok(Made {
        status: Status::Ok,
        reminder,
    })
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

fn list(scope: &Scope<'_>, given: &List<Completion, 20, 0>) -> Result<Page<Reminder>, Failure> {
    let sql = format!(
        "SELECT {COLUMNS} FROM reminders WHERE user_id = ? AND {} ORDER BY due_at, id LIMIT ?",
        given.status.condition()
    );
    page::list(scope, &sql, given.limit.get(), read)
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Completed {
    status: Status,
    completed: bool,
}

fn complete(scope: &Scope<'_>, Id { id }: &Id) -> Result<Completed, Failure> {
    let mut statement = scope.transaction.prepare_cached(
        "UPDATE reminders SET completed_at = coalesce(completed_at, ?1), wake_at = NULL
         WHERE user_id = ?2 AND id = ?3",
    )?;
    let completed = statement.execute(params![scope.now, scope.user, id])?;
    Ok(Completed {
        status: Status::Ok,
        completed: completed > 0,
    })
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(extend("anyOf" = [
    { "required": ["due_at"] }, { "required": ["delay_seconds"] },
])))]
#[serde(deny_unknown_fields)]
struct Snooze {
    /// The id, as list shows it.
    id: i64,
    /// In how many seconds.
    #[cfg_attr(test, schemars(extend("x-aliases" = ["in_seconds"])))]
    delay_seconds: Option<Seconds>,
    #[cfg_attr(test, schemars(skip))]
    in_seconds: Option<Seconds>,
    /// When, in seconds since 1970 (UTC).
    due_at: Option<TimeOrMilliseconds>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Snoozed {
    status: Status,
    snoozed: bool,
}

fn snooze(scope: &Scope<'_>, given: &Snooze) -> Result<Snoozed, Failure> {
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
    Ok(Snoozed {
        status: Status::Ok,
        snoozed: snoozed > 0,
    })
}
