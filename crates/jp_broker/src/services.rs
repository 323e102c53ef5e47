//! What the capabilities work on. Whoever makes a [`crate::Broker`] hands it in; what is absent is
//! answered with `unavailable`.

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

/// Takes the lines tools write with `log.emit`.
pub trait LogSink: Send + Sync {
    /// Takes one line; texts are the guest's own, bounded and without control characters.
    fn emit(&self, user: &str, tool: &str, level: &str, event: &str);
}

/// What the capabilities work on.
#[derive(Clone)]
pub struct Services {
    /// Tells the time, in milliseconds since 1970.
    pub now: Arc<dyn Fn() -> i64 + Send + Sync>,
    /// Takes the lines of `log.emit`.
    pub log: Option<Arc<dyn LogSink>>,
}

impl Default for Services {
    fn default() -> Self {
        Self {
            now: Arc::new(system_now),
            log: None,
        }
    }
}

impl Services {
    /// Returns the time in seconds since 1970.
    #[must_use]
    pub fn unix(&self) -> i64 {
        (self.now)().div_euclid(1000)
    }
}

fn system_now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    i64::try_from(now.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}
