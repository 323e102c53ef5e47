//! Which servers said that their tools changed, for whoever keeps lists of them.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use tokio::sync::Notify;

/// The servers that said so since somebody took note. However often one says it, it is here once.
#[derive(Debug, Default)]
pub(crate) struct News {
    servers: Mutex<BTreeSet<String>>,
    wake: Notify,
}

impl News {
    /// Notes that a server said so.
    pub(crate) fn tell(&self, server: &str) {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        if !servers.contains(server) {
            servers.insert(server.to_owned());
            self.wake.notify_one();
        }
    }

    /// Waits until one has, and returns those that have. One may wait at a time.
    pub(crate) async fn take(&self) -> BTreeSet<String> {
        loop {
            let taken = {
                let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
                std::mem::take(&mut *servers)
            };
            if !taken.is_empty() {
                return taken;
            }
            self.wake.notified().await;
        }
    }
}
