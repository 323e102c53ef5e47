//! Counts, in builds with debug assertions, how much is done between two asks of the budget, once a test has begun to
//! count on its thread. In every other build all of it is empty.
//!
//! A loop that asks nobody cannot be seen from outside, so what could make one long is watched: data that is handed
//! out in one piece (a line, a whole file, an argument) must be paid for by asks, and no ask pays for more than
//! [`MOST_BYTES`]; output that is collected must be written out before it is larger than that.

use std::cell::RefCell;

/// The most bytes that may lie between two asks.
pub const MOST_BYTES: usize = 64 << 10;

/// The most steps of an inner language that may lie between two asks.
const MOST_STEPS: u64 = 10_000;

#[derive(Default)]
struct Counts {
    /// Bytes that were handed out and not yet paid for by asks.
    owed: usize,
    /// What went past a bound.
    late: Vec<String>,
}

thread_local! {
    static COUNTS: RefCell<Option<Counts>> = const { RefCell::new(None) };
}

#[inline]
fn with(f: impl FnOnce(&mut Counts)) {
    if cfg!(debug_assertions) {
        COUNTS.with(|counts| counts.borrow_mut().as_mut().map_or((), f));
    }
}

impl Counts {
    fn settle(&mut self) {
        if self.owed > MOST_BYTES {
            self.late.push(format!("{} bytes unasked for", self.owed));
        }
        self.owed = 0;
    }
}

/// Counts data of that length, handed out in one piece.
#[inline]
pub fn handed(bytes: usize) {
    with(|counts| {
        counts.settle();
        counts.owed = bytes;
    });
}

/// Counts data of that length, held beside what was handed out before.
#[inline]
pub fn kept(bytes: usize) {
    with(|counts| counts.owed = counts.owed.saturating_add(bytes));
}

/// Counts that the budget was asked for that many units of work.
#[inline]
pub fn asked(units: u32) {
    with(|counts| {
        let bytes = (units as usize).saturating_mul(1024);
        counts.owed = counts.owed.saturating_sub(bytes);
        if bytes > MOST_BYTES + 1024 {
            counts.late.push(format!("one ask for {units} units"));
        }
    });
}

/// Counts that the budget was asked for that many steps of an inner language.
#[inline]
pub(crate) fn stepped(steps: u64) {
    with(|counts| {
        if steps > MOST_STEPS {
            counts.late.push(format!("one ask for {steps} steps"));
        }
    });
}

/// Counts that much output, collected before it was written.
#[inline]
pub(crate) fn collected(bytes: usize) {
    with(|counts| {
        if bytes > 2 * MOST_BYTES {
            counts.late.push(format!("{bytes} bytes of output at once"));
        }
    });
}

/// Counts that many bytes as written, which asks too.
#[inline]
pub fn wrote(bytes: usize) {
    with(|counts| counts.owed = counts.owed.saturating_sub(bytes));
}

/// Begins to count on this thread.
pub fn start() {
    COUNTS.with(|counts| *counts.borrow_mut() = Some(Counts::default()));
}

/// Ends counting; returns what went past a bound, the first few.
pub fn finish() -> Vec<String> {
    with(Counts::settle);
    let counts = COUNTS.with(|counts| counts.borrow_mut().take());
    let mut late = counts.unwrap_or_default().late;
    late.dedup();
    late.truncate(5);
    late
}
