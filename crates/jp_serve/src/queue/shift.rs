//! Calls that wait for somebody meanwhile.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time;

use super::{Kind, Limits, Queue, Turn};

/// A call that has to go on asks again after this long where the line is full.
const AGAIN: Duration = Duration::from_millis(200);

/// The turn of a call that can wait for somebody, and lets others run meanwhile.
#[derive(Default)]
pub(crate) struct Shift(Mutex<Held>);

#[derive(Default)]
struct Held {
    turn: Option<Arc<Turn>>,
    /// What the call stands in line with again.
    again: Option<(Arc<Queue>, Arc<str>, Limits)>,
}

impl Shift {
    pub(crate) fn new(turn: Option<&Arc<Turn>>) -> Self {
        let again = turn.map(|turn| {
            let (queue, name) = (Arc::clone(&turn.queue), Arc::clone(&turn.name));
            (queue, name, turn.limits)
        });
        let turn = turn.cloned();
        Self(Mutex::new(Held { turn, again }))
    }

    /// Gives the place up.
    pub(crate) fn rest(&self) {
        self.held().turn = None;
    }

    /// Takes a place again, however long that takes.
    pub(crate) async fn go_on(&self) {
        let Some((queue, name, limits)) = self.held().again.clone() else {
            return;
        };
        loop {
            match queue.enter(&name, Kind::Call, &limits).await {
                Ok(turn) => {
                    self.held().turn = Some(Arc::new(turn));
                    return;
                }
                // The line is full of calls that came later.
                Err(_) => time::sleep(AGAIN).await,
            }
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
