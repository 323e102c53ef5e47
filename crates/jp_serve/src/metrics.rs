//! What a server has done so far, as numbers for whoever watches it.
//!
//! Names of tools come from the configuration, never from a request, and are bounded in number; all other
//! labels are words of ours.

mod process;
mod text;

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use jp_audit::OutcomeKind;
use jp_store::Millis;

use crate::keep::now;

pub(crate) use self::text::CONTENT_TYPE;

/// As many tools have numbers of their own; the others share one name.
const MOST_TOOLS: usize = 500;

/// The name of the tools beyond that. No tool has it: an id has no spaces.
const OTHERS: &str = "other tools";

/// As many kinds of answers over HTTP are told apart; there are fewer.
const MOST_ANSWERS: usize = 64;

/// The upper ends of the ranges that durations are counted in, in seconds.
const RANGES: [f64; 12] = [
    0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0,
];

/// Numbers of a server.
pub(crate) struct Metrics {
    started: Millis,
    calls: Mutex<BTreeMap<String, Tally>>,
    /// Answers over HTTP, by the place that was asked and the status.
    answers: Mutex<BTreeMap<(&'static str, u16), u64>>,
    connections: AtomicUsize,
    spills: AtomicU64,
    spilled_bytes: AtomicU64,
}

/// The calls of one tool.
#[derive(Default)]
struct Tally {
    /// How many ended how.
    outcomes: BTreeMap<&'static str, u64>,
    /// How many took how long: one number for each range, and one for what is longer.
    ranges: [u64; RANGES.len() + 1],
    seconds: f64,
}

/// What is there at the moment; the server knows it, and these numbers do not.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Present {
    pub(crate) sessions: usize,
    pub(crate) tasks: usize,
    pub(crate) listeners: usize,
    pub(crate) followed: usize,
    pub(crate) tools: usize,
}

/// A connection that is open.
pub(crate) struct Open<'a>(&'a AtomicUsize);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            started: now(),
            calls: Mutex::default(),
            answers: Mutex::default(),
            connections: AtomicUsize::new(0),
            spills: AtomicU64::new(0),
            spilled_bytes: AtomicU64::new(0),
        }
    }
}

impl Metrics {
    /// Counts a call of a tool of the configuration.
    pub(crate) fn called(&self, tool: &str, outcome: OutcomeKind, took: Duration) {
        let mut calls = lock(&self.calls);
        let known = calls.contains_key(tool) || calls.len() < MOST_TOOLS;
        let name = if known { tool } else { OTHERS };
        if !calls.contains_key(name) {
            calls.insert(name.to_owned(), Tally::default());
        }
        if let Some(tally) = calls.get_mut(name) {
            tally.add(outcome, took.as_secs_f64());
        }
    }

    /// Counts an answer over HTTP.
    pub(crate) fn answered(&self, path: &str, status: u16) {
        let places = ["/mcp", "/metrics", "/healthz", "/readyz"];
        let place = places.into_iter().find(|place| *place == path);
        let mut answers = lock(&self.answers);
        let key = (place.unwrap_or("other"), status);
        if answers.len() < MOST_ANSWERS || answers.contains_key(&key) {
            *answers.entry(key).or_default() += 1;
        }
    }

    /// Counts a result that was kept because it is large.
    pub(crate) fn spilled(&self, bytes: usize) {
        self.spills.fetch_add(1, Ordering::Relaxed);
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.spilled_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts a connection for as long as it is open.
    pub(crate) fn connected(&self) -> Open<'_> {
        self.connections.fetch_add(1, Ordering::Relaxed);
        Open(&self.connections)
    }
}

impl Tally {
    fn add(&mut self, outcome: OutcomeKind, seconds: f64) {
        *self.outcomes.entry(outcome.as_str()).or_default() += 1;
        let range = RANGES.iter().position(|end| seconds <= *end);
        if let Some(count) = self.ranges.get_mut(range.unwrap_or(RANGES.len())) {
            *count += 1;
        }
        self.seconds += seconds;
    }
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}
