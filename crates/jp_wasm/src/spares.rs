//! Spare instances: made ahead of time, without any authority, and used once.
//!
//! Making an instance costs most of a call and needs nothing the caller knows, so somebody else
//! does it before the call comes.

use std::{
    future::Future,
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wasmtime::Store;

use crate::{
    engine::new_store,
    guest::{Guest, GuestPre},
    host::State,
    stop::Stop,
};

/// Memory that all spares of one component may hold together.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// A component that takes longer to start is not worth keeping spares of.
const MAX_START: Duration = Duration::from_millis(20);

/// A guest brought to life before anybody called it.
pub(crate) struct Spare {
    pub(crate) store: Store<State>,
    pub(crate) guest: Guest,
    /// Given back when the spare is used: from then on the call's own place counts.
    pub(crate) place: OwnedSemaphorePermit,
}

/// How often a spare was there when it was wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpareUse {
    /// Calls that found a spare.
    pub hits: u64,
    /// Calls that had to make their own instance.
    pub misses: u64,
}

/// The spare instances of one component.
pub(crate) struct Spares {
    pre: GuestPre,
    places: Arc<Semaphore>,
    ready: Mutex<Vec<Spare>>,
    most: usize,
    wanted: AtomicUsize,
    queued: AtomicBool,
    refused: AtomicBool,
    memory: AtomicUsize,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl Spares {
    /// Keeps at most `most` spares of a component; all components together share `places`.
    pub(crate) fn new(pre: GuestPre, most: usize, places: &Arc<Semaphore>) -> Arc<Self> {
        Arc::new(Self {
            pre,
            places: Arc::clone(places),
            ready: Mutex::default(),
            most,
            wanted: AtomicUsize::new(most.min(2)),
            queued: AtomicBool::new(false),
            refused: AtomicBool::new(false),
            memory: AtomicUsize::new(0),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        })
    }

    pub(crate) fn pre(&self) -> &GuestPre {
        &self.pre
    }

    pub(crate) fn counts(&self) -> SpareUse {
        SpareUse {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
        }
    }

    /// Whether spares of this component are kept at all.
    pub(crate) fn are_kept(&self) -> bool {
        self.most > 0 && !self.refused.load(Ordering::Relaxed)
    }

    /// Takes a spare, if one is ready; true beside it when the stock should be filled again.
    pub(crate) fn take(&self) -> (Option<Spare>, bool) {
        if !self.are_kept() {
            return (None, false);
        }
        let spare = self.lock().pop();
        match &spare {
            Some(_) => self.hits.fetch_add(1, Ordering::Relaxed),
            None => {
                // Calls come faster than the stock is filled: keep more.
                let wanted = self.wanted.load(Ordering::Relaxed);
                self.wanted
                    .store((wanted * 2).clamp(1, self.most), Ordering::Relaxed);
                self.misses.fetch_add(1, Ordering::Relaxed)
            }
        };
        (spare, !self.queued.swap(true, Ordering::AcqRel))
    }

    /// Notes what an instance made by a call held and did while starting.
    pub(crate) fn note_start(&self, touched: bool, held: usize) {
        if touched {
            self.refused.store(true, Ordering::Relaxed);
        }
        self.memory.store(held, Ordering::Relaxed);
    }

    /// Makes spares until the stock is full. Runs on its own thread.
    pub(crate) fn fill(&self) {
        self.queued.store(false, Ordering::Release);
        let memory = self.memory.load(Ordering::Relaxed).max(1);
        let room = MAX_BYTES / memory;
        while self.are_kept() {
            let wanted = self.wanted.load(Ordering::Relaxed).min(room);
            if self.lock().len() >= wanted {
                return;
            }
            // Spares of others take all the room: calls of this component make their own instances.
            let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
                return;
            };
            match self.make(place) {
                Some(spare) => self.lock().push(spare),
                None => self.refused.store(true, Ordering::Relaxed),
            }
        }
    }

    /// Makes one spare; none when the guest spins, waits or touches WASI while starting.
    fn make(&self, place: OwnedSemaphorePermit) -> Option<Spare> {
        let now = Instant::now();
        let stop = Stop::new(now, now + MAX_START, None);
        let mut store = new_store(self.pre.engine(), stop, MAX_BYTES).ok()?;
        store.set_fuel(u64::MAX).ok()?;
        store.set_epoch_deadline(1);
        let guest = {
            let mut starting = pin!(self.pre.instantiate(&mut store));
            let mut context = Context::from_waker(Waker::noop());
            let started = Instant::now();
            loop {
                match starting.as_mut().poll(&mut context) {
                    Poll::Ready(guest) => break guest.ok()?,
                    Poll::Pending if started.elapsed() > MAX_START => return None,
                    Poll::Pending => std::thread::yield_now(),
                }
            }
        };
        let state = store.data();
        (!state.touched).then_some(())?;
        self.memory.store(state.limiter.held(), Ordering::Relaxed);
        if self.pre.kind().sees_files() {
            // Most of those that can ask for it do, and here nobody waits.
            store.data_mut().make_wasi();
        }
        Some(Spare {
            store,
            guest,
            place,
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Spare>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
