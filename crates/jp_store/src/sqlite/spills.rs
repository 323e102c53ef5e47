//! Large results as rows, in parts.

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use super::{Failure, Store, counted, lock, number, stored};
use crate::{
    Damage, MAX_MIME_TYPE, MAX_SLICE, MAX_SPILL, Millis, NewSpill, Quota, Slice, SpillId, Spills,
    StoreError,
    limits::{check, check_owner},
};

/// How many bytes a part has; the last one may have fewer. Never changes: it is how parts are found.
const PART: usize = 256 * 1024;
/// How many bytes a result counts at least, as the triggers have it.
const LEAST: u64 = 4096;
/// How many results one transaction of a sweep deletes.
const BATCH: i64 = 16;
/// How many free pages stay in the file, and how many one sweep gives back.
const FREE: i64 = 256;
const GIVEN_BACK: i64 = 32_768;

impl Spills for Store {
    fn keep(
        &self,
        owner: &str,
        spill: &NewSpill<'_>,
        quota: &Quota,
        now: Millis,
    ) -> Result<SpillId, StoreError> {
        check_owner(owner)?;
        check("mime_type", spill.mime_type.len(), MAX_MIME_TYPE)?;
        check("bytes", spill.bytes.len(), MAX_SPILL)?;
        let id = SpillId::random()?;
        self.write(|rows| {
            make_room(rows, owner, spill, quota, now)?;
            insert(rows, owner, &id, spill)?;
            Ok(id)
        })
    }

    fn read(
        &self,
        owner: &str,
        id: &SpillId,
        offset: u64,
        length: u64,
        now: Millis,
    ) -> Result<Option<Slice>, StoreError> {
        self.look(|rows| {
            let sql = "SELECT key, bytes, mime_type FROM spills
                 WHERE owner = ?1 AND id = ?2 AND expires > ?3";
            let mut found = rows.prepare_cached(sql)?;
            let found = found.query_row(params![owner, id.as_str(), stored(now)], |row| {
                Ok((row.get(0)?, number(row, 1)?, row.get(2)?))
            });
            let Some((key, total, mime_type)) = found.optional()? else {
                return Ok(None);
            };
            let most = length.min(counted(MAX_SLICE));
            let end = offset.saturating_add(most).min(total);
            let bytes = range(rows, key, offset.min(end), end)?;
            Ok(Some(Slice {
                bytes,
                total,
                mime_type,
            }))
        })
    }

    fn sweep_spills(&self, now: Millis) -> Result<u64, StoreError> {
        let sql = "DELETE FROM spills WHERE key IN
             (SELECT key FROM spills WHERE expires <= ?1 ORDER BY expires LIMIT ?2)";
        let gone = self.sweep(|rows| {
            Ok(rows
                .prepare_cached(sql)?
                .execute(params![stored(now), BATCH])?)
        })?;
        let given = give_back(&lock(&self.writer));
        given.map_err(|error| Failure::Sqlite(error).of(&self.path))?;
        Ok(gone)
    }
}

/// Refuses a result that does not fit the quota once everything that has expired is gone.
fn make_room(
    rows: &Transaction<'_>,
    owner: &str,
    spill: &NewSpill<'_>,
    quota: &Quota,
    now: Millis,
) -> Result<(), Failure> {
    let bytes = counted(spill.bytes.len()).max(LEAST);
    if exceeded(rows, owner, bytes, quota)?.is_none() {
        return Ok(());
    }
    rows.prepare_cached("DELETE FROM spills WHERE expires <= ?1")?
        .execute([stored(now)])?;
    match exceeded(rows, owner, bytes, quota)? {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}

fn exceeded(
    rows: &Transaction<'_>,
    owner: &str,
    bytes: u64,
    quota: &Quota,
) -> rusqlite::Result<Option<StoreError>> {
    let sql = "SELECT coalesce(sum(bytes) FILTER (WHERE owner = ?1), 0), coalesce(sum(bytes), 0)
         FROM spill_usage";
    let mut usage = rows.prepare_cached(sql)?;
    let (mine, all) = usage.query_row([owner], |row| Ok((number(row, 0)?, number(row, 1)?)))?;
    Ok(if mine.saturating_add(bytes) > quota.owner {
        let (most, found) = (quota.owner, mine);
        Some(StoreError::OwnerQuota { most, found, bytes })
    } else if all.saturating_add(bytes) > quota.total {
        let (most, found) = (quota.total, all);
        Some(StoreError::TotalQuota { most, found, bytes })
    } else {
        None
    })
}

fn insert(
    rows: &Transaction<'_>,
    owner: &str,
    id: &SpillId,
    spill: &NewSpill<'_>,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO spills(owner, id, mime_type, bytes, expires)
         VALUES(?1, ?2, ?3, ?4, ?5) RETURNING key";
    let total = stored(counted(spill.bytes.len()));
    let values = params![
        owner,
        id.as_str(),
        spill.mime_type,
        total,
        stored(spill.expires)
    ];
    let key: i64 = rows
        .prepare_cached(sql)?
        .query_row(values, |row| row.get(0))?;
    let sql = "INSERT INTO spill_parts(spill, part, bytes) VALUES(?1, ?2, ?3)";
    let mut insert = rows.prepare_cached(sql)?;
    for (number, part) in (0_i64..).zip(spill.bytes.chunks(PART)) {
        insert.execute(params![key, number, part])?;
    }
    Ok(())
}

/// Reads the bytes from `start` to `end`, which lies within the result.
fn range(rows: &Transaction<'_>, key: i64, start: u64, end: u64) -> Result<Vec<u8>, Failure> {
    let missing = || Failure::Damaged(Damage::NoBytes);
    let wanted = usize::try_from(end.saturating_sub(start)).map_err(|_| missing())?;
    let mut bytes = Vec::with_capacity(wanted);
    if wanted == 0 {
        return Ok(bytes);
    }
    let part = counted(PART);
    let (first, last) = (start / part, end.saturating_sub(1) / part);
    let sql = "SELECT bytes FROM spill_parts WHERE spill = ?1 AND part BETWEEN ?2 AND ?3
         ORDER BY part";
    let mut parts = rows.prepare_cached(sql)?;
    let mut parts = parts.query(params![key, stored(first), stored(last)])?;
    let mut skipped = usize::try_from(start % part).unwrap_or_default();
    while let Some(row) = parts.next()? {
        let part = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
        let part = part.get(skipped..).ok_or_else(missing)?;
        let left = wanted.saturating_sub(bytes.len());
        bytes.extend_from_slice(part.get(..left).unwrap_or(part));
        skipped = 0;
    }
    if bytes.len() == wanted {
        return Ok(bytes);
    }
    Err(missing())
}

/// Gives the file system back what is free, but for a little that the next results take.
fn give_back(connection: &Connection) -> rusqlite::Result<()> {
    let free = connection.query_row("PRAGMA freelist_count", [], |row| row.get::<_, i64>(0))?;
    let pages = free.saturating_sub(FREE).min(GIVEN_BACK);
    if pages <= 0 {
        return Ok(());
    }
    let mut given = connection.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
    let mut given = given.query([])?;
    while given.next()?.is_some() {}
    Ok(())
}
