//! What clients answer, on its way to the worker.

use rusqlite::{Transaction, params};

use super::{super::Failure, Live, stored};
use crate::{
    Answered, Damage, MAX_DOCUMENT, Millis, Taken,
    limits::{Members, check},
};

/// Keeps the answers to what is outstanding.
pub(super) fn merge(
    rows: &Transaction<'_>,
    live: &Live,
    given: Members,
    now: Millis,
) -> Result<Answered, Failure> {
    let mut asked = kept(live.requests.as_deref())?;
    let mut answers = kept(live.responses.as_deref())?;
    let mut accepted = 0_usize;
    for (key, answer) in given {
        if asked.remove(&key).is_some() {
            answers.insert(key, answer);
            accepted = accepted.saturating_add(1);
        }
    }
    let outstanding = asked.len();
    if accepted > 0 {
        let answers = written(&answers)?;
        check("responses", answers.len(), MAX_DOCUMENT)?;
        write(rows, live.key, &asked, &answers, now)?;
    }
    Ok(Answered::Kept {
        accepted,
        outstanding,
    })
}

fn write(
    rows: &Transaction<'_>,
    key: i64,
    asked: &Members,
    answers: &str,
    now: Millis,
) -> Result<(), Failure> {
    let (state, requests) = if asked.is_empty() {
        ("working", None)
    } else {
        ("input_required", Some(written(asked)?))
    };
    let sql = "UPDATE tasks SET state = ?2, document = ?3, responses = ?4,
         updated = max(updated, ?5) WHERE key = ?1";
    let values = params![key, state, requests, answers, stored(now)];
    rows.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

/// Hands over what was answered, and keeps it no longer.
pub(super) fn take(rows: &Transaction<'_>, live: Live) -> Result<Taken, Failure> {
    let Some(responses) = live.responses else {
        return Ok(Taken::Nothing);
    };
    rows.prepare_cached("UPDATE tasks SET responses = NULL WHERE key = ?1")?
        .execute([live.key])?;
    Ok(Taken::Answers { responses })
}

fn kept(document: Option<&str>) -> Result<Members, Failure> {
    let read = document.map(serde_json::from_str).transpose();
    let read = read.map_err(|source| Failure::Damaged(Damage::Document(source)));
    Ok(read?.unwrap_or_default())
}

fn written(members: &Members) -> Result<String, Failure> {
    let written = serde_json::to_string(members);
    written.map_err(|source| Failure::Damaged(Damage::Document(source)))
}
