//! What the families have in common: their tables, the row of an id, and deleting.

use serde::{Deserialize, Serialize};

use super::{Failure, handler::Scope};
use crate::{CallError, Code, answer::Status};

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

    /// Makes the error of an id that is not there. A row of another user is not there either.
    pub(super) fn not_found(self, id: i64) -> CallError {
        let message = format!("unknown id {id}: it is not among your {}", self.words());
        CallError::new(Code::NotFound, message)
    }
}

/// The arguments of a call about one row.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct Id {
    /// The id, as list shows it.
    pub(super) id: i64,
}

/// Which rows a call is about, where rows can be completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(test, derive(Serialize, schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(super) enum Completion {
    #[default]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(test, derive(Serialize, schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(super) enum Activity {
    #[default]
    All,
    Enabled,
    Disabled,
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

/// Whether a row was deleted.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Deleted {
    status: Status,
    deleted: bool,
}

/// How many rows were deleted.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Cleared {
    status: Status,
    deleted: usize,
}

/// Deletes one row, if it is there and the user's.
pub(super) fn delete(scope: &Scope<'_>, table: Table, id: i64) -> Result<Deleted, Failure> {
    let sql = format!("DELETE FROM {} WHERE user_id = ? AND id = ?", table.name());
    let deleted = scope
        .transaction
        .prepare_cached(&sql)?
        .execute((scope.user, id))?;
    Ok(Deleted {
        status: Status::Ok,
        deleted: deleted > 0,
    })
}

/// Deletes all rows of the user that meet a condition.
pub(super) fn clear(
    scope: &Scope<'_>,
    table: Table,
    condition: &'static str,
) -> Result<Cleared, Failure> {
    let sql = format!(
        "DELETE FROM {} WHERE user_id = ? AND {condition}",
        table.name()
    );
    let deleted = scope
        .transaction
        .prepare_cached(&sql)?
        .execute([scope.user])?;
    Ok(Cleared {
        status: Status::Ok,
        deleted,
    })
}
