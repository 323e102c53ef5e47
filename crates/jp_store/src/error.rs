//! Why something was not kept or not found out.

use std::{error::Error, io, path::PathBuf};

/// Why something was not kept or not found out. Whatever failed changed nothing.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file could not be looked at or made.
    #[error("cannot {what} {}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something else is in its place, or another program's data.
    #[error("invalid store {}: expected a store of jp serve, found {found}; move it away or name another file", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        found: &'static str,
    },
    /// A later version of this program wrote it.
    #[error("invalid store {}: expected version {known} or older, found {version}; use a newer jp", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version it is of.
        version: i64,
        /// The newest version that this program knows.
        known: usize,
    },
    /// What is in it makes no sense.
    #[error("cannot use the store {}: it is damaged; move it away, and jp makes a new one", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Damage,
    },
    /// The file system cannot share a write-ahead log between processes.
    #[error("cannot use the store {}: its file system allows no write-ahead log; put it on a local disk", path.display())]
    NoWriteAheadLog {
        /// The file.
        path: PathBuf,
    },
    /// Others kept writing for as long as this could wait.
    #[error("cannot use the store {}: others kept writing to it (limit: 30 s)", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// There is no room left.
    #[error("cannot write to the store {}: the disk is full", path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// SQLite failed.
    #[error("cannot use the store {}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The system gave no randomness for a name.
    #[error("cannot make an id: the system gave no randomness")]
    NoRandomness {
        /// What the system said.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A key without an owner.
    #[error("invalid `owner`: expected a name, found nothing")]
    NoOwner,
    /// Something is larger than it may be.
    #[error("invalid `{what}`: expected at most {most} bytes, found {found}")]
    TooLarge {
        /// What it is.
        what: &'static str,
        /// The limit.
        most: usize,
        /// Its size.
        found: usize,
    },
    /// A document is not JSON.
    #[error("invalid `{what}`: expected JSON")]
    NotJson {
        /// What it is.
        what: &'static str,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A document is not a JSON object.
    #[error("invalid `{what}`: expected a JSON object")]
    NoObject {
        /// What it is.
        what: &'static str,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The owner has as many tasks as one may have.
    #[error("cannot keep another task: the owner has {found} (limit: {most})")]
    TooManyTasks {
        /// The limit.
        most: u64,
        /// How many there are.
        found: u64,
    },
    /// As much is remembered as may be.
    #[error(
        "cannot remember another decision: there are {found} {of} (limit: {most}); take some back with `jp revoke`"
    )]
    TooManyGrants {
        /// Which ones were counted.
        of: &'static str,
        /// The limit.
        most: u64,
        /// How many there are.
        found: u64,
    },
    /// As many requests wait as may wait.
    #[error("cannot ask for another decision: {found} requests wait (limit: {most})")]
    TooManyRequests {
        /// The limit.
        most: u64,
        /// How many there are.
        found: u64,
    },
    /// The owner's results would take more room than they may.
    #[error(
        "cannot keep a result of {bytes} bytes: the owner's results take {found} bytes (limit: {most})"
    )]
    OwnerQuota {
        /// The limit.
        most: u64,
        /// How many bytes are taken.
        found: u64,
        /// How many bytes the new one would take.
        bytes: u64,
    },
    /// The results of all owners would take more room than they may.
    #[error(
        "cannot keep a result of {bytes} bytes: the results of all owners take {found} bytes (limit: {most})"
    )]
    TotalQuota {
        /// The limit.
        most: u64,
        /// How many bytes are taken.
        found: u64,
        /// How many bytes the new one would take.
        bytes: u64,
    },
}

/// What is wrong with a store that is damaged.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// SQLite found it.
    #[error(transparent)]
    Sqlite(rusqlite::Error),
    /// It lacks a table.
    #[error("missing table `{0}`")]
    NoTable(&'static str),
    /// A task is in a state that does not exist, or lacks what belongs to its state.
    #[error("invalid state of a task")]
    NoState,
    /// A decision or a request lacks what belongs to it.
    #[error("invalid decision")]
    NoDecision,
    /// A document of a task is not the JSON that was kept.
    #[error("invalid document of a task")]
    Document(#[source] serde_json::Error),
    /// A result lacks some of its bytes.
    #[error("missing bytes of a result")]
    NoBytes,
}
