//! What must outlive a process of `jp serve`, by meaning: [`Tasks`] that clients poll for, large
//! results that are read later ([`Spills`]), one-time states ([`Spent`]), what the user decided and is
//! remembered ([`Grants`]), and calls that wait for a decision ([`Pending`]).
//!
//! [`Store`] keeps them all in one SQLite file, which several servers may have open at once. Another
//! engine implements the same traits and passes the same suite of tests (`tests/it/`).
//!
//! - **Owners.** The owner is part of every key: what belongs to another owner is as if it were not there.
//! - **Time** is handed in, in milliseconds since 1970. Nothing here reads a clock.
//! - **Durability.** What was answered is on the disk: every write waits for it.
//! - **Blocking.** Every method may wait for the disk; an async caller uses `spawn_blocking`.
//! - **Servers.** A store that is open is a server, which lives until it is dropped or its process ends,
//!   however it ends. A task whose server is gone has failed, and says so.
//!
//! ```
//! use jp_store::{Change, NewTask, State, Store, Tasks as _};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("serve.sqlite");
//! let now = 1_700_000_000_000;
//! let store = Store::open(&path, now)?;
//! let task = NewTask {
//!     tool: "report",
//!     ttl: 3_600_000,
//!     poll_interval: 500,
//!     message: None,
//!     most: 100,
//! };
//! let id = store.create("ann", &task, now)?;
//!
//! let result = Change::Completed { result: r#"{"content":[]}"# };
//! store.update("ann", &id, &result, now + 20)?;
//!
//! let found = store.get("ann", &id, now + 30)?.ok_or("no task")?;
//! assert!(matches!(found.state, State::Completed { .. }));
//! assert!(store.get("bob", &id, now + 30)?.is_none());
//! # Ok(())
//! # }
//! ```

mod approvals;
mod error;
mod generation;
mod id;
mod limits;
mod spent;
mod spills;
mod sqlite;
mod tasks;

pub use approvals::{
    Arguments, Decided, Digest, Effect, Grant, Grants, Kind, NewGrant, NewRequest, Pending,
    Request, SameCall, Snapshot, Spending, Standing, Verdict,
};
pub use error::{Damage, StoreError};
pub use generation::Generation;
pub use id::{GrantId, IdError, RequestId, RunId, ServerId, SpillId, TaskId};
pub use limits::{
    MAX_ABOUT, MAX_DOCUMENT, MAX_GRANTS, MAX_MESSAGE, MAX_MIME_TYPE, MAX_OWNER, MAX_PATTERN,
    MAX_PATTERNS, MAX_REASON, MAX_SLICE, MAX_SPILL, MAX_TOOL,
};
pub use spent::Spent;
pub use spills::{NewSpill, Quota, Slice, Spills};
pub use sqlite::Store;
pub use tasks::{Answered, Change, NewTask, STOPPED, State, Taken, Task, Tasks, Updated};

/// A time in milliseconds since 1970, or a number of milliseconds.
pub type Millis = u64;
