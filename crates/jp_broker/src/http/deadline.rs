//! How long a request may still take, and whether anyone still wants it. Does not know HTTP.

use std::{
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use super::HttpError;

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
}

impl<'a> Deadline<'a> {
    /// Starts the clock.
    pub(super) fn start(limit: Duration, stop: &'a dyn Fn() -> bool) -> Self {
        Self {
            start: Instant::now(),
            limit,
            stop,
        }
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
        Ok(left)
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
