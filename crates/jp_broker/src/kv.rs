//! `kv.sqlite.*`: to-dos, tasks, reminders, plans and wake-ups of each user, in one SQLite file.
//!
//! Each call is one transaction for one user; the user comes from the host, and every statement of
//! a handler filters by it. Nothing here runs anything: what is due is handed out by [`crate::due`].
//!
//! # What lasts
//! A call that was answered has committed: the death of this process, at any moment, loses no
//! answered write and leaves the file usable (write-ahead log, `synchronous = NORMAL`). A power cut
//! may lose the last commits, since nothing waits for the disk after each of them; it cannot damage
//! what was there before.
//!
//! # What is bounded
//! Titles, names and statuses, notes, prompts and goals, items of one call, rows of one answer and
//! rows of one user ([`Quotas`]); what does not fit is refused naming the field or the limit, and an
//! answer that leaves rows out says `more: true`.

mod handler;
mod look;
mod opened;
mod page;
mod planning;
mod quotas;
mod reminders;
mod rows;
mod scheduled;
mod schema;
mod sizing;
mod store;
mod store_error;
mod tasks;
mod todo;
mod todo_rows;
mod wakeup;

use std::sync::Arc;

pub use look::look_at;
pub use quotas::Quotas;
pub(crate) use store::Access;
pub use store::Store;
use store_error::Failure;
pub use store_error::StoreError;

use crate::capability::Known;

/// Returns the capabilities of all five families.
pub(crate) fn all() -> Vec<Arc<dyn Known>> {
    let families = [
        todo::all(),
        tasks::all(),
        reminders::all(),
        planning::all(),
        wakeup::all(),
    ];
    families.into_iter().flatten().collect()
}
