//! How much one user may keep, and how often something may run.

use rusqlite::OptionalExtension as _;

use super::{Failure, handler::Scope, rows::Table};
use crate::{CallError, Code};

/// How much one user may keep, and how often something may run. All rows count, completed and
/// disabled ones too: the error at the limit names the call that makes room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quotas {
    /// To-dos, those made from plans included.
    pub todos: i64,
    /// Plans.
    pub plans: i64,
    /// Reminders.
    pub reminders: i64,
    /// Scheduled tasks.
    pub tasks: i64,
    /// Wake-ups.
    pub wakeups: i64,
    /// The shortest time between two runs of the same task or wake-up.
    pub smallest_interval_minutes: i64,
}

impl Default for Quotas {
    /// 10,000 to-dos, 1,000 of everything else, and a minute between two runs.
    fn default() -> Self {
        Self {
            todos: 10_000,
            plans: 1000,
            reminders: 1000,
            tasks: 1000,
            wakeups: 1000,
            smallest_interval_minutes: 1,
        }
    }
}

/// Refuses an interval that is shorter than this host allows.
pub(super) fn check_interval(scope: &Scope<'_>, minutes: i64) -> Result<(), CallError> {
    let least = scope.quotas.smallest_interval_minutes;
    if minutes >= least {
        return Ok(());
    }
    let problem = format!("expected at least {least}, found {minutes}");
    Err(CallError::invalid("interval_minutes", &problem))
}

/// Refuses rows beyond what a user may keep.
pub(super) fn check(scope: &Scope<'_>, table: Table, more: usize) -> Result<(), Failure> {
    let (most, way_out) = match table {
        Table::Todos => (scope.quotas.todos, "delete some or call `clear`"),
        Table::Plans => (scope.quotas.plans, "delete some or call `clear`"),
        Table::Reminders => (
            scope.quotas.reminders,
            "delete some or call `clear` with status `completed`",
        ),
        Table::Tasks => (
            scope.quotas.tasks,
            "delete some or call `clear` with status `disabled`",
        ),
        Table::Wakeups => (scope.quotas.wakeups, "delete some"),
    };
    let mut statement = scope
        .transaction
        .prepare_cached("SELECT rows FROM row_counts WHERE user_id = ? AND kind = ?")?;
    let kept = statement.query_row((scope.user, table.name()), |row| row.get(0));
    let kept: i64 = kept.optional()?.unwrap_or(0);
    if kept.saturating_add(i64::try_from(more).unwrap_or(i64::MAX)) <= most {
        return Ok(());
    }
    let message = format!(
        "a user may keep {most} {}, and {kept} are there; {way_out}",
        table.words()
    );
    Err(Failure::Call(CallError {
        reason: Some("quota"),
        ..CallError::new(Code::Conflict, message)
    }))
}
