//! The places of connections, and who gives one up when all are taken.
//!
//! A connection that has not said what it wants costs its owner nothing, so it is the first to go, the
//! oldest before others. Among those that are being answered, one address cannot keep out another.

use std::{
    net::{IpAddr, Shutdown, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// The most connections at once.
const MAX_CONNECTIONS: usize = 64;

/// Nobody is sent away before: whoever means it has said what they want by then.
const GRACE: Duration = Duration::from_millis(50);

/// All places.
#[derive(Default)]
pub(super) struct Places(Arc<Mutex<Vec<Open>>>);

/// A connection that has a place.
struct Open {
    stream: Arc<TcpStream>,
    peer: IpAddr,
    since: Instant,
    has_asked: bool,
}

/// One of the places, given back when dropped.
pub(super) struct Place {
    stream: Arc<TcpStream>,
    all: Arc<Mutex<Vec<Open>>>,
}

impl Places {
    /// Takes a place for a connection, if need be that of another one; gives the connection back when
    /// none has to go.
    pub(super) fn take(&self, stream: TcpStream, peer: IpAddr) -> Result<Place, TcpStream> {
        let mut open = lock(&self.0);
        if open.len() >= MAX_CONNECTIONS {
            let Some(victim) = victim(&open, peer) else {
                return Err(stream);
            };
            let gone = open.remove(victim);
            // Its thread notices at once and ends; a connection that is closed already is as good.
            let _ = gone.stream.shutdown(Shutdown::Both);
        }
        let stream = Arc::new(stream);
        open.push(Open {
            stream: Arc::clone(&stream),
            peer,
            since: Instant::now(),
            has_asked: false,
        });
        let all = Arc::clone(&self.0);
        Ok(Place { stream, all })
    }
}

impl Place {
    pub(super) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Says that the whole request is here.
    pub(super) fn has_asked(&self) {
        let mut open = lock(&self.all);
        let own = open.iter_mut().find(|one| self.is(one));
        if let Some(own) = own {
            own.has_asked = true;
        }
    }

    fn is(&self, open: &Open) -> bool {
        Arc::ptr_eq(&self.stream, &open.stream)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.all).retain(|one| !self.is(one));
    }
}

/// Finds who goes: the oldest of those who have not said what they want, else the oldest of an address
/// that has more places than the newcomer's would have. They stand in the order in which they came.
fn victim(open: &[Open], newcomer: IpAddr) -> Option<usize> {
    let is_old = |one: &Open| one.since.elapsed() >= GRACE;
    let silent = |one: &Open| is_old(one) && !one.has_asked;
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

/// A thread that panicked has left the list whole: nothing is done to it in parts.
fn lock(open: &Mutex<Vec<Open>>) -> MutexGuard<'_, Vec<Open>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// Makes connections of an address, as old as they need to be to go.
    fn come(
        open: &mut Vec<Open>,
        listener: &TcpListener,
        peer: [u8; 4],
        count: usize,
        asked: bool,
    ) {
        let addr = listener.local_addr().unwrap();
        open.extend((0..count).map(|_| Open {
            stream: Arc::new(TcpStream::connect(addr).unwrap()),
            peer: peer.into(),
            since: Instant::now().checked_sub(GRACE).unwrap(),
            has_asked: asked,
        }));
    }

    #[test]
    fn the_silent_go_first_then_the_oldest_of_whoever_has_too_many() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut open = Vec::new();
        come(&mut open, &listener, [10, 0, 0, 1], 2, true);
        come(&mut open, &listener, [10, 0, 0, 2], 3, true);
        let (one, two, new) = ([10, 0, 0, 1], [10, 0, 0, 2], [10, 0, 0, 3]);
        assert_eq!(victim(&open, new.into()), Some(2));
        // It would have as many itself.
        assert_eq!(victim(&open, one.into()), None);
        assert_eq!(victim(&open, two.into()), None);
        come(&mut open, &listener, new, 2, false);
        assert_eq!(victim(&open, two.into()), Some(5));
        for one in &mut open {
            one.since = Instant::now();
        }
        assert_eq!(victim(&open, new.into()), None, "nobody is old enough");
    }
}
