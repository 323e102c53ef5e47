//! `kv.sqlite.wakeup.*`: prompts that run again and again.

use std::sync::Arc;

use rusqlite::params;
use serde::Deserialize;

use super::{
    Failure, check,
    handler::{Scope, reads, writes},
    quotas,
    rows::{self, Id, Table},
    scheduled::{self, Scheduled},
};
use crate::{Answer, Capability, Spec};

const WAKEUP: Spec = Spec {
    name: "",
    summary: "",
    arguments: "id*",
    result: "{status, task}",
    owner: Some("wakeup"),
    scope: None,
};

/// Returns the capabilities of this family.
pub(super) fn all() -> Vec<Arc<dyn Capability>> {
    vec![
        writes(
            Spec {
                name: "kv.sqlite.wakeup.create",
                summary: "Makes a prompt run at an interval, for the first time when one has passed",
                arguments: "name*, prompt*, interval_minutes* (at least 1)",
                ..WAKEUP
            },
            create,
        ),
        reads(
            Spec {
                name: "kv.sqlite.wakeup.list",
                summary: "Lists wake-ups, the next one first",
                arguments: "status (all, enabled, disabled), limit (20; 1 to 1000)",
                result: "{status, tasks[], more?, limit?}",
                ..WAKEUP
            },
            |scope, given| scheduled::list(scope, Table::Wakeups, given, 20),
        ),
        writes(
            Spec {
                name: "kv.sqlite.wakeup.enable",
                summary: "Switches a wake-up on, also one that was given up",
                ..WAKEUP
            },
            |scope, Id { id }| scheduled::enable(scope, Table::Wakeups, *id),
        ),
        writes(
            Spec {
                name: "kv.sqlite.wakeup.disable",
                summary: "Switches a wake-up off",
                ..WAKEUP
            },
            |scope, Id { id }| scheduled::disable(scope, Table::Wakeups, *id),
        ),
        writes(
            Spec {
                name: "kv.sqlite.wakeup.delete",
                summary: "Deletes a wake-up",
                result: "{status, deleted}",
                ..WAKEUP
            },
            |scope, Id { id }| rows::delete(scope, Table::Wakeups, *id),
        ),
    ]
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Create {
    name: String,
    prompt: String,
    interval_minutes: i64,
}

fn create(scope: &Scope<'_>, given: &Create) -> Result<Answer, Failure> {
    check::filled("name", &given.name, check::TITLE)?;
    check::filled("prompt", &given.prompt, check::TEXT)?;
    let least = scope.quotas.smallest_interval_minutes;
    check::interval("interval_minutes", given.interval_minutes, least)?;
    quotas::check(scope, Table::Wakeups, 1)?;
    let first = scope
        .now
        .saturating_add(given.interval_minutes.saturating_mul(60));
    let sql = format!(
        "INSERT INTO wakeup_tasks(user_id, name, prompt, interval_minutes, created_at, updated_at,
             next_run_at, origin, wake_at)
         VALUES(?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7, ?6) RETURNING {}",
        scheduled::columns(Table::Wakeups),
    );
    let values = params![
        scope.user,
        given.name,
        given.prompt,
        given.interval_minutes,
        scope.now,
        first,
        scope.origin()
    ];
    let mut statement = scope.transaction.prepare_cached(&sql)?;
    statement.query_row(values, Scheduled::read)?.answer()
}
