//! The lease: keeping the log's lock from one append to the next, for a while. Does not write.

use std::{
    io,
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::log::Core;

/// How long the lock is let go of after each record once another process was seen to append too.
const SHARING: Duration = Duration::from_secs(1);

/// Whether the lock is kept.
#[derive(Debug, Default)]
pub(crate) struct Lease {
    held: bool,
    /// When another process was last seen to append.
    shared: Option<Instant>,
}

impl Lease {
    pub(crate) const fn is_held(&self) -> bool {
        self.held
    }

    /// Returns whether nobody else has been at work for a while.
    pub(crate) fn may_start(&mut self) -> bool {
        if self.shared.is_some_and(|at| at.elapsed() > SHARING) {
            self.shared = None;
        }
        self.shared.is_none()
    }

    /// Keeps the lock from now on; returns whether this is new.
    pub(crate) const fn start(&mut self) -> bool {
        !std::mem::replace(&mut self.held, true)
    }

    pub(crate) const fn end(&mut self) {
        self.held = false;
    }

    /// Notes that another process appends as well.
    pub(crate) fn share(&mut self) {
        self.shared = Some(Instant::now());
    }
}

/// The thread that ends leases.
#[derive(Debug)]
pub(crate) struct Keeper {
    asked: Arc<Asked>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread is asked to do.
#[derive(Debug, Default)]
struct Asked {
    wish: Mutex<Wish>,
    changed: Condvar,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Wish {
    #[default]
    Nothing,
    EndLease,
    Stop,
}

impl Keeper {
    /// Starts the thread; it sleeps until the first lease.
    pub(crate) fn start(core: &Arc<Core>, lease: Duration) -> io::Result<Self> {
        let asked = Arc::new(Asked::default());
        let (theirs, core) = (Arc::clone(&asked), Arc::clone(core));
        let thread = thread::Builder::new()
            .name("jp-audit-lease".to_owned())
            .stack_size(64 * 1024)
            .spawn(move || theirs.look_after(&core, lease))?;
        Ok(Self {
            asked,
            thread: Some(thread),
        })
    }

    /// Asks to end the lease that has just begun, when it is over.
    pub(crate) fn wake(&self) {
        self.asked.set(Wish::EndLease);
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.asked.set(Wish::Stop);
        if let Some(thread) = self.thread.take() {
            // A panic in there has left the lock to be freed by closing the file.
            let _ = thread.join();
        }
    }
}

impl Asked {
    fn set(&self, wish: Wish) {
        *self.wish.lock().unwrap_or_else(PoisonError::into_inner) = wish;
        self.changed.notify_one();
    }

    fn look_after(&self, core: &Core, lease: Duration) {
        loop {
            let mut wish = self.wish.lock().unwrap_or_else(PoisonError::into_inner);
            while *wish == Wish::Nothing {
                wish = self
                    .changed
                    .wait(wish)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            let over = Instant::now() + lease;
            while *wish != Wish::Stop {
                let left = over.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                wish = self
                    .changed
                    .wait_timeout(wish, left)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0;
            }
            let stop = *wish == Wish::Stop;
            if !stop {
                *wish = Wish::Nothing;
            }
            drop(wish);
            let mut state = core.state();
            if state.lease.is_held() {
                // A head that could not be told now is told by the next append, of whichever process.
                let _ = state.let_go(core);
            }
            drop(state);
            if stop {
                return;
            }
        }
    }
}
