//! The rows of to-dos: read, checked and inserted, for `todo` and for the steps of plans.

use std::sync::LazyLock;

use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    Failure,
    handler::Scope,
    page::Listed,
    sizing::{Said, Size, size_up},
};
use crate::arguments::{
    Reference,
    kinds::{Many, Minutes, Notes, Points, Title},
};

/// The most references of one item.
pub(super) const MOST_REFERENCES: usize = 64;

/// One to-do.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
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
}

impl Listed for Todo {
    const KEY: &'static str = "items";
}

/// A to-do as a caller describes it.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct NewTodo {
    /// What is to be done.
    title: Title,
    /// Details.
    notes: Option<Notes>,
    /// Rough size of the work.
    t_shirt_size: Option<Size>,
    /// Size of the work in points.
    story_points: Option<Points>,
    /// Minutes it takes if all goes well.
    estimate_optimistic_minutes: Option<Minutes>,
    /// Minutes it most likely takes.
    estimate_likely_minutes: Option<Minutes>,
    /// Minutes it takes if much goes wrong.
    estimate_pessimistic_minutes: Option<Minutes>,
    /// What must be done before: ids or titles.
    dependency_refs: Option<Many<Reference, MOST_REFERENCES>>,
}

impl From<Title> for NewTodo {
    fn from(title: Title) -> Self {
        Self {
            title,
            notes: None,
            t_shirt_size: None,
            story_points: None,
            estimate_optimistic_minutes: None,
            estimate_likely_minutes: None,
            estimate_pessimistic_minutes: None,
            dependency_refs: None,
        }
    }
}

/// A to-do that is ready to be inserted.
pub(super) struct Item<'a> {
    pub(super) title: &'a str,
    pub(super) notes: Option<&'a str>,
    pub(super) said: Said,
    pub(super) references: Vec<&'a str>,
}

impl<'a> Item<'a> {
    pub(super) fn of(new: &'a NewTodo) -> Self {
        let references = new.dependency_refs.as_deref().unwrap_or_default();
        Self {
            title: &new.title,
            notes: new.notes.as_deref(),
            said: Said {
                size: new.t_shirt_size,
                points: new.story_points.map(Points::get),
                optimistic: new.estimate_optimistic_minutes.map(Minutes::get),
                likely: new.estimate_likely_minutes.map(Minutes::get),
                pessimistic: new.estimate_pessimistic_minutes.map(Minutes::get),
            },
            references: references.iter().map(Reference::as_str).collect(),
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
/// other. Where there is no room the position is NULL; `OR IGNORE` then inserts nothing.
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

/// Inserts a to-do that was checked. Returns nothing when there is no room for it, or when it is of a step of a
/// plan that has its to-do.
pub(super) fn insert(
    scope: &Scope<'_>,
    new: &Item<'_>,
    place: Place<'_>,
) -> Result<Option<Todo>, Failure> {
    let sizing = size_up(new.title, new.notes.unwrap_or_default(), &new.said);
    let (position, plan_step, most) = match place {
        Place::At {
            position,
            plan_step,
        } => (Some(position), plan_step, None),
        Place::End { most } => (None, None, Some(most)),
    };
    let references = json!(new.references);
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
    // Outside of a transaction this commits, and returns the error when it fails.
    rows.next()?;
    Ok(todo)
}
