//! One task: read as a whole, or found to be changed.

use rusqlite::{OptionalExtension as _, Row, Transaction, params};

use super::{
    super::{Failure, number},
    Servers, fail_all, stored,
};
use crate::{Damage, Millis, ServerId, State, Task, TaskId};

/// What a change finds.
pub(super) enum Found {
    /// The owner has no such task, or not any more.
    Unknown,
    /// It has ended.
    Ended,
    /// It can be changed.
    Live(Live),
}

/// A task that has not ended.
pub(super) struct Live {
    pub(super) key: i64,
    /// What is outstanding, if it waits for answers.
    pub(super) requests: Option<String>,
    /// What was answered and not taken by the worker yet.
    pub(super) responses: Option<String>,
}

/// Finds a task of an owner to change it. One whose server is gone ends here.
pub(super) fn find(
    rows: &Transaction<'_>,
    servers: &Servers,
    owner: &str,
    id: &TaskId,
    now: Millis,
) -> Result<Found, Failure> {
    let sql = "SELECT key, server, CASE state WHEN 'input_required' THEN document END, responses,
             state IN ('working', 'input_required')
         FROM tasks WHERE owner = ?1 AND id = ?2 AND expires > ?3";
    let mut found = rows.prepare_cached(sql)?;
    let found = found.query_row(params![owner, id.as_str(), stored(now)], |row| {
        let live = Live {
            key: row.get(0)?,
            requests: row.get(2)?,
            responses: row.get(3)?,
        };
        Ok((live, row.get::<_, String>(1)?, row.get::<_, bool>(4)?))
    });
    let Some((live, server, is_unfinished)) = found.optional()? else {
        return Ok(Found::Unknown);
    };
    if !is_unfinished {
        return Ok(Found::Ended);
    }
    if server.parse().is_ok_and(|server| servers.lives(&server)) {
        return Ok(Found::Live(live));
    }
    fail_all(rows, &server, now)?;
    Ok(Found::Ended)
}

/// Reads a task of an owner.
pub(super) fn read(
    rows: &Transaction<'_>,
    owner: &str,
    id: &TaskId,
    now: Millis,
) -> Result<Option<Task>, Failure> {
    let sql = "SELECT server, tool, created, updated, ttl, poll_interval, message, state, document
         FROM tasks WHERE owner = ?1 AND id = ?2 AND expires > ?3";
    let mut found = rows.prepare_cached(sql)?;
    let read = |row: &Row<'_>| Ok(task(id, row));
    let found = found.query_row(params![owner, id.as_str(), stored(now)], read);
    found.optional()?.transpose()
}

fn task(id: &TaskId, row: &Row<'_>) -> Result<Task, Failure> {
    let server: ServerId = row.get::<_, String>(0)?.parse().map_err(|_| damaged())?;
    let state: String = row.get(7)?;
    Ok(Task {
        id: id.clone(),
        server,
        tool: row.get(1)?,
        created: number(row, 2)?,
        updated: number(row, 3)?,
        ttl: number(row, 4)?,
        poll_interval: number(row, 5)?,
        message: row.get(6)?,
        state: state_of(&state, row.get(8)?)?,
    })
}

fn state_of(state: &str, document: Option<String>) -> Result<State, Failure> {
    let kept = || document.ok_or_else(damaged);
    Ok(match state {
        "working" => State::Working,
        "input_required" => State::InputRequired { requests: kept()? },
        "completed" => State::Completed { result: kept()? },
        "failed" => State::Failed { error: kept()? },
        "cancelled" => State::Cancelled,
        _ => return Err(damaged()),
    })
}

const fn damaged() -> Failure {
    Failure::Damaged(Damage::NoState)
}
