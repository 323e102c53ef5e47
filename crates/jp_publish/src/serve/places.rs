//! The places of connections, and who gives one up when all are taken.
//!
//! A connection that has not sent its request costs its owner nothing, so it is the first to go, the
//! oldest before others. Among those that are being answered, one address cannot keep out another.

use std::{
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use tokio_util::sync::CancellationToken;

/// The most connections at once.
const MAX_CONNECTIONS: usize = 64;

/// No connection is closed before: an honest client has sent its request by then.
const GRACE: Duration = Duration::from_millis(50);

/// The most connections of one address, and of all, that wait for a place. One more is closed.
const MAX_WAITING: usize = 256;
const MAX_WAITING_IN_ALL: usize = 1024;

/// All places, and who waits for one.
#[derive(Clone, Default)]
pub(super) struct Places {
    open: Arc<Mutex<Vec<Open>>>,
    waiting: Arc<Mutex<Vec<IpAddr>>>,
}

/// A connection that waits for a place, until this is dropped.
pub(super) struct Waiting {
    peer: IpAddr,
    all: Arc<Mutex<Vec<IpAddr>>>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut all = lock(&self.all);
        if let Some(at) = all.iter().position(|peer| *peer == self.peer) {
            all.swap_remove(at);
        }
    }
}

/// A connection that has a place.
struct Open {
    peer: IpAddr,
    since: Instant,
    asked: Asked,
    evict: CancellationToken,
}

/// One of the places, given back when dropped.
pub(super) struct Place {
    asked: Asked,
    evict: CancellationToken,
    all: Arc<Mutex<Vec<Open>>>,
}

/// Whether a connection has sent its request.
#[derive(Clone, Default)]
pub(super) struct Asked(Arc<AtomicBool>);

impl Asked {
    /// Notes that the whole request is here.
    pub(super) fn tell(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl Places {
    /// Takes a place, if need be that of another connection; nothing when none has to go.
    pub(super) fn take(&self, peer: IpAddr) -> Option<Place> {
        let mut open = lock(&self.open);
        if open.len() >= MAX_CONNECTIONS {
            let victim = victim(&open, peer)?;
            open.remove(victim).evict.cancel();
        }
        let place = Place {
            asked: Asked::default(),
            evict: CancellationToken::new(),
            all: Arc::clone(&self.open),
        };
        open.push(Open {
            peer,
            since: Instant::now(),
            asked: place.asked.clone(),
            evict: place.evict.clone(),
        });
        Some(place)
    }

    /// Counts a connection that waits; nothing when there are too many.
    pub(super) fn wait(&self, peer: IpAddr) -> Option<Waiting> {
        let mut all = lock(&self.waiting);
        let own = all.iter().filter(|one| **one == peer).count();
        if own >= MAX_WAITING || all.len() >= MAX_WAITING_IN_ALL {
            return None;
        }
        all.push(peer);
        Some(Waiting {
            peer,
            all: Arc::clone(&self.waiting),
        })
    }
}

impl Place {
    /// Returns what is cancelled when another connection takes the place.
    pub(super) fn evicted(&self) -> CancellationToken {
        self.evict.clone()
    }

    pub(super) fn asked(&self) -> Asked {
        self.asked.clone()
    }

    /// Tells whether the whole request came, so that it is being answered.
    pub(super) fn is_answered(&self) -> bool {
        self.asked.is()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let own = &self.asked.0;
        lock(&self.all).retain(|one| !Arc::ptr_eq(own, &one.asked.0));
    }
}

/// Finds who goes: the oldest of those that have not sent their request, else the oldest of an address
/// that has more places than the newcomer's would have. They stand in the order in which they came.
fn victim(open: &[Open], newcomer: IpAddr) -> Option<usize> {
    let is_old = |one: &Open| one.since.elapsed() >= GRACE;
    let silent = |one: &Open| is_old(one) && !one.asked.is();
    if let Some(at) = open.iter().position(silent) {
        return Some(at);
    }
    let count = |peer: IpAddr| open.iter().filter(|one| one.peer == peer).count();
    let greedy = open
        .iter()
        .map(|one| one.peer)
        .max_by_key(|peer| count(*peer))?;
    let is_unfair = count(greedy) > count(newcomer).saturating_add(1);
    let of_greedy = |one: &Open| is_old(one) && one.peer == greedy;
    open.iter().position(of_greedy).filter(|_| is_unfair)
}

/// A task that panicked has left the list whole: nothing is done to it in parts.
fn lock<T>(list: &Mutex<Vec<T>>) -> MutexGuard<'_, Vec<T>> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes connections of an address, as old as they need to be to go.
    fn come(open: &mut Vec<Open>, peer: [u8; 4], count: usize, asked: bool) {
        open.extend((0..count).map(|_| Open {
            peer: peer.into(),
            since: Instant::now().checked_sub(GRACE).unwrap(),
            asked: Asked(Arc::new(AtomicBool::new(asked))),
            evict: CancellationToken::new(),
        }));
    }

    #[test]
    fn the_silent_go_first_then_the_oldest_of_an_address_that_has_too_many() {
        let mut open = Vec::new();
        come(&mut open, [10, 0, 0, 1], 2, true);
        come(&mut open, [10, 0, 0, 2], 3, true);
        let (one, two, new) = ([10, 0, 0, 1], [10, 0, 0, 2], [10, 0, 0, 3]);
        assert_eq!(victim(&open, new.into()), Some(2));
        // It would have as many itself.
        assert_eq!(victim(&open, one.into()), None);
        assert_eq!(victim(&open, two.into()), None);
        come(&mut open, new, 2, false);
        assert_eq!(victim(&open, two.into()), Some(5));
        for one in &mut open {
            one.since = Instant::now();
        }
        assert_eq!(victim(&open, new.into()), None, "nobody is old enough");
    }

    #[test]
    fn one_address_cannot_wait_so_often_that_another_may_not() {
        let places = Places::default();
        let (one, two) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let mut waiting: Vec<Waiting> = (0..MAX_WAITING).filter_map(|_| places.wait(one)).collect();
        assert_eq!(waiting.len(), MAX_WAITING);
        assert!(places.wait(one).is_none() && places.wait(two).is_some());
        waiting.pop();
        assert!(places.wait(one).is_some());
    }

    #[test]
    fn a_place_is_given_back_and_an_evicted_one_is_told() {
        let places = Places::default();
        let peer = IpAddr::from([10, 0, 0, 1]);
        let mut taken: Vec<Place> = (0..MAX_CONNECTIONS)
            .filter_map(|_| places.take(peer))
            .collect();
        assert_eq!(taken.len(), MAX_CONNECTIONS);
        assert!(places.take(peer).is_none(), "nobody is old enough to go");
        drop(taken.pop());
        taken.extend(places.take(peer));
        for one in lock(&places.open).iter_mut() {
            one.since = Instant::now().checked_sub(GRACE).unwrap();
        }
        assert!(places.take(peer).is_some());
        assert!(taken[0].evicted().is_cancelled() && !taken[1].evicted().is_cancelled());
    }
}
