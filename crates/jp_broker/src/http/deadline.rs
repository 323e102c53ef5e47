//! How long a request may still take, and whether anyone still wants it. Does not know HTTP.

use std::{
    cell::Cell,
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::{Duration, Instant},
};

use super::{HttpError, download::Pace};

/// How long the client waits before it looks at `stop` again.
const SLICE: Duration = Duration::from_millis(5);

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

    /// Waits for a part of the response: no longer than `most`, and not beyond this end.
    pub(super) fn wait_within<T>(
        &self,
        most: Option<Duration>,
        work: impl Future<Output = T>,
    ) -> Result<T, HttpError> {
        match most.filter(|most| self.left().is_ok_and(|left| *most < left)) {
            Some(most) => Self::start(most, self.stop).wait(work),
            None => self.wait(work),
        }
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

    /// Waits for a future on this thread, no longer than there is time and interest. The future must
    /// need no runtime of its own.
    pub(super) fn wait<T>(&self, future: impl Future<Output = T>) -> Result<T, HttpError> {
        let mut future = pin!(future);
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let mut context = Context::from_waker(&waker);
        loop {
            let left = self.left()?;
            if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
                return Ok(done);
            }
            thread::park_timeout(left.min(SLICE));
        }
    }
}

/// Unparks the thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
