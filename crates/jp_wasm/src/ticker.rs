//! Two threads beside the calls: one ticks the epoch and watches deadlines, the other makes spare
//! instances, takes down used ones and looks at files. Both sleep while nothing runs.

use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, Thread},
    time::{Duration, Instant},
};

use wasmtime::{EngineWeak, Store};

use crate::{host::State, looks::Looks, spares::Spares, stop::Stop};

/// How often running guests are asked whether they have to stop.
const TICK: Duration = Duration::from_millis(1);

/// How long ticking goes on after the last call: waking the thread costs the next caller 8 µs.
const LINGER: Duration = Duration::from_millis(250);

/// Used stores that may wait to be taken down; past that the caller does it.
const MAX_USED: usize = 32;

/// Ticks while calls run.
pub(crate) struct Ticker {
    shared: Arc<Shared>,
    thread: OnceLock<Thread>,
    starting: Mutex<()>,
}

struct Shared {
    engine: EngineWeak,
    looks: Arc<Looks>,
    running: AtomicUsize,
    asleep: AtomicBool,
    watched: Mutex<Vec<Weak<Stop>>>,
    chores: Mutex<Chores>,
    has_chores: AtomicBool,
    /// Whether to look at files. Not by the first thread: a dead file server must not stop the clock.
    has_looks: AtomicBool,
    /// Whether the second thread has to be woken.
    worker_asleep: AtomicBool,
}

/// What the second thread has to do.
#[derive(Default)]
struct Chores {
    used: Vec<Store<State>>,
    refill: Vec<Arc<Spares>>,
}

impl Chores {
    const fn are_done(&self) -> bool {
        self.used.is_empty() && self.refill.is_empty()
    }
}

/// Keeps the ticker awake for one call.
pub(crate) struct Running<'a>(&'a Shared);

