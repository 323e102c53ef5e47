//! What a server keeps for each principal over HTTP: the sessions of its older clients. A session is known
//! to whoever opened it, and to nobody else.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use crate::sessions;

/// As many sessions are open at once, those of all principals together.
const MOST_SESSIONS: usize = 10_000;

/// As many principals are remembered that have no session.
const MOST_IDLE: usize = 1_000;

/// The seats of all principals.
#[derive(Default)]
pub(crate) struct Seats(Mutex<HashMap<Arc<str>, Arc<LocalSessionManager>>>);

impl Seats {
    /// Returns the sessions of a principal.
    pub(crate) fn of(&self, name: &str) -> Arc<LocalSessionManager> {
        let mut seats = self.seats();
        if let Some(seat) = seats.get(name) {
            return Arc::clone(seat);
        }
        if seats.len() >= MOST_IDLE {
            seats.retain(|_, seat| !is_idle(seat));
        }
        let seat = sessions::keeper();
        seats.insert(name.into(), Arc::clone(&seat));
        seat
    }

    /// Tells whether there is room for one more session.
    pub(crate) fn have_room(&self) -> bool {
        self.count() < MOST_SESSIONS
    }

    /// Returns how many sessions are open.
    pub(crate) fn count(&self) -> usize {
        let seats = self.seats();
        let open = |seat: &Arc<LocalSessionManager>| {
            let open = seat.sessions.try_read();
            open.map_or(0, |open| open.len())
        };
        seats.values().map(open).sum()
    }

    fn seats(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<LocalSessionManager>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells whether nobody uses a seat: it has no session, and no request that could open one.
fn is_idle(seat: &Arc<LocalSessionManager>) -> bool {
    let open = seat.sessions.try_read();
    Arc::strong_count(seat) == 1 && open.is_ok_and(|open| open.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_without_sessions_are_not_kept_for_ever() {
        let seats = Seats::default();
        let held = seats.of("held");
        for n in 0..5 * MOST_IDLE {
            seats.of(&format!("p{n}"));
        }
        assert!(seats.seats().len() <= MOST_IDLE);
        assert!(Arc::ptr_eq(&held, &seats.of("held")));
    }
}
