//! How fast a server is listened to. Knows no protocol.

use std::time::{Duration, Instant};

/// Lets a number of messages pass in each second; who sends more is read more slowly.
pub(crate) struct Pace {
    most: u32,
    left: u32,
    since: Instant,
}

impl Pace {
    /// Starts the first second.
    pub(crate) fn new(most: u32) -> Self {
        Self {
            most,
            left: most,
            since: Instant::now(),
        }
    }

    /// Counts a message, and waits for the next second if this one is used up.
    pub(crate) async fn wait(&mut self) {
        const SECOND: Duration = Duration::from_secs(1);
        if self.since.elapsed() >= SECOND {
            (self.left, self.since) = (self.most, Instant::now());
        }
        match self.left.checked_sub(1) {
            Some(left) => self.left = left,
            None => {
                tokio::time::sleep(SECOND.saturating_sub(self.since.elapsed())).await;
                (self.left, self.since) = (self.most, Instant::now());
            }
        }
    }
}
