//! How long a request may still take, and whether anyone still wants it. Does not know HTTP.

use std::{
    cell::Cell,
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use super::{HttpError, download::Pace};

/// How long the client waits before it looks at `stop` again.
const SLICE: Duration = Duration::from_millis(5);

/// How many lookups and connections may be under way in the process. The system's resolver cannot be
/// interrupted, so a lookup may outlive its request by half a minute.
const MAX_WORKERS: usize = 64;

static WORKERS: AtomicUsize = AtomicUsize::new(0);

/// The end of a request's time, and the caller's way to end it earlier.
pub(super) struct Deadline<'a> {
    start: Instant,
    limit: Duration,
    stop: &'a dyn Fn() -> bool,
    pace: Option<Meter>,
}

/// How much arrived since when.
struct Meter {
    least: Pace,
    since: Cell<Instant>,
    arrived: Cell<u64>,
}

impl Meter {
    /// Tells whether too little arrived, and starts anew after each stretch of time with enough.
    fn is_stalled(&self) -> bool {
        if self.since.get().elapsed() < self.least.within {
            return false;
        }
        if self.arrived.get() < self.least.bytes {
            return true;
        }
        self.since.set(Instant::now());
        self.arrived.set(0);
        false
    }
}

impl<'a> Deadline<'a> {
    /// Starts the clock.
    pub(super) fn start(limit: Duration, stop: &'a dyn Fn() -> bool) -> Self {
        Self {
            start: Instant::now(),
            limit,
            stop,
            pace: None,
        }
    }

    /// Ends the request also when less than the least arrives.
    pub(super) fn with_pace(mut self, least: Pace) -> Self {
        self.pace = Some(Meter {
            least,
            since: Cell::new(self.start),
            arrived: Cell::new(0),
        });
        self
    }

    /// Counts what arrived.
    pub(super) fn arrived(&self, count: usize) {
        if let Some(meter) = &self.pace {
            let sum = meter.arrived.get().saturating_add(count as u64);
            meter.arrived.set(sum);
        }
    }

    /// Tells whether the request ended because too little arrived.
    pub(super) fn is_stalled(&self) -> bool {
        self.pace.as_ref().is_some_and(Meter::is_stalled)
    }

    /// Returns the time left, which is never zero.
    pub(super) fn left(&self) -> Result<Duration, HttpError> {
        if (self.stop)() {
            return Err(HttpError::Cancelled);
        }
        let left = self.limit.saturating_sub(self.start.elapsed());
        if left.is_zero() {
            return Err(HttpError::Timeout { limit: self.limit });
        }
        match &self.pace {
            Some(meter) if meter.is_stalled() => Err(HttpError::Timeout {
                limit: meter.least.within,
            }),
            _ => Ok(left),
        }
    }

    /// Returns how long to block before looking again.
    pub(super) fn slice(&self) -> Result<Duration, HttpError> {
        Ok(self.left()?.min(SLICE))
    }
}

/// Runs `work` on a thread of its own and waits for it no longer than the deadline allows.
///
/// For system calls that block and cannot be interrupted. A thread that comes too late drops its
/// result.
pub(super) fn in_time<T: Send + 'static>(
    deadline: &Deadline<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, HttpError> {
    let place = loop {
        match Place::take() {
            Some(place) => break place,
            None => thread::sleep(deadline.slice()?),
        }
    };
    let (sender, receiver) = mpsc::channel();
    let failed = |reason: &str| HttpError::Other {
        host: "the network".to_owned(),
        reason: reason.to_owned(),
    };
    let thread = thread::Builder::new().name("jp-http".to_owned());
    let spawned = thread.spawn(move || {
        let result = work();
        drop(place);
        // Nobody listens any more when the request ran out of time.
        let _ = sender.send(result);
    });
    spawned.map_err(|_| failed("no thread to wait for it on"))?;
    loop {
        match receiver.recv_timeout(deadline.slice()?) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(failed("a lookup or connect died")),
        }
    }
}

/// One of the [`MAX_WORKERS`] places, given back when dropped.
struct Place;

impl Place {
    fn take() -> Option<Self> {
        let more = |count| (count < MAX_WORKERS).then_some(count + 1);
        let taken = WORKERS.fetch_update(Ordering::AcqRel, Ordering::Acquire, more);
        taken.is_ok().then_some(Self)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        WORKERS.fetch_sub(1, Ordering::AcqRel);
    }
}
