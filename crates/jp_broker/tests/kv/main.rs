//! `kv.sqlite.*` through the broker, on real files.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod answers;
mod answers_reminders;
mod busy;
mod file;
mod host;
mod hostile;
mod kills;
mod plans;
mod refusals;
mod refusals_bounds;
mod refusals_grants;
mod users;
mod weaknesses;
mod weaknesses_scheduled;
mod writers;
