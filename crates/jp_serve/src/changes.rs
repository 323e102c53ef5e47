//! What changes while clients are connected: lists, and the resources they follow.
//!
//! One watcher serves all clients of a server. It runs while there is one that can hear of changes, and
//! looks about once a second: files are looked at, not watched, so that it works on every file system.
//! What it finds waits with each client until that one was told; a client that reads slowly is told once
//! of what happened many times.

mod ears;
mod listener;
mod watch;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

pub(crate) use self::ears::Ears;
use self::listener::{Kinds, Listener};
use crate::{principal::Served, server::Shared};

/// As many clients hear of changes at once; a client of the newest revision counts once for each of its
/// subscriptions.
const MOST_LISTENERS: usize = 4_096;

/// As many of them are of one principal other than the user, so that nobody takes the places of others.
const MOST_OF_ONE: usize = 1_024;

/// As many resources are followed by one client, or in one subscription.
const MOST_FOLLOWED: usize = 256;

/// As many resources are followed by all clients together.
const ALL_FOLLOWED: usize = 16_384;

/// Who hears of changes.
#[derive(Default)]
pub(crate) struct Changes(Mutex<State>);

#[derive(Default)]
struct State {
    listeners: HashMap<u64, Arc<Listener>>,
    next: u64,
    /// Whether the watcher runs.
    watched: bool,
}

/// Why a client cannot hear of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum Full {
    #[error("too many subscriptions: end some first (limit: {MOST_LISTENERS})")]
    Listeners,
    #[error("too many subscriptions: end some of yours first (limit: {MOST_OF_ONE})")]
    Own,
    #[error(
        "too many resources are followed: end some subscriptions first (limit: {MOST_FOLLOWED} for each client)"
    )]
    Followed,
}

/// The place of a client among those that hear of changes; it is given up when this is dropped.
struct Place {
    shared: Weak<Shared>,
    id: u64,
    listener: Arc<Listener>,
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.changes.state().listeners.remove(&self.id);
        }
    }
}

impl Changes {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a client in, and starts the watcher with the first one.
    fn enter(shared: &Served, listener: Listener) -> Result<Place, Full> {
        let listener = Arc::new(listener);
        let mut state = shared.changes.state();
        let is_own = |one: &&Arc<Listener>| one.principal() == shared.principal();
        let has_many = || state.listeners.values().filter(is_own).count() >= MOST_OF_ONE;
        if !shared.who().is_user() && has_many() {
            return Err(Full::Own);
        }
        if state.listeners.len() >= MOST_LISTENERS {
            return Err(Full::Listeners);
        }
        if state.followed() + listener.followed_count() > ALL_FOLLOWED {
            return Err(Full::Followed);
        }
        let id = state.next;
        state.next += 1;
        state.listeners.insert(id, Arc::clone(&listener));
        if !state.watched {
            state.watched = true;
            tokio::spawn(watch::run(Arc::downgrade(shared.shared())));
        }
        Ok(Place {
            shared: Arc::downgrade(shared.shared()),
            id,
            listener,
        })
    }

    /// Tells the clients of a principal that the tools are not as they were.
    pub(crate) fn tools_changed(&self, principal: &str) {
        let changed = Kinds {
            tools: true,
            ..Kinds::default()
        };
        let theirs = |listener: &Arc<Listener>| listener.principal() == principal;
        for listener in self.listeners().into_iter().filter(theirs) {
            listener.lists_changed(changed);
        }
    }

    /// Tells whether there is room for one more resource to follow.
    fn has_room(&self) -> bool {
        self.state().followed() < ALL_FOLLOWED
    }

    /// Tells whether somebody still hears; if not, the watcher has to end, and the next client starts it
    /// again.
    fn goes_on(&self) -> bool {
        let mut state = self.state();
        state.watched = !state.listeners.is_empty();
        state.watched
    }

    /// Returns how many hear of changes.
    pub(crate) fn listener_count(&self) -> usize {
        self.state().listeners.len()
    }

    /// Returns how many resources they follow.
    pub(crate) fn followed_count(&self) -> usize {
        self.state().followed()
    }

    fn listeners(&self) -> Vec<Arc<Listener>> {
        self.state().listeners.values().cloned().collect()
    }
}

impl State {
    fn followed(&self) -> usize {
        self.listeners
            .values()
            .map(|one| one.followed_count())
            .sum()
    }
}
