//! The statements behind [`super::Due`]: what is due, and what becomes of it.

use rusqlite::{OptionalExtension as _, Row, Transaction, params};

use super::event::{DueEvent, EventId, Kind};

/// Each table yields its rows in the order of its index, so that SQLite merges them and stops at the
/// limit; sorting all that is due for each claim would make a long queue cost its square.
const FIND: &str = "
    SELECT 0, id, user_id, title AS title, NULL AS prompt, due_at, wake_at, attempts, origin
        FROM reminders WHERE wake_at <= ?1
    UNION ALL SELECT 1, id, user_id, name, prompt, next_run_at, wake_at, attempts, origin
        FROM scheduled_tasks WHERE wake_at <= ?1
    UNION ALL SELECT 2, id, user_id, name, prompt, next_run_at, wake_at, attempts, origin
        FROM wakeup_tasks WHERE wake_at <= ?1
    ORDER BY wake_at, id LIMIT ?2";

/// The next run of what recurs: the first one after now, however many were missed.
const AFTER_NOW: &str = "next_run_at + interval_minutes * 60
    * (max(?1 - next_run_at, 0) / (interval_minutes * 60) + 1)";

const fn table(kind: Kind) -> &'static str {
    match kind {
        Kind::Reminder => "reminders",
        Kind::Task => "scheduled_tasks",
        Kind::Wakeup => "wakeup_tasks",
    }
}

/// Returns the column that says when a row is due.
const fn due(kind: Kind) -> &'static str {
    match kind {
        Kind::Reminder => "due_at",
        Kind::Task | Kind::Wakeup => "next_run_at",
    }
}

/// Finds what is due, up to a number of events and of bytes.
pub(super) fn find(
    transaction: &Transaction<'_>,
    now: i64,
    (most, most_bytes): (usize, usize),
) -> rusqlite::Result<Vec<DueEvent>> {
    let mut statement = transaction.prepare_cached(FIND)?;
    let mut rows = statement.query(params![now, i64::try_from(most).unwrap_or(i64::MAX)])?;
    let (mut events, mut bytes) = (Vec::new(), 0_usize);
    while let Some(row) = rows.next()? {
        let event = read(row)?;
        let prompt = event.prompt.as_ref().map_or(0, String::len);
        bytes = bytes
            .saturating_add(event.title.len())
            .saturating_add(prompt);
        if bytes > most_bytes && !events.is_empty() {
            break;
        }
        events.push(event);
    }
    Ok(events)
}

fn read(row: &Row<'_>) -> rusqlite::Result<DueEvent> {
    let kind = match row.get(0)? {
        0 => Kind::Reminder,
        1 => Kind::Task,
        _ => Kind::Wakeup,
    };
    let due_at = row.get(5)?;
    let id = EventId {
        kind,
        row: row.get(1)?,
        due_at,
    };
    let before: i64 = row.get(7)?;
    Ok(DueEvent {
        id: id.to_string(),
        kind,
        user: row.get(2)?,
        title: row.get(3)?,
        prompt: row.get(4)?,
        due_at,
        attempt: before.saturating_add(1),
        redelivered: before > 0,
        origin: row.get(8)?,
    })
}

/// Claims an event that was found.
pub(super) fn claim(
    transaction: &Transaction<'_>,
    event: &DueEvent,
    (until, owner): (i64, &str),
) -> rusqlite::Result<()> {
    let Some(id) = EventId::parse(&event.id) else {
        return Ok(());
    };
    let sql = format!(
        "UPDATE {} SET wake_at = ?1, claimed_by = ?2, attempts = ?3
         WHERE user_id = ?4 AND id = ?5",
        table(event.kind)
    );
    let values = params![until, owner, event.attempt, event.user, id.row];
    transaction.prepare_cached(&sql)?.execute(values)?;
    Ok(())
}

/// Returns when the next row wakes.
pub(super) fn next(transaction: &Transaction<'_>) -> rusqlite::Result<Option<i64>> {
    let mut next = None;
    for kind in Kind::ALL {
        let sql = format!(
            "SELECT min(wake_at) FROM {} WHERE wake_at IS NOT NULL",
            table(kind)
        );
        let mut statement = transaction.prepare_cached(&sql)?;
        let found: Option<i64> = statement.query_row([], |row| row.get(0))?;
        next = [next, found].into_iter().flatten().min();
    }
    Ok(next)
}

