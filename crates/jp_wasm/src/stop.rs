//! Stopping a guest: by its deadline or by its caller, while it computes and while it waits.
//!
//! A computing guest is asked at every epoch tick. A waiting one (asleep in a host call, or queued
//! for a turn) is woken by the ticker or by the cancel token and then dropped.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::{Arc, Mutex, PoisonError},
    task::{Poll, Waker},
    time::Instant,
};

use tokio::sync::{AcquireError, Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

use crate::{error::Stopped, ticker::Ticker};

/// When and whether a call has to end.
pub(crate) struct Stop {
    made: Instant,
    deadline: Instant,
    cancel: Option<CancellationToken>,
    waker: Mutex<Option<Waker>>,
}

impl Stop {
    /// Makes the end of a call that starts at a time.
    pub(crate) fn new(
        made: Instant,
        deadline: Instant,
        cancel: Option<CancellationToken>,
    ) -> Arc<Self> {
        Arc::new(Self {
            made,
            deadline,
            cancel,
            waker: Mutex::new(None),
        })
    }

    /// Says why the call has to end, if it has to.
    pub(crate) fn reason(&self) -> Option<Stopped> {
        self.reason_at(None)
    }

    /// Says why the call has to end at a time, or now. Asking for the time costs as much as a lock.
    fn reason_at(&self, time: Option<Instant>) -> Option<Stopped> {
        if self
            .cancel
            .as_ref()
            .is_some_and(CancellationToken::is_cancelled)
        {
            return Some(Stopped::Cancelled);
        }
        (time.unwrap_or_else(Instant::now) >= self.deadline).then_some(Stopped::Time)
    }

    /// Wakes the call when its time is over; true when it needs no more watching.
    pub(crate) fn wake_if_over(&self, now: Instant) -> bool {
        let over = now >= self.deadline;
        if over && let Some(waker) = self.lock().take() {
            waker.wake();
        }
        over
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Waker>> {
        self.waker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_waker(&self, waker: &Waker) {
        self.lock()
            .get_or_insert_with(|| waker.clone())
            .clone_from(waker);
    }
}

type Turn<'a> =
    Pin<Box<dyn Future<Output = Result<SemaphorePermit<'a>, AcquireError>> + Send + 'a>>;

/// Runs a guest's future under `stop`, in turns.
///
/// At most as many guests as there are cores compute at once; the others queue. Without that,
/// a hundred spinning guests would each be asked only every hundredth millisecond, and none could
/// be stopped in time. A guest gives its turn back whenever it yields or waits, so a thousand
/// sleeping guests hold no turn at all.
pub(crate) async fn run_in_turns<F: Future>(
    guest: F,
    stop: &Arc<Stop>,
    turns: &Semaphore,
    ticker: &Ticker,
) -> Result<F::Output, Stopped> {
    let mut guest = pin!(guest);
    let mut queued: Option<Turn<'_>> = None;
    let mut cancelled = None;
    let mut starts = Some(stop.made);
    poll_fn(|cx| {
        if let Some(reason) = stop.reason_at(starts.take()) {
            return Poll::Ready(Err(reason));
        }
        let turn = match queued.as_mut() {
            Some(turn) => turn.as_mut().poll(cx),
            None => match turns.try_acquire() {
                Ok(turn) => Poll::Ready(Ok(turn)),
                Err(_) => {
                    let queued = queued.insert(Box::pin(turns.acquire()));
                    queued.as_mut().poll(cx)
                }
            },
        };
        if let Poll::Ready(turn) = turn {
            queued = None;
            // The semaphore is never closed; without a turn the guest would still run correctly.
            let result = guest.as_mut().poll(cx);
            drop(turn);
            if let Poll::Ready(output) = result {
                return Poll::Ready(Ok(output));
            }
        }
        stop.set_waker(cx.waker());
        if cancelled.is_none() {
            ticker.watch(stop);
            cancelled = Some(Box::pin(wait_for_cancel(stop.cancel.clone())));
        }
        match cancelled
            .as_mut()
            .map(|cancelled| cancelled.as_mut().poll(cx))
        {
            Some(Poll::Ready(())) => Poll::Ready(Err(Stopped::Cancelled)),
            _ => Poll::Pending,
        }
    })
    .await
}

async fn wait_for_cancel(cancel: Option<CancellationToken>) {
    match cancel {
        Some(cancel) => cancel.cancelled_owned().await,
        None => std::future::pending().await,
    }
}
