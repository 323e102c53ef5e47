//! What the families have in common: their tables, the row of an id, and deleting.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Failure, handler::Scope};
use crate::{CallError, Code};

/// A table with rows of users. Statements are made from these words and never from a guest's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    Todos,
    Plans,
    Reminders,
    Tasks,
    Wakeups,
}

impl Table {
    /// Returns its name in SQL.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Todos => "todo_items",
            Self::Plans => "plans",
            Self::Reminders => "reminders",
            Self::Tasks => "scheduled_tasks",
            Self::Wakeups => "wakeup_tasks",
        }
    }

    /// Returns what its rows are called.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Todos => "todos",
            Self::Plans => "plans",
            Self::Reminders => "reminders",
            Self::Tasks => "tasks",
            Self::Wakeups => "wakeups",
        }
    }

    /// Makes the error of an id that is not there. Somebody else's row is not there either.
    pub(super) fn not_found(self, id: i64) -> CallError {
        let message = format!("there is no such id among your {}: {id}", self.words());
        CallError::new(Code::NotFound, message)
    }
}

/// The arguments of a call about one row.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Id {
    pub(super) id: i64,
}

/// Which rows a call is about, where rows can be done with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Completion {
    Open,
    Completed,
    All,
}

impl Completion {
    /// Returns the condition in SQL.
    pub(super) const fn condition(self) -> &'static str {
        match self {
            Self::Open => "completed_at IS NULL",
            Self::Completed => "completed_at IS NOT NULL",
            Self::All => "TRUE",
        }
    }
}

/// Which rows a call is about, where rows can be switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Activity {
    Enabled,
    Disabled,
    All,
}

impl Activity {
    /// Returns the condition in SQL.
    pub(super) const fn condition(self) -> &'static str {
        match self {
            Self::Enabled => "enabled = 1",
            Self::Disabled => "enabled = 0",
            Self::All => "TRUE",
        }
    }
}

/// Deletes one row, if it is there and the user's.
pub(super) fn delete(scope: &Scope<'_>, table: Table, id: i64) -> Result<Value, Failure> {
    let sql = format!("DELETE FROM {} WHERE user_id = ? AND id = ?", table.name());
    let deleted = scope
        .transaction
        .prepare_cached(&sql)?
        .execute((scope.user, id))?;
    Ok(json!({ "status": "ok", "deleted": deleted > 0 }))
}

/// Deletes all rows of the user that meet a condition.
pub(super) fn clear(
    scope: &Scope<'_>,
    table: Table,
    condition: &'static str,
) -> Result<Value, Failure> {
    let sql = format!(
        "DELETE FROM {} WHERE user_id = ? AND {condition}",
        table.name()
    );
    let deleted = scope
        .transaction
        .prepare_cached(&sql)?
        .execute([scope.user])?;
    Ok(json!({ "status": "ok", "deleted": deleted }))
}
