//! `kv.sqlite.tasks.*`: prompts that run at a time, once or at an interval.

use std::sync::Arc;

use rusqlite::params;
use serde::Deserialize;

use super::{
    Failure,
    handler::{Scope, reads, writes},
    page::Clear,
    quotas,
    rows::{self, Activity, Id, Table},
    scheduled::{self, OneTask},
};
use crate::{
    arguments::kinds::{MinutesOrOnce, Prose, Time, Title},
    capability::{Known, Spec},
};

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary).on_data_of("tasks")
}

/// Returns the capabilities of this family.
pub(super) fn all() -> Vec<Arc<dyn Known>> {
    vec![
        writes(
            spec(
                "kv.sqlite.tasks.schedule",
                "Schedules a prompt for a time, and from then on at an interval if one is given",
            ),
            schedule,
        ),
        reads(
            spec("kv.sqlite.tasks.list", "Lists tasks, the next one first"),
            |scope, given| scheduled::list::<50>(scope, Table::Tasks, given),
        ),
        writes(
            spec(
                "kv.sqlite.tasks.enable",
                "Switches a task on, also one that was given up",
            ),
            |scope, Id { id }| scheduled::enable(scope, Table::Tasks, *id),
        ),
        writes(
            spec("kv.sqlite.tasks.disable", "Switches a task off"),
            |scope, Id { id }| scheduled::disable(scope, Table::Tasks, *id),
        ),
        writes(
            spec("kv.sqlite.tasks.delete", "Deletes a task"),
            |scope, Id { id }| rows::delete(scope, Table::Tasks, *id),
        ),
        writes(
            spec(
                "kv.sqlite.tasks.clear",
                "Deletes all tasks, or those that are switched on or off",
            ),
            |scope, Clear::<Activity> { status }| {
                rows::clear(scope, Table::Tasks, status.condition())
            },
        ),
    ]
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Schedule {
    /// A short name.
    name: Title,
    /// What to do when the time has come.
    prompt: Prose,
    /// When, in seconds since 1970 (UTC).
    run_at: Time,
    /// Minutes until it is run again; 0 or left out: it is run once.
    interval_minutes: Option<MinutesOrOnce>,
}

fn schedule(scope: &Scope<'_>, given: &Schedule) -> Result<OneTask, Failure> {
    // Zero says "once", as leaving it out does; anything else must be an interval.
    let interval = given.interval_minutes.map(MinutesOrOnce::get);
    let interval = interval.filter(|minutes| *minutes != 0);
    if let Some(minutes) = interval {
        quotas::check_interval(scope, minutes)?;
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
        &*given.name,
        &*given.prompt,
        given.run_at.0,
        interval,
        scope.now,
        scope.origin()
    ];
    scheduled::insert(scope, &sql, values)
}
