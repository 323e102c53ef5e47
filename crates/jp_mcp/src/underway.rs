//! Requests under way to a URL: how to hang up on one, and why one had no answer. The transport in
//! between passes on neither.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rmcp::model::RequestId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::HttpFailure;

/// Requests under way at once; each keeps a connection, and on the other side of it whatever the
/// server needs. More wait for their turn.
const MAX_OPEN: usize = 64;

/// Reasons that wait to be asked for; who stopped waiting asks for none.
const MAX_REASONS: usize = 64;

/// Why a request had no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// Nothing came that could be read for one.
    NoStream {
        /// What came of it.
        failure: HttpFailure,
        /// The most bytes a message may have.
        limit: usize,
    },
    /// The server ended the stream of events.
    Ended,
    /// The connection failed, or the time was up.
    Failed(HttpFailure),
    /// An event was longer than a message may be.
    EventTooLong {
        /// The most bytes a message may have.
        limit: usize,
    },
    /// All of it was longer than it may be.
    StreamTooLong {
        /// The most bytes a stream may have.
        limit: usize,
    },
    /// Too many events were no messages.
    Noise {
        /// The most that are tolerated.
        limit: usize,
    },
}

/// The requests under way over one connection; clones share them.
#[derive(Clone)]
pub(crate) struct Underway {
    state: Arc<Mutex<State>>,
    places: Arc<Semaphore>,
}

impl Default for Underway {
    fn default() -> Self {
        Self {
            state: Arc::default(),
            places: Arc::new(Semaphore::new(MAX_OPEN)),
        }
    }
}

#[derive(Default)]
struct State {
    open: HashMap<RequestId, CancellationToken>,
    /// A message that is not a request has no id.
    unanswered: VecDeque<(Option<RequestId>, Unanswered)>,
}

impl Underway {
    /// Waits for a place, and notes a request for as long as what is returned lives.
    pub(crate) async fn begin(&self, id: &RequestId) -> Open {
        // There is no error: nobody closes it.
        let place = Arc::clone(&self.places).acquire_owned().await.ok();
        let hung_up = CancellationToken::new();
        self.state().open.insert(id.clone(), hung_up.clone());
        Open {
            id: id.clone(),
            hung_up,
            underway: self.clone(),
            _place: place,
        }
    }

    /// Ends the request's stream at once, if it has one.
    pub(crate) fn hang_up(&self, id: &RequestId) {
        if let Some(hung_up) = self.state().open.get(id) {
            hung_up.cancel();
        }
    }

    /// Returns why a request had no answer, once.
    pub(crate) fn take(&self, id: &RequestId) -> Option<Unanswered> {
        let reasons = &mut self.state().unanswered;
        let at = reasons
            .iter()
            .position(|(request, _)| request.as_ref() == Some(id))?;
        reasons.remove(at).map(|(_, why)| why)
    }

    /// Notes why a message came to nothing.
    pub(crate) fn fail(&self, id: Option<RequestId>, why: Unanswered) {
        let reasons = &mut self.state().unanswered;
        if reasons.len() == MAX_REASONS {
            reasons.pop_front();
        }
        reasons.push_back((id, why));
    }

    /// Returns why the last message that came to nothing did.
    pub(crate) fn take_last(&self) -> Option<Unanswered> {
        self.state().unanswered.pop_back().map(|(_, why)| why)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request under way.
pub(crate) struct Open {
    /// Its id.
    pub(crate) id: RequestId,
    /// Nobody waits for the answer.
    pub(crate) hung_up: CancellationToken,
    underway: Underway,
    _place: Option<OwnedSemaphorePermit>,
}

impl Open {
    /// Notes why the request has no answer.
    pub(crate) fn fail(&self, why: Unanswered) {
        self.underway.fail(Some(self.id.clone()), why);
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.underway.state().open.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn reasons_are_kept_until_they_are_asked_for_and_not_without_end() {
        let underway = Underway::default();
        for number in 0..100 {
            let open = underway.begin(&RequestId::Number(number)).await;
            open.fail(Unanswered::Noise { limit: 1 });
        }
        assert!(underway.state().open.is_empty());
        assert_eq!(underway.state().unanswered.len(), MAX_REASONS);
        let last = RequestId::Number(99);
        assert!(underway.take(&last).is_some() && underway.take(&last).is_none());
        assert_eq!(underway.take(&RequestId::Number(0)), None);
    }

    #[tokio::test]
    async fn hanging_up_is_heard_by_that_request_alone() {
        let underway = Underway::default();
        let one = underway.begin(&RequestId::Number(1)).await;
        let two = underway.begin(&RequestId::Number(2)).await;
        underway.hang_up(&RequestId::Number(2));
        underway.hang_up(&RequestId::Number(3));
        assert!(!one.hung_up.is_cancelled() && two.hung_up.is_cancelled());
    }

    #[test]
    fn a_request_too_many_waits_for_a_place() {
        let underway = Underway::default();
        let begin = |number| underway.begin(&RequestId::Number(number)).now_or_never();
        let mut open: Vec<_> = (0..64).filter_map(begin).collect();
        assert_eq!(open.len(), 64);
        assert!(begin(64).is_none());
        open.pop();
        assert!(begin(64).is_some());
    }
}
