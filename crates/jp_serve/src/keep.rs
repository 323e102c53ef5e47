//! What a server keeps on disk for its clients: tasks, large results, and which states were spent.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use jp_store::{Millis, Spent, Spills, Store, Tasks};

use crate::ServeError;

/// What is over is removed this often.
const SWEEP: Duration = Duration::from_mins(10);

/// What a server keeps on disk. Clones are the same.
#[derive(Clone)]
pub struct Keep {
    store: Arc<Store>,
    key: Arc<[u8; 32]>,
}

impl Keep {
    /// Opens the store and the key, and makes them if they are not there. Several servers may share them.
    ///
    /// # Errors
    ///
    /// When one of them cannot be used.
    pub fn open(store: &Path, key: &Path) -> Result<Self, ServeError> {
        let store = Store::open(store, now())?;
        let key = jp_disk::key_file(key)?;
        Ok(Self {
            store: Arc::new(store),
            key: Arc::new(key),
        })
    }

    pub(crate) const fn store(&self) -> &Arc<Store> {
        &self.store
    }

    pub(crate) fn key(&self) -> &[u8; 32] {
        &self.key
    }

    /// Removes what is over, for as long as the server runs.
    pub(crate) async fn sweep(self) {
        loop {
            let store = Arc::clone(&self.store);
            let swept = tokio::task::spawn_blocking(move || {
                let now = now();
                // What could not be removed now is removed next time.
                let _ = store.sweep_tasks(now);
                let _ = store.sweep_spills(now);
                let _ = store.sweep_spent(now);
            });
            let _ = swept.await;
            tokio::time::sleep(SWEEP).await;
        }
    }
}

/// Returns the time, as the store counts it.
pub(crate) fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    millis(since.unwrap_or_default())
}

/// Returns a length of time, as the store counts it.
pub(crate) fn millis(time: Duration) -> Millis {
    Millis::try_from(time.as_millis()).unwrap_or(Millis::MAX)
}
