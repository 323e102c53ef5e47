//! `kv.sqlite.tasks.*`: prompts that run at a time, once or at an interval.

use std::sync::Arc;

use rusqlite::params;
use serde::Deserialize;
use serde_json::Value;

use super::{
    Failure, check,
    handler::{Scope, reads, writes},
    quotas,
    rows::{self, Activity, Id, Table},
    scheduled::{self, Scheduled},
};
use crate::{Answer, Capability, Spec};

const TASKS: Spec = Spec {
    name: "",
    summary: "",
    arguments: "id*",
    result: "{status, task}",
    owner: Some("tasks"),
    scope: None,
};

/// Returns the capabilities of this family.
pub(super) fn all() -> Vec<Arc<dyn Capability>> {
    vec![
        writes(
            Spec {
                name: "kv.sqlite.tasks.schedule",
                summary: "Schedules a prompt for a time, and from then on at an interval if one is given",
                arguments: "name*, prompt*, run_at* (seconds since 1970), interval_minutes (0 or left out: once)",
                ..TASKS
            },
            schedule,
        ),
        reads(
            Spec {
                name: "kv.sqlite.tasks.list",
                summary: "Lists tasks, the next one first",
                arguments: "status (all, enabled, disabled), limit (50; 1 to 1000)",
                result: "{status, tasks[], more?, limit?}",
                ..TASKS
            },
            |scope, given| scheduled::list(scope, Table::Tasks, given, 50),
        ),
        writes(
            Spec {
                name: "kv.sqlite.tasks.enable",
                summary: "Switches a task on, also one that was given up",
                ..TASKS
            },
            |scope, Id { id }| scheduled::enable(scope, Table::Tasks, *id),
        ),
        writes(
            Spec {
                name: "kv.sqlite.tasks.disable",
                summary: "Switches a task off",
                ..TASKS
            },
            |scope, Id { id }| scheduled::disable(scope, Table::Tasks, *id),
        ),
        writes(
            Spec {
                name: "kv.sqlite.tasks.delete",
                summary: "Deletes a task",
                result: "{status, deleted}",
                ..TASKS
            },
            |scope, Id { id }| rows::delete(scope, Table::Tasks, *id),
        ),
        writes(
            Spec {
                name: "kv.sqlite.tasks.clear",
                summary: "Deletes all tasks, or those that are switched on or off",
                arguments: "status (all, enabled, disabled)",
                result: "{status, deleted}",
                ..TASKS
            },
            clear,
        ),
    ]
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Schedule {
    name: String,
    prompt: String,
    run_at: i64,
    interval_minutes: Option<i64>,
}

fn schedule(scope: &Scope<'_>, given: &Schedule) -> Result<Answer, Failure> {
    check::filled("name", &given.name, check::TITLE)?;
    check::filled("prompt", &given.prompt, check::TEXT)?;
    let run_at = check::time("run_at", given.run_at)?;
    // Zero says "once", as leaving it out does; anything else must be an interval.
    let interval = given.interval_minutes.filter(|minutes| *minutes != 0);
    if let Some(minutes) = interval {
        let least = scope.quotas.smallest_interval_minutes;
        check::interval("interval_minutes", minutes, least)?;
    }
    quotas::check(scope, Table::Tasks, 1)?;
    let sql = format!(
        "INSERT INTO scheduled_tasks(user_id, name, prompt, run_at, interval_minutes, created_at,
             updated_at, next_run_at, origin, wake_at)
         VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?6, max(?4, ?6), ?7, max(?4, ?6)) RETURNING {}",
        scheduled::columns(Table::Tasks),
    );
    let values = params![
        scope.user,
        given.name,
        given.prompt,
        run_at,
        interval,
        scope.now,
        scope.origin()
    ];
    let mut statement = scope.transaction.prepare_cached(&sql)?;
    statement.query_row(values, Scheduled::read)?.answer()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Clear {
    status: Option<Activity>,
}

fn clear(scope: &Scope<'_>, given: &Clear) -> Result<Value, Failure> {
    let which = given.status.unwrap_or(Activity::All);
    rows::clear(scope, Table::Tasks, which.condition())
}
