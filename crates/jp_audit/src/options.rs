//! How a log is kept.

use std::time::Duration;

/// Sets when files are closed and how many stay.
#[derive(Debug, Clone)]
pub struct Options {
    /// A file that has reached this size is closed, and the next record starts a new one.
    pub max_bytes_per_file: u64,
    /// How many closed files are kept; `None` keeps all.
    pub keep: Option<u64>,
    /// How long the log's lock may be kept from one append to the next, for a process that appends
    /// all the time; `None` lets go of it after each record. Others wait that long at most.
    /// Records are never held back: they are in the file when [`crate::Log::append`] returns. The
    /// head hears of them when the lease is over or 64 are due, so that an append is one system call.
    pub lease: Option<Duration>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_bytes_per_file: 64 << 20,
            keep: None,
            lease: None,
        }
    }
}
