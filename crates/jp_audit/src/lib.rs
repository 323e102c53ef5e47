//! The append-only, hash-chained audit log.
//!
//! Holds the log, its reader and its verifier. Knows nothing of tools, configuration, clocks or the
//! home directory: the caller hands in the directory, the time and the words of each record.
//!
//! # What lies in the directory
//! - `audit-00000001.jsonl`, `audit-00000002.jsonl`, …: the records, one JSON object per line. Each
//!   carries `seq`, `prev` (the MAC of the record before) and `mac`.
//! - `key`: 32 random bytes. They key the MACs and the hash of each call's arguments.
//! - `head`: how far the log reaches and where it starts, under a MAC of its own.
//! - `torn-….txt`: what a crash left half-written, set aside when the log went on.
//!
//! # What the log proves, and what it does not
//! Who cannot read `key` cannot guess arguments from their hash, and cannot change, add, remove,
//! reorder or cut off a record without [`verify`] saying so. The limits of that:
//! - **Who can read the key can forge everything.** The key belongs to the user who writes the log,
//!   so a process with that user's full authority can rewrite history.
//! - Who can write the directory can delete all of it, key included, or put back an older copy of
//!   `head` together with the log of that moment. [`Report::last`] names the newest record; noted
//!   elsewhere, it uncovers both.
//! - Under a [lease](Options::lease) `head` knows of the newest records a little later, of 64 at
//!   most. Who can write the directory can kill the process before and cut those off unseen.
//! - Records survive the death of the process at any point. A power failure may take the newest
//!   ones (there is no fsync per record, see [`Log::sync`]); [`verify`] then reports them cut off.

mod error;
mod files;
mod founding;
mod frame;
mod head;
mod json;
mod key;
mod lease;
mod lines;
mod log;
mod options;
mod reader;
mod record;
mod repair;
mod report;
mod rotate;
mod snapshot;
mod tail;
mod verify;

pub use error::AuditError;
pub use key::ArgumentsHash;
pub use log::Log;
pub use options::Options;
pub use reader::{Entry, Reader};
pub use record::{Decision, OutcomeKind, Record, Source, Waiting};
pub use report::{Last, Note, Problem, ProblemKind, Report};
pub use verify::verify;
