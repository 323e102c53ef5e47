//! `kv.sqlite.wakeup.*`: prompts that run again and again.

use std::sync::Arc;

use rusqlite::params;
use serde::Deserialize;

use super::{
    Failure,
    handler::{Scope, reads, writes},
    quotas,
    rows::{self, Id, Table},
    scheduled::{self, OneTask},
};
use crate::{
    arguments::kinds::{Minutes, Prose, Title},
    capability::{Known, Spec},
};

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary).on_data_of("wakeup")
}

/// Returns the capabilities of this family.
pub(super) fn all() -> Vec<Arc<dyn Known>> {
    vec![
        writes(
            spec(
                "kv.sqlite.wakeup.create",
                "Makes a prompt run at an interval, for the first time when one has passed",
            ),
            create,
        ),
        reads(
            spec(
                "kv.sqlite.wakeup.list",
                "Lists wake-ups, the next one first",
            ),
            |scope, given| scheduled::list::<20>(scope, Table::Wakeups, given),
        ),
        writes(
            spec(
                "kv.sqlite.wakeup.enable",
                "Switches a wake-up on, also one that was given up",
            ),
            |scope, Id { id }| scheduled::enable(scope, Table::Wakeups, *id),
        ),
        writes(
            spec("kv.sqlite.wakeup.disable", "Switches a wake-up off"),
            |scope, Id { id }| scheduled::disable(scope, Table::Wakeups, *id),
        ),
        writes(
            spec("kv.sqlite.wakeup.delete", "Deletes a wake-up"),
            |scope, Id { id }| rows::delete(scope, Table::Wakeups, *id),
        ),
    ]
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Create {
    /// A short name.
    name: Title,
    /// What to do each time.
    prompt: Prose,
    /// Minutes from one time to the next.
    interval_minutes: Minutes,
}

fn create(scope: &Scope<'_>, given: &Create) -> Result<OneTask, Failure> {
    let minutes = given.interval_minutes.get();
    quotas::check_interval(scope, minutes)?;
    quotas::check(scope, Table::Wakeups, 1)?;
    let first = scope.now.saturating_add(minutes.saturating_mul(60));
    let sql = format!(
        "INSERT INTO wakeup_tasks(user_id, name, prompt, interval_minutes, created_at, updated_at,
             next_run_at, origin, wake_at)
         VALUES(?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7, ?6) RETURNING {}",
        scheduled::columns(Table::Wakeups),
    );
    let values = params![
        scope.user,
        &*given.name,
        &*given.prompt,
        minutes,
        scope.now,
        first,
        scope.origin()
    ];
    scheduled::insert(scope, &sql, values)
}
