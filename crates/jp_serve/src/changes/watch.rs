//! The watcher: looks at what there is, and tells the clients what is not as it was.

use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use jp_host::OpenError;
use tokio::time;

use super::{Changes, listener::Kinds};
use crate::{
    catalogue::Catalogue,
    prompts,
    resources::{
        Shelf, beside,
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
    fn are_of(&self, shelf: &Shelf) -> bool {
        let same = Arc::ptr_eq(&self.catalogue, &shelf.catalogue);
        same && self.is_complete && shelf.topics().next().is_none()
    }

    const fn changed(&self, now: &Self) -> Kinds {
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
        // A workspace that cannot be opened now is looked at again; until then nothing has changed.
        let _ = beside(&shared, look).await;
        pause = INTERVAL.max(started.elapsed().saturating_mul(REST));
    }
}

fn look(shared: &Shared) -> Result<(), OpenError> {
    let shelf = shared.shelves.now(shared)?;
    let changes = &shared.changes;
    if let Some(changed) = changes.compare(&shelf) {
        for listener in changes.listeners() {
            listener.lists_changed(changed);
        }
    }
    let followed = changes.followed();
    let stamps = followed.into_iter().map(|uri| {
        let now = stamp(shared, &shelf, &uri);
        (uri, now)
    });
    let stamps: BTreeMap<String, Stamp> = stamps.collect();
    for listener in changes.listeners() {
        for uri in listener.followed() {
            if let Some(now) = stamps.get(&uri) {
                listener.looks(&uri, now);
            }
        }
    }
    Ok(())
}

impl Changes {
    /// Returns which lists are not as they were, and keeps how they are.
    fn compare(&self, shelf: &Shelf) -> Option<Kinds> {
        let before = self.state().known.clone()?;
        // Tools that are still being asked what they are would be told of twice, and a workspace that was
        // opened again would look as if it had lost what they said.
        if !shelf.catalogue.is_complete() || before.are_of(shelf) {
            return None;
        }
        let now = Lists::of(shelf);
        let changed = before.changed(&now);
        // Unless the last client left meanwhile.
        if let Some(known) = &mut self.state().known {
            *known = now;
        }
        Some(changed)
    }
}
