//! The rows of plans.

use rusqlite::Row;
use serde::Serialize;
use serde_json::Value;

use crate::kv::page::Listed;

/// One plan.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Plan {
    pub(super) id: i64,
    user_id: String,
    title: String,
    goal: String,
    steps: Value,
    status: String,
    created_at: i64,
    updated_at: i64,
}

impl Listed for Plan {
    const KEY: &'static str = "plans";
}

/// The columns of [`read`].
pub(super) const COLUMNS: &str =
    "id, user_id, title, goal, steps_json, status, created_at, updated_at";

/// Reads a row of [`COLUMNS`].
pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Plan> {
    let steps: Option<String> = row.get(4)?;
    Ok(Plan {
        id: row.get(0)?,
        user_id: row.get(1)?,
        title: row.get(2)?,
        goal: row.get(3)?,
        steps: steps
            .and_then(|steps| serde_json::from_str(&steps).ok())
            .unwrap_or_default(),
        status: row.get(5)?,
        created_at: row.get(6)?,
        updated_at: row.get(7)?,
    })
}