/// Notes a delivery; returns whether (1) or not (0) the event was open.
pub(super) fn ack(
    transaction: &Transaction<'_>,
    id: &EventId,
    now: i64,
) -> rusqlite::Result<usize> {
    let done = "attempts = 0, last_error = NULL, parked_at = NULL, claimed_by = NULL";
    let sql = match id.kind {
        Kind::Reminder => format!(
            "UPDATE reminders SET {done}, fired_at = ?1, completed_at = coalesce(completed_at, ?1),
                 wake_at = NULL
             WHERE id = ?2 AND due_at = ?3 AND claimed_by IS NOT NULL AND fired_at IS NULL"
        ),
        Kind::Task | Kind::Wakeup => format!(
            "UPDATE {} SET {done}, last_run_at = ?1, updated_at = ?1,
                 enabled = (enabled AND interval_minutes IS NOT NULL),
                 next_run_at = coalesce({AFTER_NOW}, next_run_at),
                 wake_at = CASE WHEN enabled THEN {AFTER_NOW} END
             WHERE id = ?2 AND next_run_at = ?3 AND claimed_by IS NOT NULL",
            table(id.kind)
        ),
    };
    let mut statement = transaction.prepare_cached(&sql)?;
    statement.execute([now, id.row, id.due_at])
}

/// Makes a claim last longer.
pub(super) fn extend(
    transaction: &Transaction<'_>,
    id: &EventId,
    (until, owner): (i64, &str),
) -> rusqlite::Result<usize> {
    let sql = format!(
        "UPDATE {} SET wake_at = ?1
         WHERE id = ?2 AND {} = ?3 AND claimed_by = ?4 AND wake_at IS NOT NULL",
        table(id.kind),
        due(id.kind),
    );
    let mut statement = transaction.prepare_cached(&sql)?;
    statement.execute(params![until, id.row, id.due_at, owner])
}

/// Returns how often an event was handed out, if it is this claimer's.
pub(super) fn attempts(
    transaction: &Transaction<'_>,
    id: &EventId,
    owner: &str,
) -> rusqlite::Result<Option<i64>> {
    let sql = format!(
        "SELECT attempts FROM {} WHERE id = ? AND {} = ? AND claimed_by = ?",
        table(id.kind),
        due(id.kind),
    );
    let mut statement = transaction.prepare_cached(&sql)?;
    let values = params![id.row, id.due_at, owner];
    statement.query_row(values, |row| row.get(0)).optional()
}

/// Puts an event off. What was completed or switched off meanwhile stays so.
pub(super) fn postpone(
    transaction: &Transaction<'_>,
    id: &EventId,
    (at, why): (i64, &str),
) -> rusqlite::Result<usize> {
    let sql = format!(
        "UPDATE {} SET wake_at = CASE WHEN wake_at IS NULL THEN NULL ELSE ?1 END, last_error = ?2,
             claimed_by = NULL
         WHERE id = ?3",
        table(id.kind)
    );
    let mut statement = transaction.prepare_cached(&sql)?;
    statement.execute(params![at, why, id.row])
}

/// Gives an event up that was handed out as often as it may be and never answered for: it may be
/// the reason why its claimers died. A late answer still counts.
pub(super) fn park_the_unanswered(
    transaction: &Transaction<'_>,
    event: &DueEvent,
    now: i64,
) -> rusqlite::Result<()> {
    let Some(id) = EventId::parse(&event.id) else {
        return Ok(());
    };
    let sql = format!(
        "UPDATE {} SET parked_at = ?1, wake_at = NULL,
             last_error = coalesce(last_error, 'it was handed out and never answered for')
         WHERE user_id = ?2 AND id = ?3",
        table(id.kind)
    );
    let mut statement = transaction.prepare_cached(&sql)?;
    statement.execute(params![now, event.user, id.row])?;
    Ok(())
}

/// Gives an event up.
pub(super) fn park(
    transaction: &Transaction<'_>,
    id: &EventId,
    (now, why): (i64, &str),
) -> rusqlite::Result<usize> {
    let sql = format!(
        "UPDATE {} SET parked_at = ?1, wake_at = NULL, last_error = ?2, claimed_by = NULL
         WHERE id = ?3",
        table(id.kind)
    );
    let mut statement = transaction.prepare_cached(&sql)?;
    statement.execute(params![now, why, id.row])
}
