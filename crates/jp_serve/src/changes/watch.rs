//! The watcher: looks at what there is, and tells the clients what is not as it was.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use tokio::time;

use super::listener::Kinds;
use crate::{
    catalogue::Catalogue,
    prompts,
    resources::{
        Shelf,
        stamp::{Stamp, hash, stamp},
    },
    server::Shared,
};

/// How often it looks.
const INTERVAL: Duration = Duration::from_secs(1);

/// It rests this many times as long as it looked: a large workspace does not keep a core busy.
const REST: u32 = 20;

/// What the lists looked like.
#[derive(Clone)]
pub(super) struct Lists {
    catalogue: Arc<Catalogue>,
    /// Whether the tools had been asked what they are.
    is_complete: bool,
    tools: u64,
    prompts: u64,
    resources: u64,
}

impl Lists {
    pub(super) fn of(shelf: &Shelf) -> Self {
        // Before the lists are read: one that is completed meanwhile is looked at again.
        let is_complete = shelf.catalogue.is_complete();
        Self {
            catalogue: Arc::clone(&shelf.catalogue),
            is_complete,
            tools: listed(shelf.catalogue.tools()),
            prompts: listed(&prompts::all(shelf)),
            resources: listed(&(shelf.resources(), shelf.templates())),
        }
    }

    /// Tells whether nothing can have changed since: the workspace is the same, and has no directory
    /// whose files are listed.
    pub(super) fn are_of(&self, shelf: &Shelf) -> bool {
        let same = Arc::ptr_eq(&self.catalogue, &shelf.catalogue);
        same && self.is_complete && shelf.topics().next().is_none()
    }

    pub(super) const fn changed(&self, now: &Self) -> Kinds {
        Kinds {
            tools: self.tools != now.tools,
            prompts: self.prompts != now.prompts,
            resources: self.resources != now.resources,
        }
    }
}

fn listed(items: &(impl serde::Serialize + ?Sized)) -> u64 {
    hash(&serde_json::to_string(items).unwrap_or_default())
}

/// Looks, until nobody hears any more.
pub(super) async fn run(shared: Weak<Shared>) {
    let mut pause = INTERVAL;
    loop {
        time::sleep(pause).await;
        let Some(shared) = shared.upgrade() else {
            return;
        };
        if !shared.changes.goes_on() {
            return;
        }
        let started = Instant::now();
        let looked = Arc::clone(&shared);
        let _ = tokio::task::spawn_blocking(move || look(&looked)).await;
        pause = INTERVAL.max(started.elapsed().saturating_mul(REST));
    }
}

/// Looks once for each client: what lists hold depends on the policy of its principal, and records belong
/// to the principal. What several have in common is looked at once.
fn look(shared: &Arc<Shared>) {
    let mut lists: Vec<Lists> = Vec::new();
    let mut stamps: HashMap<(String, String), Stamp> = HashMap::new();
    for listener in shared.changes.listeners() {
        let served = listener.served(shared);
        // A workspace that cannot be opened now is looked at again; until then nothing has changed.
        let Ok(shelf) = shared.shelves.now(&served) else {
            return;
        };
        listener.compare(&shelf, || {
            let mut known = lists.iter();
            let known = known.find(|one| Arc::ptr_eq(&one.catalogue, &shelf.catalogue));
            known.cloned().unwrap_or_else(|| {
                let now = Lists::of(&shelf);
                lists.push(now.clone());
                now
            })
        });
        for uri in listener.followed() {
            let key = (served.principal().to_owned(), uri);
            let uri = key.1.clone();
            let now = stamps.entry(key);
            let now = now.or_insert_with(|| stamp(&served, &shelf, &uri));
            listener.looks(&uri, now);
        }
    }
}
