//! The rows of to-dos: read, checked and inserted, for `todo` and for the steps of plans.

use std::{borrow::Cow, sync::LazyLock};

use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    Failure, check,
    handler::Scope,
    sizing::{Said, Size, size_up},
};
use crate::{Answer, CallError};

/// One to-do.
#[derive(Serialize)]
pub(super) struct Todo {
    pub(super) id: i64,
    user_id: String,
    title: String,
    notes: Option<String>,
    pub(super) position: i64,
    created_at: i64,
    updated_at: i64,
    completed_at: Option<i64>,
    t_shirt_size: String,
    story_points: i64,
    estimate_optimistic_minutes: i64,
    estimate_likely_minutes: i64,
    estimate_pessimistic_minutes: i64,
    dependency_refs: Value,
}

/// The columns of [`Todo::read`].
pub(super) const COLUMNS: &str = "id, user_id, title, notes, position, created_at, updated_at, \
    completed_at, t_shirt_size, story_points, estimate_optimistic_minutes, \
    estimate_likely_minutes, estimate_pessimistic_minutes, dependency_refs";

impl Todo {
    /// Reads a row of [`COLUMNS`].
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let references: String = row.get(13)?;
        Ok(Self {
            id: row.get(0)?,
            user_id: row.get(1)?,
            title: row.get(2)?,
            notes: row.get(3)?,
            position: row.get(4)?,
            created_at: row.get(5)?,
            updated_at: row.get(6)?,
            completed_at: row.get(7)?,
            t_shirt_size: row.get(8)?,
            story_points: row.get(9)?,
            estimate_optimistic_minutes: row.get(10)?,
            estimate_likely_minutes: row.get(11)?,
            estimate_pessimistic_minutes: row.get(12)?,
            dependency_refs: serde_json::from_str(&references).unwrap_or_default(),
        })
    }

    /// Turns it into the answer of a call about it.
    pub(super) fn answer(&self) -> Result<Answer, Failure> {
        #[derive(Serialize)]
        struct Told<'a> {
            status: &'static str,
            item: &'a Todo,
        }

        let (status, item) = ("ok", self);
        Ok(Answer::of(&Told { status, item })?)
    }
}

/// A to-do as a caller says it.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct NewTodo {
    pub(super) title: String,
    pub(super) notes: Option<String>,
    pub(super) t_shirt_size: Option<String>,
    pub(super) story_points: Option<i64>,
    pub(super) estimate_optimistic_minutes: Option<i64>,
    pub(super) estimate_likely_minutes: Option<i64>,
    pub(super) estimate_pessimistic_minutes: Option<i64>,
    pub(super) dependency_refs: Option<Vec<String>>,
}

impl NewTodo {
    /// Refuses what does not fit; `path` is put before the name of the field.
    pub(super) fn check(&self, path: &str) -> Result<(), CallError> {
        let field = |name: &'static str| match path {
            "" => Cow::Borrowed(name),
            path => Cow::Owned(format!("{path}{name}")),
        };
        check::filled(&field("title"), &self.title, check::TITLE)?;
        if let Some(notes) = &self.notes {
            check::text(&field("notes"), notes, check::TEXT)?;
        }
        let size = self.t_shirt_size.as_deref();
        if size.is_some_and(|size| Size::parse(size).is_none()) {
            let problem = format!("is none of {}", Size::WORDS);
            return Err(CallError::invalid(&field("t_shirt_size"), &problem));
        }
        let points = self.story_points;
        check::number(&field("story_points"), points, check::POINTS)?;
        for (name, minutes) in [
            (
                "estimate_optimistic_minutes",
                self.estimate_optimistic_minutes,
            ),
            ("estimate_likely_minutes", self.estimate_likely_minutes),
            (
                "estimate_pessimistic_minutes",
                self.estimate_pessimistic_minutes,
            ),
        ] {
            check::number(&field(name), minutes, check::MINUTES)?;
        }
        let references = self.dependency_refs.as_deref().unwrap_or_default();
        check::references(&field("dependency_refs"), references)
    }

    fn said(&self) -> Said {
        Said {
            size: self.t_shirt_size.as_deref().and_then(Size::parse),
            points: self.story_points,
            optimistic: self.estimate_optimistic_minutes,
            likely: self.estimate_likely_minutes,
            pessimistic: self.estimate_pessimistic_minutes,
        }
    }
}

/// Returns the last position of a user's to-dos.
pub(super) fn last_position(scope: &Scope<'_>) -> Result<i64, Failure> {
    let mut statement = scope
        .transaction
        .prepare_cached("SELECT max(position) FROM todo_items WHERE user_id = ?")?;
    let last: Option<i64> = statement.query_row([scope.user], |row| row.get(0))?;
    Ok(last.unwrap_or(0))
}

/// Where a new to-do goes.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// To a position that the transaction knows to be free.
    At {
        /// The position.
        position: i64,
        /// The step of a plan it is made of.
        plan_step: Option<&'a str>,
    },
    /// After the last one, if the user has fewer than this.
    End {
        /// The most to-dos a user may have.
        most: i64,
    },
}

/// Finding the end and counting what is there are part of the statement, so that one to-do needs no
/// other. A position that is NULL is one that there is no room for; `OR IGNORE` then inserts nothing.
static INSERT: LazyLock<String> = LazyLock::new(|| {
    format!(
        "INSERT OR IGNORE INTO todo_items(user_id, title, notes, position, created_at, updated_at,
             t_shirt_size, story_points, estimate_optimistic_minutes, estimate_likely_minutes,
             estimate_pessimistic_minutes, dependency_refs, plan_step_ref)
         VALUES(?1, ?2, ?3,
             ifnull(?4, iif(ifnull((SELECT rows FROM row_counts
                                    WHERE user_id = ?1 AND kind = 'todo_items'), 0) < ?13,
                            ifnull((SELECT max(position) FROM todo_items WHERE user_id = ?1), 0) + 1,
                            NULL)),
             ?5, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
         RETURNING {COLUMNS}"
    )
});

/// Inserts a to-do that was checked. Nothing when there is no room for it, or when it is of a step of a
/// plan that has its to-do.
pub(super) fn insert(
    scope: &Scope<'_>,
    new: &NewTodo,
    place: Place<'_>,
) -> Result<Option<Todo>, Failure> {
    let sizing = size_up(
        &new.title,
        new.notes.as_deref().unwrap_or_default(),
        &new.said(),
    );
    let (position, plan_step, most) = match place {
        Place::At {
            position,
            plan_step,
        } => (Some(position), plan_step, None),
        Place::End { most } => (None, None, Some(most)),
    };
    let references = json!(new.dependency_refs.as_deref().unwrap_or_default());
    let values = params![
        scope.user,
        new.title,
        new.notes,
        position,
        scope.now,
        sizing.size.word(),
        sizing.points,
        sizing.optimistic,
        sizing.likely,
        sizing.pessimistic,
        references.to_string(),
        plan_step,
        most,
    ];
    let mut statement = scope.transaction.prepare_cached(&INSERT)?;
    let mut rows = statement.query(values)?;
    let todo = rows.next()?.map(Todo::read).transpose()?;
    // Outside of a transaction this is what commits, and says so when it fails.
    rows.next()?;
    Ok(todo)
}
