//! Tasks as rows.

mod answers;
mod rows;

use rusqlite::{Transaction, params};

use self::rows::{Found, Live, find, read};
use super::{Failure, Store, number, servers::Servers, stored};
use crate::{
    Answered, Change, MAX_MESSAGE, MAX_TOOL, Millis, NewTask, STOPPED, ServerId, StoreError, Taken,
    Task, TaskId, Tasks, Updated,
    limits::{check, check_document, check_owner, members},
};

/// How many rows one transaction of a sweep deletes; each may be some MiB.
const BATCH: i64 = 64;

impl Tasks for Store {
    fn server(&self) -> &ServerId {
        self.servers.own()
    }

    fn create(&self, owner: &str, task: &NewTask<'_>, now: Millis) -> Result<TaskId, StoreError> {
        check_owner(owner)?;
        check("tool", task.tool.len(), MAX_TOOL)?;
        check_message(task.message)?;
        let id = TaskId::random()?;
        self.write(|rows| {
            make_room(rows, owner, task.most, now)?;
            insert(rows, owner, &id, self.servers.own(), task, now)?;
            Ok(id)
        })
    }

    fn get(&self, owner: &str, id: &TaskId, now: Millis) -> Result<Option<Task>, StoreError> {
        let found = self.look(|rows| read(rows, owner, id, now))?;
        let is_orphan = |task: &Task| is_unfinished(task) && !self.servers.lives(&task.server);
        if !found.as_ref().is_some_and(is_orphan) {
            return Ok(found);
        }
        self.write(|rows| {
            find(rows, &self.servers, owner, id, now)?;
            read(rows, owner, id, now)
        })
    }

    fn update(
        &self,
        owner: &str,
        id: &TaskId,
        change: &Change<'_>,
        now: Millis,
    ) -> Result<Updated, StoreError> {
        check_change(change)?;
        self.write(|rows| match find(rows, &self.servers, owner, id, now)? {
            Found::Unknown => Ok(Updated::Unknown),
            Found::Ended => Ok(Updated::Ended),
            Found::Live(live) => {
                apply(rows, &live, change, now)?;
                Ok(Updated::Changed)
            }
        })
    }

    fn answer(
        &self,
        owner: &str,
        id: &TaskId,
        responses: &str,
        now: Millis,
    ) -> Result<Answered, StoreError> {
        let given = members("responses", responses)?;
        self.write(|rows| match find(rows, &self.servers, owner, id, now)? {
            Found::Unknown => Ok(Answered::Unknown),
            Found::Ended => Ok(Answered::Ended),
            Found::Live(live) => answers::merge(rows, &live, given, now),
        })
    }

    fn take_answers(&self, owner: &str, id: &TaskId, now: Millis) -> Result<Taken, StoreError> {
        self.write(|rows| match find(rows, &self.servers, owner, id, now)? {
            Found::Unknown => Ok(Taken::Unknown),
            Found::Ended => Ok(Taken::Ended),
            Found::Live(live) => answers::take(rows, live),
        })
    }

    fn adopt(&self, now: Millis) -> Result<u64, StoreError> {
        let gone: Vec<String> = self.look(|rows| left_by(rows, &self.servers))?;
        let mut all = 0;
        for server in gone {
            // Each for itself, so that others can write in between.
            let failed = self.write(|rows| Ok(fail_all(rows, &server, now)?))?;
            all = failed.saturating_add(all);
        }
        Ok(all)
    }

    fn sweep_tasks(&self, now: Millis) -> Result<u64, StoreError> {
        let sql = "DELETE FROM tasks WHERE key IN
             (SELECT key FROM tasks WHERE expires <= ?1 ORDER BY expires LIMIT ?2)";
        self.sweep(|rows| {
            Ok(rows
                .prepare_cached(sql)?
                .execute(params![stored(now), BATCH])?)
        })
    }
}

const fn is_unfinished(task: &Task) -> bool {
    use crate::State::{InputRequired, Working};
    matches!(task.state, Working | InputRequired { .. })
}

fn check_message(message: Option<&str>) -> Result<(), StoreError> {
    check("message", message.map_or(0, str::len), MAX_MESSAGE)
}

