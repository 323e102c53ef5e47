//! Remembered decisions as rows, and the counter of their changes.

use rusqlite::{Row, Transaction, params};

use super::{Failure, Store, io_error, number, stored};
use crate::{
    Arguments, Damage, Digest, Effect, Grant, GrantId, Grants, MAX_ABOUT, MAX_GRANTS, MAX_OWNER,
    MAX_PATTERN, MAX_PATTERNS, MAX_TOOL, Millis, NewGrant, Snapshot, StoreError, generation,
    limits::{MAX_ACCESS, check, check_owner},
};

/// How many rows one transaction of a sweep deletes.
const BATCH: i64 = 256;

impl Grants for Store {
    fn remember(&self, grant: &NewGrant<'_>, now: Millis) -> Result<GrantId, StoreError> {
        check_grant(grant)?;
        let id = GrantId::random()?;
        self.change(|rows| {
            insert(rows, &id, grant, now)?;
            Ok((id, true))
        })
    }

    fn snapshot(&self, now: Millis) -> Result<Snapshot, StoreError> {
        self.look(|rows| {
            Ok(Snapshot {
                generation: counted(rows)?,
                grants: all(rows, now)?,
                tickets: super::requests::tickets(rows, now)?,
            })
        })
    }

    fn revoke(&self, id: &str, now: Millis) -> Result<bool, StoreError> {
        self.change(|rows| {
            let sql = "DELETE FROM grants WHERE id = ?1 AND coalesce(expires > ?2, TRUE)";
            let gone = rows
                .prepare_cached(sql)?
                .execute(params![id, stored(now)])?;
            let tickets = super::requests::revoke(rows, id, now)?;
            let is_changed = gone + tickets > 0;
            Ok((is_changed, is_changed))
        })
    }

    fn settle(&self) -> Result<u64, StoreError> {
        self.write(|rows| {
            let stored = counted(rows)?;
            let beside = generation::known(&self.path);
            let beside = beside.map_err(|source| io_error("read", &self.path, source))?;
            match stored == beside {
                true => Ok(stored),
                false => self.count(rows),
            }
        })
    }

    fn sweep_grants(&self, now: Millis) -> Result<u64, StoreError> {
        // What has expired holds for nobody, so nobody needs to hear that it is gone.
        let sql = "DELETE FROM grants WHERE key IN
             (SELECT key FROM grants WHERE expires <= ?1 LIMIT ?2)";
        self.sweep(|rows| {
            let values = params![stored(now), BATCH];
            Ok(rows.prepare_cached(sql)?.execute(values)?)
        })
    }
}

impl Store {
    /// Runs a transaction that may change what holds. Where it does, that is counted beside the store
    /// before it is committed, so that nobody takes an older state for the newest once it is.
    pub(super) fn change<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<(T, bool), Failure>,
    ) -> Result<T, StoreError> {
        self.write(|rows| {
            let (done, is_changed) = work(rows)?;
            if is_changed {
                self.count(rows)?;
            }
            Ok(done)
        })
    }

    /// Counts a change: in the file and in the row.
    fn count(&self, rows: &Transaction<'_>) -> Result<u64, Failure> {
        let failed = |source| io_error("count a change beside", &self.path, source);
        let beside = generation::known(&self.path).map_err(failed)?;
        let next = beside.max(counted(rows)?).saturating_add(1);
        generation::write(&self.path, next).map_err(failed)?;
        rows.prepare_cached("UPDATE generation SET value = ?1")?
            .execute([stored(next)])?;
        Ok(next)
    }
}

fn counted(rows: &Transaction<'_>) -> rusqlite::Result<u64> {
    rows.prepare_cached("SELECT value FROM generation")?
        .query_row([], |row| number(row, 0))
}

pub(super) fn check_grant(grant: &NewGrant<'_>) -> Result<(), StoreError> {
    check("tool", grant.tool.len(), MAX_TOOL)?;
    check("about", grant.about.len(), MAX_ABOUT)?;
    check("author", grant.author.len(), MAX_OWNER)?;
    // A name of nobody must not pass for everybody.
    if let Some(principal) = grant.principal {
        check_owner(principal)?;
    }
    for (what, text, most) in [
        ("workspace", grant.workspace, MAX_ACCESS),
        ("configuration", grant.configuration, MAX_OWNER),
        ("run", grant.run, MAX_OWNER),
        ("access", grant.access, MAX_ACCESS),
    ] {
        check(what, text.map_or(0, str::len), most)?;
    }
    match &grant.arguments {
        Arguments::Pattern(pattern) => check("arguments", pattern.len(), MAX_PATTERN),
        Arguments::Any | Arguments::Exact(_) => Ok(()),
    }
}