impl<'a> Running<'a> {
    fn new(shared: &'a Shared) -> Self {
        shared.running.fetch_add(1, Ordering::SeqCst);
        Self(shared)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Ticker {
    pub(crate) fn new(engine: &wasmtime::Engine, looks: &Arc<Looks>) -> Self {
        let shared = Arc::new(Shared {
            engine: engine.weak(),
            looks: Arc::clone(looks),
            running: AtomicUsize::new(0),
            asleep: AtomicBool::new(false),
            watched: Mutex::default(),
            chores: Mutex::default(),
            has_chores: AtomicBool::new(false),
            has_looks: AtomicBool::new(false),
            worker_asleep: AtomicBool::new(false),
        });
        Self {
            shared,
            thread: OnceLock::new(),
            starting: Mutex::default(),
        }
    }

    /// Ticks at least until the returned value is dropped; nothing when the system has no thread
    /// left for it.
    pub(crate) fn enter(&self) -> Option<Running<'_>> {
        let running = Running::new(&self.shared);
        let thread = match self.thread.get() {
            Some(thread) => thread,
            None => self.start()?,
        };
        if self.shared.asleep.load(Ordering::SeqCst) {
            thread.unpark();
        }
        Some(running)
    }

    fn start(&self) -> Option<&Thread> {
        let _starting = lock(&self.starting);
        if self.thread.get().is_none() {
            let ticking = Arc::downgrade(&self.shared);
            let thread = spawn("jp-ticker", move || tick(&ticking))?;
            return Some(self.thread.get_or_init(|| thread));
        }
        self.thread.get()
    }

    /// Wakes the call when its deadline is over.
    pub(crate) fn watch(&self, stop: &Arc<Stop>) {
        lock(&self.shared.watched).push(Arc::downgrade(stop));
    }

    /// Hands over a used store; gives it back when too many wait already.
    pub(crate) fn take_down(&self, store: Store<State>) -> Option<Store<State>> {
        let mut chores = lock(&self.shared.chores);
        if chores.used.len() >= MAX_USED {
            return Some(store);
        }
        chores.used.push(store);
        self.shared.has_chores.store(true, Ordering::Release);
        None
    }

    /// Asks for spare instances to be made.
    pub(crate) fn refill(&self, spares: &Arc<Spares>) {
        lock(&self.shared.chores).refill.push(Arc::clone(spares));
        self.shared.has_chores.store(true, Ordering::Release);
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        // The threads notice that nobody holds the shared state any more.
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Option<Thread> {
    let started = thread::Builder::new().name(name.to_owned()).spawn(body);
    started.ok().map(|handle| handle.thread().clone())
}

fn tick(shared: &Weak<Shared>) {
    // A command that makes one call needs no second thread, and starting one costs it time.
    let mut worker = None;
    let mut idle_since = Instant::now();
    loop {
        let Some(shared) = shared.upgrade() else {
            break;
        };
        let Some(engine) = shared.engine.upgrade() else {
            break;
        };
        engine.increment_epoch();
        drop(engine);
        let now = Instant::now();
        lock(&shared.watched)
            .retain(|stop| stop.upgrade().is_some_and(|stop| !stop.wake_if_over(now)));
        let looks = shared.looks.are_wanted();
        if looks {
            shared.has_looks.store(true, Ordering::SeqCst);
        }
        if shared.has_chores.swap(false, Ordering::AcqRel) || looks {
            // Without it no spares are made, and callers take down their own instances.
            worker = worker.or_else(|| {
                let working = Arc::downgrade(&shared);
                spawn("jp-spares", move || work(&working))
            });
            if let Some(worker) = &worker
                && shared.worker_asleep.load(Ordering::SeqCst)
            {
                worker.unpark();
            }
        }
        if shared.running.load(Ordering::SeqCst) > 0 {
            idle_since = now;
        }
        if now - idle_since < LINGER {
            drop(shared);
            thread::sleep(TICK);
            continue;
        }
        shared.asleep.store(true, Ordering::SeqCst);
        if shared.running.load(Ordering::SeqCst) == 0 {
            let asleep = Arc::downgrade(&shared);
            drop(shared);
            thread::park();
            if let Some(shared) = asleep.upgrade() {
                shared.asleep.store(false, Ordering::SeqCst);
            }
        } else {
            shared.asleep.store(false, Ordering::SeqCst);
        }
        idle_since = Instant::now();
    }
    if let Some(worker) = worker {
        worker.unpark();
    }
}

fn work(shared: &Weak<Shared>) {
    // A hostile guest may wait for a clock while it is started, and WASI's clocks panic outside of
    // a runtime. This one is never driven: such a guest waits until it is given up.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    let _entered = runtime.as_ref().ok().map(|runtime| runtime.enter());
    let mut idle_since = Instant::now();
    loop {
        let Some(now) = shared.upgrade() else { break };
        let chores = std::mem::take(&mut *lock(&now.chores));
        let looks = now.has_looks.swap(false, Ordering::SeqCst);
        if looks {
            now.looks.again();
        }
        if chores.are_done() && !looks {
            rest(now, idle_since);
            continue;
        }
        idle_since = Instant::now();
        drop(chores.used);
        if runtime.is_ok() && !chores.refill.is_empty() {
            // Only a ticking epoch stops a guest that spins while it is started.
            let _ticking = Running::new(&now);
            for spares in chores.refill {
                spares.fill();
            }
        }
    }
}

/// Rests for a millisecond while there was something to do lately, since being woken costs two system
/// calls each time, and afterwards until there is something again.
fn rest(shared: Arc<Shared>, idle_since: Instant) {
    if idle_since.elapsed() < LINGER {
        drop(shared);
        thread::sleep(TICK);
        return;
    }
    shared.worker_asleep.store(true, Ordering::SeqCst);
    // What came before that was said has woken nobody.
    let is_idle = lock(&shared.chores).are_done();
    if is_idle && !shared.has_looks.load(Ordering::SeqCst) {
        let asleep = Arc::downgrade(&shared);
        drop(shared);
        thread::park();
        if let Some(shared) = asleep.upgrade() {
            shared.worker_asleep.store(false, Ordering::SeqCst);
        }
    } else {
        shared.worker_asleep.store(false, Ordering::SeqCst);
    }
}