fn check_change(change: &Change<'_>) -> Result<(), StoreError> {
    match change {
        Change::Working { message } => check_message(*message),
        Change::InputRequired { requests, message } => {
            members("requests", requests)?;
            check_message(*message)
        }
        Change::Completed { result } => check_document("result", result),
        Change::Failed { error, message } => {
            check_document("error", error)?;
            check_message(*message)
        }
        Change::Cancelled => Ok(()),
    }
}

/// Refuses a task too many once everything of the owner that has expired is gone.
fn make_room(rows: &Transaction<'_>, owner: &str, most: u64, now: Millis) -> Result<(), Failure> {
    let count = || -> rusqlite::Result<u64> {
        let mut count = rows.prepare_cached("SELECT count(*) FROM tasks WHERE owner = ?1")?;
        count.query_row([owner], |row| number(row, 0))
    };
    if count()? < most {
        return Ok(());
    }
    rows.prepare_cached("DELETE FROM tasks WHERE owner = ?1 AND expires <= ?2")?
        .execute(params![owner, stored(now)])?;
    match count()? {
        found if found < most => Ok(()),
        found => Err(StoreError::TooManyTasks { most, found }.into()),
    }
}

fn insert(
    rows: &Transaction<'_>,
    owner: &str,
    id: &TaskId,
    server: &ServerId,
    task: &NewTask<'_>,
    now: Millis,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO tasks(owner, id, server, tool, created, updated, ttl, expires,
             poll_interval, state, message)
         VALUES(?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7, ?8, 'working', ?9)";
    let values = params![
        owner,
        id.as_str(),
        server.as_str(),
        task.tool,
        stored(now),
        stored(task.ttl),
        stored(now.saturating_add(task.ttl)),
        stored(task.poll_interval),
        task.message,
    ];
    rows.prepare_cached(sql)?.execute(values).map(drop)
}

/// Writes a change of a task that has not ended.
fn apply(
    rows: &Transaction<'_>,
    live: &Live,
    change: &Change<'_>,
    now: Millis,
) -> Result<(), Failure> {
    let responses = live.responses.as_deref();
    let (state, message, document, responses) = match *change {
        Change::Working { message } => ("working", message, None, responses),
        // With nothing to answer it would wait for ever.
        Change::InputRequired { requests, message }
            if members("requests", requests)?.is_empty() =>
        {
            ("working", message, None, responses)
        }
        Change::InputRequired { requests, message } => {
            ("input_required", message, Some(requests), responses)
        }
        Change::Completed { result } => ("completed", None, Some(result), None),
        Change::Failed { error, message } => ("failed", message, Some(error), None),
        Change::Cancelled => ("cancelled", None, None, None),
    };
    let sql = "UPDATE tasks SET state = ?2, message = ?3, document = ?4, responses = ?5,
         updated = max(updated, ?6) WHERE key = ?1";
    let values = params![live.key, state, message, document, responses, stored(now)];
    rows.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

/// Returns the servers that are gone and left something unfinished.
fn left_by(rows: &Transaction<'_>, servers: &Servers) -> Result<Vec<String>, Failure> {
    let sql = "SELECT DISTINCT server FROM tasks WHERE state IN ('working', 'input_required')";
    let mut found = rows.prepare_cached(sql)?;
    let found = found.query_map([], |row| row.get(0))?;
    let found: Vec<String> = found.collect::<rusqlite::Result<_>>()?;
    let is_gone = |server: &String| !server.parse().is_ok_and(|server| servers.lives(&server));
    Ok(found.into_iter().filter(is_gone).collect())
}

/// Ends all that a server left unfinished, and says how many tasks that were.
fn fail_all(rows: &Transaction<'_>, server: &str, now: Millis) -> rusqlite::Result<u64> {
    let sql = "UPDATE tasks SET state = 'failed', message = ?2, document = ?3, responses = NULL,
         updated = max(updated, ?4)
         WHERE server = ?1 AND state IN ('working', 'input_required')";
    let values = params![server, STOPPED, stopped(), stored(now)];
    let failed = rows.prepare_cached(sql)?.execute(values)?;
    Ok(super::counted(failed))
}

/// Returns the error of a task whose server is gone: an internal error of JSON-RPC.
fn stopped() -> String {
    format!(r#"{{"code":-32603,"message":"{STOPPED}"}}"#)
}