/// Refuses one too many.
fn make_room(rows: &Transaction<'_>, grant: &NewGrant<'_>, now: Millis) -> Result<(), Failure> {
    let sql = "DELETE FROM grants WHERE expires <= ?1";
    rows.prepare_cached(sql)?.execute([stored(now)])?;
    let mut count = rows.prepare_cached("SELECT count(*) FROM grants")?;
    let found = count.query_row([], |row| number(row, 0))?;
    if found >= MAX_GRANTS {
        let (of, most) = ("decisions", MAX_GRANTS);
        return Err(StoreError::TooManyGrants { of, most, found }.into());
    }
    if matches!(grant.arguments, Arguments::Exact(_)) {
        return Ok(());
    }
    let sql = "SELECT count(*) FROM grants WHERE tool = ?1 AND principal IS ?2
         AND arguments IS NULL";
    let mut count = rows.prepare_cached(sql)?;
    let found = count.query_row(params![grant.tool, grant.principal], |row| number(row, 0))?;
    if found >= MAX_PATTERNS {
        let (of, most) = ("patterns for this tool", MAX_PATTERNS);
        return Err(StoreError::TooManyGrants { of, most, found }.into());
    }
    Ok(())
}

pub(super) fn insert(
    rows: &Transaction<'_>,
    id: &GrantId,
    grant: &NewGrant<'_>,
    now: Millis,
) -> Result<(), Failure> {
    make_room(rows, grant, now)?;
    let (exact, pattern) = match &grant.arguments {
        Arguments::Any => (None, None),
        Arguments::Exact(digest) => (Some(digest.as_slice()), None),
        Arguments::Pattern(pattern) => (None, Some(pattern.as_str())),
    };
    let sql = "INSERT INTO grants(id, effect, tool, principal, workspace, configuration, run,
             arguments, pattern, shown, access, about, author, created, expires)
         VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
    let values = params![
        id.as_str(),
        grant.effect.as_str(),
        grant.tool,
        grant.principal,
        grant.workspace,
        grant.configuration,
        grant.run,
        exact,
        pattern,
        grant.shown.as_ref().map(|shown| shown.as_slice()),
        grant.access,
        grant.about,
        grant.author,
        stored(now),
        grant.expires.map(stored),
    ];
    rows.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

fn all(rows: &Transaction<'_>, now: Millis) -> Result<Vec<Grant>, Failure> {
    let sql = "SELECT id, effect, tool, principal, workspace, configuration, run, arguments,
             pattern, shown, access, about, author, created, expires
         FROM grants WHERE coalesce(expires > ?1, TRUE) ORDER BY key";
    let mut found = rows.prepare_cached(sql)?;
    let mut found = found.query([stored(now)])?;
    let mut all = Vec::new();
    while let Some(row) = found.next()? {
        all.push(read(row)?);
    }
    Ok(all)
}

fn read(row: &Row<'_>) -> Result<Grant, Failure> {
    let id: String = row.get(0)?;
    let effect: String = row.get(1)?;
    let effects = [Effect::Allow, Effect::Never, Effect::Access];
    let effect = effects.into_iter().find(|known| known.as_str() == effect);
    let arguments = match (digest(row, 7)?, row.get(8)?) {
        (Some(exact), _) => Arguments::Exact(exact),
        (None, Some(pattern)) => Arguments::Pattern(pattern),
        (None, None) => Arguments::Any,
    };
    Ok(Grant {
        id: id.parse().map_err(|_| damaged())?,
        effect: effect.ok_or_else(damaged)?,
        tool: row.get(2)?,
        principal: row.get(3)?,
        workspace: row.get(4)?,
        configuration: row.get(5)?,
        run: row.get(6)?,
        arguments,
        shown: digest(row, 9)?,
        access: row.get(10)?,
        about: row.get(11)?,
        author: row.get(12)?,
        created: number(row, 13)?,
        expires: (row.get::<_, Option<i64>>(14)?)
            .map(|found| u64::try_from(found).unwrap_or_default()),
    })
}

/// Reads a digest, which must have the size of one.
pub(super) fn digest(row: &Row<'_>, column: usize) -> Result<Option<Digest>, Failure> {
    let bytes: Option<Vec<u8>> = row.get(column)?;
    let digest = bytes.map(|bytes| bytes.try_into().map_err(|_| damaged()));
    digest.transpose()
}

pub(super) const fn damaged() -> Failure {
    Failure::Damaged(Damage::NoDecision)
}
