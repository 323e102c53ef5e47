//! Who may do how much at once: calls take turns, and principals take turns among each other.
//!
//! A principal has so many calls that run and so many that wait. Where all principals together want more
//! than the server runs at once, each free place goes to the next principal in a ring: whoever floods the
//! server waits behind their own calls, and nobody else does.

mod shift;

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use jp_config::{Count, ServeLimitsConfig};
use tokio::{sync::oneshot, time};

pub(crate) use self::shift::Shift;

/// A call that has waited this long for its turn is refused.
const PATIENCE: Duration = Duration::from_secs(60);

/// Requests of one principal that are arriving, and small ones that are answered at once, such as looks at
/// a task: they take no turns, since calls that hold one may wait for them.
const MOST_SMALL: usize = 512;

/// How much a principal may do at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    concurrency: usize,
    queue: usize,
    streams: usize,
    total: usize,
}

impl Limits {
    pub(crate) fn of(config: &ServeLimitsConfig) -> Self {
        let or = |count: Option<Count>, default: usize| {
            count.map_or(default, |count| {
                usize::try_from(count.get()).unwrap_or(usize::MAX)
            })
        };
        Self {
            concurrency: or(config.concurrency, 32),
            queue: or(config.queue, 256),
            streams: or(config.streams, 128),
            total: or(config.total, 128),
        }
    }
}

/// What a request wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// To run something.
    Call,
    /// To hear of something for as long as it lasts.
    Stream,
    /// To be answered at once.
    Small,
}

/// Why a request is refused for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Busy {
    #[error("too many calls at once: wait until some of yours have ended (limit: {0} waiting)")]
    Queue(usize),
    #[error("too many calls at once: this one waited for {} s", PATIENCE.as_secs())]
    Late,
    #[error("too many streams: end some of yours first (limit: {0})")]
    Streams(usize),
    #[error("too many requests at once (limit: {MOST_SMALL})")]
    Small,
}

/// Who runs, who waits, and whose turn is next.
#[derive(Default)]
pub(crate) struct Queue(Mutex<State>);

#[derive(Default)]
struct State {
    running: usize,
    total: usize,
    lines: HashMap<Arc<str>, Line>,
    /// The principals that have calls waiting, each once.
    ring: VecDeque<Arc<str>>,
}

/// What one principal does.
#[derive(Default)]
struct Line {
    running: usize,
    concurrency: usize,
    streams: usize,
    small: usize,
    waiting: VecDeque<oneshot::Sender<()>>,
}

/// A place that a request holds until this is dropped.
pub(crate) struct Turn {
    queue: Arc<Queue>,
    name: Arc<str>,
    kind: Kind,
    limits: Limits,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.queue.leave(&self.name, self.kind);
    }
}

/// A call that waits; given up when this is dropped.
struct Waiting {
    queue: Arc<Queue>,
    name: Arc<str>,
    turn: Option<oneshot::Receiver<()>>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let Some(mut turn) = self.turn.take() else {
            return;
        };
        turn.close();
        // Its turn may have come at this very moment.
        if turn.try_recv().is_ok() {
            self.queue.leave(&self.name, Kind::Call);
        }
    }
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a request in, at once or when its turn has come.
    pub(crate) async fn enter(
        self: &Arc<Self>,
        name: &str,
        kind: Kind,
        limits: &Limits,
    ) -> Result<Turn, Busy> {
        let name: Arc<str> = name.into();
        let turn = |name| Turn {
            queue: Arc::clone(self),
            name,
            kind,
            limits: *limits,
        };
        let Some(come) = self.state().ask(&name, kind, limits)? else {
            return Ok(turn(name));
        };
        let mut waiting = Waiting {
            queue: Arc::clone(self),
            name: Arc::clone(&name),
            turn: Some(come),
        };
        let come = waiting
            .turn
            .as_mut()
            .map(|come| time::timeout(PATIENCE, come));
        match come {
            Some(come) => match come.await {
                Ok(Ok(())) => {
                    waiting.turn = None;
                    Ok(turn(name))
                }
                _ => Err(Busy::Late),
            },
            None => Err(Busy::Late),
        }
    }

    fn leave(&self, name: &str, kind: Kind) {
        let mut state = self.state();
        let Some(line) = state.lines.get_mut(name) else {
            return;
        };
        match kind {
            Kind::Call => {
                line.running = line.running.saturating_sub(1);
                state.running = state.running.saturating_sub(1);
                state.hand_out();
            }
            Kind::Stream => line.streams = line.streams.saturating_sub(1),
            Kind::Small => line.small = line.small.saturating_sub(1),
        }
        state.forget(name);
    }
}

impl State {
    /// Takes a place, or stands in line for it.
    fn ask(
        &mut self,
        name: &Arc<str>,
        kind: Kind,
        limits: &Limits,
    ) -> Result<Option<oneshot::Receiver<()>>, Busy> {
        self.total = limits.total;
        let is_full = self.running >= self.total;
        let line = self.lines.entry(Arc::clone(name)).or_default();
        line.concurrency = limits.concurrency;
        match kind {
            Kind::Stream if line.streams >= limits.streams => {
                return Err(Busy::Streams(limits.streams));
            }
            Kind::Stream => line.streams += 1,
            Kind::Small if line.small >= MOST_SMALL => return Err(Busy::Small),
            Kind::Small => line.small += 1,
            Kind::Call => {
                // Those who went away are not counted.
                line.waiting.retain(|one| !one.is_closed());
                let is_free = line.running < line.concurrency && line.waiting.is_empty();
                if is_free && !is_full {
                    line.running += 1;
                    self.running += 1;
                    return Ok(None);
                }
                if line.waiting.len() >= limits.queue {
                    return Err(Busy::Queue(limits.queue));
                }
                let (sender, come) = oneshot::channel();
                line.waiting.push_back(sender);
                if !self.ring.contains(name) {
                    self.ring.push_back(Arc::clone(name));
                }
                return Ok(Some(come));
            }
        }
        Ok(None)
    }

    /// Gives free places to those whose turn it is: one for each principal, round and round.
    fn hand_out(&mut self) {
        let mut passed_over = 0;
        while self.running < self.total && passed_over < self.ring.len() {
            let Some(name) = self.ring.pop_front() else {
                return;
            };
            let Some(line) = self.lines.get_mut(&name) else {
                continue;
            };
            if line.running >= line.concurrency {
                self.ring.push_back(name);
                passed_over += 1;
                continue;
            }
            while let Some(next) = line.waiting.pop_front() {
                if next.send(()).is_ok() {
                    line.running += 1;
                    self.running += 1;
                    passed_over = 0;
                    break;
                }
            }
            if line.waiting.is_empty() {
                self.forget(&name);
            } else {
                self.ring.push_back(name);
            }
        }
    }

    /// Forgets a principal that does nothing.
    fn forget(&mut self, name: &str) {
        let is_idle =
            |line: &Line| line.running + line.streams + line.small == 0 && line.waiting.is_empty();
        if self.lines.get(name).is_some_and(is_idle) {
            self.lines.remove(name);
        }
    }
}

#[cfg(test)]
mod tests;
