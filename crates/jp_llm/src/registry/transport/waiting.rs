//! Waiting for a server: who hears about it, and which servers never answered.

use std::{
    cell::Cell,
    collections::BTreeMap,
    io::{self, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use jp_registry::FetchError;

/// How a wait for a server goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait<'a> {
    /// Nothing has come yet.
    Since {
        /// The host, with its port if it has one.
        host: &'a str,
        /// How long it has been.
        elapsed: Duration,
    },
    /// It is over, one way or the other.
    Over,
}

/// Told again and again that nothing has come yet, and at last that the wait is over.
pub type Waiting = Arc<dyn Fn(Wait<'_>) + Send + Sync>;

/// Servers that did not answer, and what was said of them. A registry is several documents: without
/// this, one that never answers would be waited for once for each.
#[derive(Default)]
pub(super) struct Silent(Mutex<BTreeMap<String, String>>);

impl Silent {
    /// Refuses to wait for a server again.
    pub(super) fn check(&self, host: &str, url: &str) -> Result<(), FetchError> {
        match self.lock().get(host) {
            Some(reason) => Err(FetchError::Unreachable {
                from: url.to_owned(),
                reason: reason.clone(),
            }),
            None => Ok(()),
        }
    }

    /// Remembers that nothing came from a server in all that time.
    pub(super) fn add(&self, host: &str, url: &str, time: Duration) -> FetchError {
        let reason = format!("no response within {} s", time.as_secs_f64());
        self.lock().insert(host.to_owned(), reason.clone());
        FetchError::Unreachable {
            from: url.to_owned(),
            reason,
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Passes bytes on and notices the first.
pub(super) struct Arrival<'a> {
    pub(super) sink: &'a mut dyn Write,
    pub(super) came: &'a Cell<bool>,
}

impl Write for Arrival<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.came.set(true);
        self.sink.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}
