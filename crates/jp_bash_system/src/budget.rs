//! What is left of a run's limits: one value, shared by everything nested in the run.
//!
//! Checked before allocating. Knows no clock of its own: the host's monotonic time and cancel flag are
//! looked at every few thousand units of work, through what the embedder handed over.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::meter;
use crate::stop::{Limit, Stop};

/// The bounds of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Simple commands.
    pub commands: u64,
    /// Loop turns and steps of inner languages.
    pub loops: u64,
    /// Bytes of captured output, standard output and error together.
    pub output: u64,
    /// Bytes held at once.
    pub memory: u64,
    /// Open descriptors.
    pub files: u64,
    /// Nesting.
    pub depth: u64,
    /// Elapsed time.
    pub time: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            commands: 1_000_000,
            loops: 10_000_000,
            output: 10 << 20,
            memory: 256 << 20,
            files: 1024,
            depth: 1_000,
            time: Duration::from_secs(30),
        }
    }
}

/// Returns the time since some fixed moment; never goes back.
pub type Monotonic = Arc<dyn Fn() -> Duration + Send + Sync>;

/// What is left.
pub struct Budget {
    bounds: Bounds,
    commands: Cell<u64>,
    loops: Cell<u64>,
    output: Cell<u64>,
    memory: Cell<u64>,
    depth: Cell<u64>,
    until_check: Cell<u32>,
    cancel: Arc<AtomicBool>,
    clock: Monotonic,
    deadline: Duration,
}

/// How many bytes a loop over data goes through before it asks again.
pub const PIECE: usize = 32 << 10;

/// How many units of work pass between two looks at the clock.
const CHECK_EVERY: u32 = 256;

impl Budget {
    /// Starts a run now.
    pub fn new(bounds: Bounds, cancel: Arc<AtomicBool>, clock: Monotonic) -> Self {
        let deadline = clock().saturating_add(bounds.time);
        Self {
            bounds,
            commands: Cell::new(0),
            loops: Cell::new(0),
            output: Cell::new(0),
            memory: Cell::new(0),
            depth: Cell::new(0),
            until_check: Cell::new(CHECK_EVERY),
            cancel,
            clock,
            deadline,
        }
    }

    /// Returns the bounds the run started with.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// Returns the moment, on the monotonic clock, at which the run must be over.
    pub fn deadline(&self) -> Duration {
        self.deadline
    }

    /// Counts one simple command.
    pub fn command(&self) -> Result<(), Stop> {
        spend(&self.commands, 1, self.bounds.commands, Limit::Commands)?;
        self.work(1)
    }

    /// Counts loop turns, or steps of an inner language.
    pub fn turns(&self, n: u64) -> Result<(), Stop> {
        meter::stepped(n);
        spend(&self.loops, n, self.bounds.loops, Limit::Loops)?;
        self.work(1)
    }

    /// Counts bytes of captured output, before they are kept.
    pub fn output(&self, bytes: usize) -> Result<(), Stop> {
        spend(
            &self.output,
            bytes as u64,
            self.bounds.output,
            Limit::Output,
        )
    }

    /// Returns how many bytes of output may still be kept.
    pub fn output_left(&self) -> u64 {
        self.bounds.output.saturating_sub(self.output.get())
    }

    /// Counts bytes that are about to be held; refused before they are allocated. What is held has to be made,
    /// so that this is work too.
    pub fn reserve(&self, bytes: u64) -> Result<(), Stop> {
        spend(&self.memory, bytes, self.bounds.memory, Limit::Memory)?;
        self.made(bytes)
    }

    /// Asks whether that many bytes may be held for a moment, and counts making them.
    pub fn room(&self, bytes: usize) -> Result<(), Stop> {
        if bytes as u64 > self.memory_left() {
            return Err(Stop::Limit(Limit::Memory));
        }
        self.made(bytes as u64)
    }

    /// Counts the work of making what is held.
    #[inline]
    pub fn made(&self, bytes: u64) -> Result<(), Stop> {
        let units = u32::try_from(bytes >> 10).unwrap_or(u32::MAX - 1) + 1;
        match self.until_check.get().checked_sub(units) {
            Some(left) => {
                self.until_check.set(left);
                Ok(())
            }
            None => self.look(),
        }
    }

    /// Counts bytes that outlive the call: variables, files, functions. They leave some of the limit free, so that
    /// a session that is full can still be looked at and emptied.
    pub fn reserve_kept(&self, bytes: u64) -> Result<(), Stop> {
        spend(&self.memory, bytes, self.most_kept(), Limit::Memory)?;
        self.made(bytes)
    }

    /// Counts what earlier calls left; never refused, since only a call can remove it.
    pub fn inherit(&self, bytes: u64) {
        let sum = self.memory.get().saturating_add(bytes);
        self.memory.set(sum.min(self.most_kept()));
    }

    fn most_kept(&self) -> u64 {
        self.bounds.memory - self.bounds.memory / 16
    }

    /// Returns how many bytes may still be held.
    pub fn memory_left(&self) -> u64 {
        self.bounds.memory.saturating_sub(self.memory.get())
    }

    /// Gives back bytes that are no longer held.
    pub fn release(&self, bytes: u64) {
        self.memory.set(self.memory.get().saturating_sub(bytes));
    }

    /// Enters one level of nesting; every `Ok` needs one [`Budget::leave`].
    pub fn enter(&self) -> Result<(), Stop> {
        spend(&self.depth, 1, self.bounds.depth, Limit::Depth)
    }

    /// Leaves one level of nesting.
    pub fn leave(&self) {
        self.depth.set(self.depth.get().saturating_sub(1));
    }

    /// Counts work that has no limit of its own, so that long work still sees time and cancel.
    /// One unit is about as much as one simple command, one line or one kilobyte.
    #[inline]
    pub fn work(&self, units: u32) -> Result<(), Stop> {
        meter::asked(units);
        match self.until_check.get().checked_sub(units) {
            Some(left) => {
                self.until_check.set(left);
                Ok(())
            }
            None => self.look(),
        }
    }

    /// Counts bytes that a loop goes through, a [`PIECE`] of them at a time.
    #[inline]
    pub fn work_bytes(&self, bytes: usize) -> Result<(), Stop> {
        self.work(units(bytes))
    }

    /// Looks at clock and cancel flag now.
    #[cold]
    pub fn look(&self) -> Result<(), Stop> {
        self.until_check.set(CHECK_EVERY);
        if self.cancel.load(Ordering::Relaxed) {
            return Err(Stop::Cancelled);
        }
        if (self.clock)() >= self.deadline {
            return Err(Stop::Limit(Limit::Time));
        }
        Ok(())
    }
}

/// Returns how much work going through that many bytes is.
#[inline]
pub fn units(bytes: usize) -> u32 {
    u32::try_from(bytes >> 10).unwrap_or(u32::MAX - 1) + 1
}

#[inline]
fn spend(used: &Cell<u64>, more: u64, bound: u64, limit: Limit) -> Result<(), Stop> {
    let sum = used.get().saturating_add(more);
    if sum > bound {
        return Err(Stop::Limit(limit));
    }
    used.set(sum);
    Ok(())
}
