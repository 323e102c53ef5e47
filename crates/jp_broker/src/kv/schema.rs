//! The tables, and how a file of an older version gets them. Knows nothing of what the rows mean.
//!
//! A file is ours by its `application_id`; its `user_version` counts the steps it has taken. A step
//! that was published is never changed: what comes later is a further step.

use rusqlite::{Connection, TransactionBehavior};

use super::StoreError;

/// Marks a file as ours: `jpkv`.
pub(super) const APPLICATION_ID: i32 = 0x6a70_6b76;

/// The steps from an empty file to the tables of today.
pub(super) const STEPS: &[&str] = &[include_str!("schema/1.sql")];

/// The tables a file must have; without them it is damaged, whatever its version says.
const TABLES: &[&str] = &[
    "plan_step_dependencies",
    "plans",
    "reminders",
    "row_counts",
    "scheduled_tasks",
    "todo_items",
    "wakeup_tasks",
];

/// Why a file was not brought to the tables of today.
#[derive(Debug)]
pub(super) enum MigrateError {
    /// A later version of this program wrote it.
    Newer { version: i64 },
    /// It lacks a table it should have.
    Lacks { table: &'static str },
    /// SQLite failed.
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for MigrateError {
    fn from(source: rusqlite::Error) -> Self {
        Self::Sqlite(source)
    }
}

impl MigrateError {
    /// Adds what a person needs to know: which file it is.
    pub(super) fn of(self, path: &std::path::Path) -> StoreError {
        let path = path.to_owned();
        match self {
            Self::Newer { version } => StoreError::Newer {
                path,
                version,
                known: STEPS.len(),
            },
            Self::Lacks { table } => StoreError::Lacks { path, table },
            Self::Sqlite(source) => StoreError::opening(path, source),
        }
    }
}

/// Takes the steps a file has not taken yet, all or none of them.
pub(super) fn migrate(connection: &mut Connection, steps: &[&str]) -> Result<(), MigrateError> {
    if version(connection)? == steps.len() as i64 {
        return check_tables(connection);
    }
    // Another process may do the same: who waited here looks again.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    let taken = version(&transaction)?;
    let Some(missing) = usize::try_from(taken).ok().and_then(|n| steps.get(n..)) else {
        return Err(MigrateError::Newer { version: taken });
    };
    for step in missing {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", steps.len() as i64)?;
    transaction.commit()?;
    check_tables(connection)
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

fn check_tables(connection: &Connection) -> Result<(), MigrateError> {
    let mut statement =
        connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
    let found: Vec<String> = statement
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    match TABLES
        .iter()
        .find(|table| !found.iter().any(|name| name == *table))
    {
        Some(table) => Err(MigrateError::Lacks { table }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn versions(connection: &Connection) -> (i64, i64) {
        let id = connection.query_row("PRAGMA application_id", [], |row| row.get(0));
        (version(connection).unwrap(), id.unwrap())
    }

    #[test]
    fn an_empty_file_takes_all_steps() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, STEPS).unwrap();
        let expected = (STEPS.len() as i64, i64::from(APPLICATION_ID));
        assert_eq!(versions(&connection), expected);
    }

    #[test]
    fn a_later_step_is_taken_once_and_keeps_the_rows() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, STEPS).unwrap();
        let row = "INSERT INTO plans(user_id, title, goal, status, created_at, updated_at)
                   VALUES('ann', 't', 'g', 'draft', 1, 1)";
        connection.execute(row, []).unwrap();
        let more = [STEPS, &["ALTER TABLE plans ADD COLUMN colour TEXT"]].concat();
        migrate(&mut connection, &more).unwrap();
        migrate(&mut connection, &more).unwrap();
        let count = "SELECT count(*) FROM plans WHERE colour IS NULL AND user_id = 'ann'";
        let kept: i64 = connection.query_row(count, [], |row| row.get(0)).unwrap();
        assert_eq!((kept, versions(&connection).0), (1, more.len() as i64));
    }

    #[test]
    fn a_step_that_fails_leaves_the_version_before_it() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, STEPS).unwrap();
        let broken = [STEPS, &["CREATE TABLE extra(id); CREATE TABLE plans(id)"]].concat();
        assert!(migrate(&mut connection, &broken).is_err());
        assert_eq!(versions(&connection).0, STEPS.len() as i64);
        assert!(connection.prepare("SELECT * FROM extra").is_err());
    }

    #[test]
    fn a_newer_file_is_refused() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, STEPS).unwrap();
        connection.pragma_update(None, "user_version", 99).unwrap();
        let found = migrate(&mut connection, STEPS);
        assert!(matches!(found, Err(MigrateError::Newer { version: 99 })));
    }
}
