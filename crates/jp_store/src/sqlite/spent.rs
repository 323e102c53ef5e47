//! One-time states as rows.

use rusqlite::{Transaction, params};

use super::{Failure, Store, stored};
use crate::{Millis, Spent, StoreError, limits::check_owner};

/// How many rows one transaction of a sweep deletes.
const BATCH: i64 = 1024;

impl Spent for Store {
    fn spend(
        &self,
        owner: &str,
        nonce: &[u8; 16],
        expires: Millis,
        now: Millis,
    ) -> Result<bool, StoreError> {
        check_owner(owner)?;
        if expires <= now {
            return Ok(false);
        }
        // A replay is found by reading, so that replays do not block writers.
        let sql = "SELECT EXISTS(SELECT 1 FROM spent WHERE owner = ?1 AND nonce = ?2)";
        let was_spent = self.look(|rows| {
            let values = params![owner, nonce.as_slice()];
            let found = rows
                .prepare_cached(sql)?
                .query_row(values, |row| row.get(0));
            Ok(found?)
        })?;
        if was_spent {
            return Ok(false);
        }
        let sql = "INSERT INTO spent(owner, nonce, expires)
             SELECT ?1, ?2, ?3 WHERE ?3 > (SELECT max(expires) FROM spent_forgotten)
             ON CONFLICT DO NOTHING";
        self.write(|rows| {
            let values = params![owner, nonce.as_slice(), stored(expires)];
            Ok(rows.prepare_cached(sql)?.execute(values)? == 1)
        })
    }

    fn sweep_spent(&self, now: Millis) -> Result<u64, StoreError> {
        self.sweep(|rows| forget(rows, now))
    }
}

fn forget(rows: &Transaction<'_>, now: Millis) -> Result<usize, Failure> {
    let mut delete = rows.prepare_cached(
        "DELETE FROM spent WHERE (owner, nonce) IN
             (SELECT owner, nonce FROM spent WHERE expires <= ?1 ORDER BY expires LIMIT ?2)
         RETURNING expires",
    )?;
    let gone = delete.query_map(params![stored(now), BATCH], |row| row.get::<_, i64>(0))?;
    let gone: Vec<i64> = gone.collect::<rusqlite::Result<_>>()?;
    // A clock that runs ahead must not make a nonce fresh again for the others.
    if let Some(latest) = gone.iter().max() {
        rows.prepare_cached("UPDATE spent_forgotten SET expires = max(expires, ?1)")?
            .execute([latest])?;
    }
    Ok(gone.len())
}
