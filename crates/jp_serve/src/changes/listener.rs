//! One client that hears of changes: what it follows, and what it has not been told yet.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rmcp::{
    Peer, RoleServer,
    model::{ResourceUpdatedNotificationParam, SubscriptionFilter},
    service::SubscriptionSink,
};
use tokio::{sync::Notify, time};

use super::{Full, MOST_FOLLOWED, watch::Lists};
use crate::{
    principal::{Principal, Served},
    resources::{Shelf, stamp::Stamp},
    server::Shared,
};

/// A client is told at most once in this time of the same thing.
const PACE: Duration = Duration::from_secs(1);

/// Which lists a client hears of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Kinds {
    pub(super) tools: bool,
    pub(super) prompts: bool,
    pub(super) resources: bool,
}

impl Kinds {
    pub(super) const ALL: Self = Self {
        tools: true,
        prompts: true,
        resources: true,
    };

    pub(super) fn of(filter: &SubscriptionFilter) -> Self {
        Self {
            tools: filter.tools_list_changed == Some(true),
            prompts: filter.prompts_list_changed == Some(true),
            resources: filter.resources_list_changed == Some(true),
        }
    }

    const fn both(self, other: Self) -> Self {
        Self {
            tools: self.tools && other.tools,
            prompts: self.prompts && other.prompts,
            resources: self.resources && other.resources,
        }
    }

    const fn either(self, other: Self) -> Self {
        Self {
            tools: self.tools || other.tools,
            prompts: self.prompts || other.prompts,
            resources: self.resources || other.resources,
        }
    }
}

/// What a client has not been told yet.
#[derive(Debug, Default)]
struct News {
    lists: Kinds,
    updated: BTreeSet<String>,
}

struct Inside {
    followed: BTreeMap<String, Stamp>,
    news: News,
    /// The lists as the client knows them.
    known: Option<Lists>,
}

/// One client that hears of changes.
pub(super) struct Listener {
    /// Whose client it is: others hear of other lists and records.
    who: Arc<Principal>,
    kinds: Kinds,
    inside: Mutex<Inside>,
    wake: Notify,
}

/// Where a client hears.
pub(super) enum Outlet<'a> {
    /// The connection or session of a client of an older revision.
    Peer(Peer<RoleServer>),
    /// A subscription of a client of the newest.
    Sink(&'a SubscriptionSink),
}

impl Listener {
    /// Takes note of what a client wants to hear, and how it looks now.
    pub(super) fn new(
        who: &Arc<Principal>,
        kinds: Kinds,
        followed: BTreeMap<String, Stamp>,
        known: Option<Lists>,
    ) -> Self {
        let news = News::default();
        Self {
            who: Arc::clone(who),
            kinds,
            inside: Mutex::new(Inside {
                followed,
                news,
                known,
            }),
            wake: Notify::new(),
        }
    }

    pub(super) fn principal(&self) -> &str {
        self.who.name()
    }

    /// Returns the server as the principal of the client has it.
    pub(super) fn served(&self, shared: &Arc<Shared>) -> Served {
        Served::new(Arc::clone(shared), Arc::clone(&self.who))
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn followed_count(&self) -> usize {
        self.inside().followed.len()
    }

    pub(super) fn followed(&self) -> Vec<String> {
        self.inside().followed.keys().cloned().collect()
    }

    /// Follows one more resource, which looks like this now.
    pub(super) fn follow(&self, uri: String, stamp: Stamp) -> Result<(), Full> {
        let mut inside = self.inside();
        if inside.followed.len() >= MOST_FOLLOWED && !inside.followed.contains_key(&uri) {
            return Err(Full::Followed);
        }
        inside.followed.insert(uri, stamp);
        Ok(())
    }

    pub(super) fn unfollow(&self, uri: &str) {
        let mut inside = self.inside();
        inside.followed.remove(uri);
        inside.news.updated.remove(uri);
    }

    /// Compares the lists with what the client knows. `now` makes them, unless nothing can have changed.
    pub(super) fn compare(&self, shelf: &Shelf, now: impl FnOnce() -> Lists) {
        let before = self.inside().known.clone();
        if before.as_ref().is_some_and(|before| before.are_of(shelf)) {
            return;
        }
        // Tools that are still being asked what they are would be told of twice, and a workspace that was
        // opened again would look as if it had lost what they said.
        if before.is_some() && !shelf.catalogue.is_complete() {
            return;
        }
        let now = now();
        let changed = before.map(|before| before.changed(&now));
        self.inside().known = Some(now);
        if let Some(changed) = changed {
            self.lists_changed(changed);
        }
    }

    /// Takes note of lists that are not what they were.
    pub(super) fn lists_changed(&self, changed: Kinds) {
        let mut inside = self.inside();
        let heard = changed.both(self.kinds);
        if heard != Kinds::default() {
            inside.news.lists = inside.news.lists.either(heard);
            self.wake.notify_one();
        }
    }

    /// Takes note of how a resource looks now.
    pub(super) fn looks(&self, uri: &str, now: &Stamp) {
        let mut inside = self.inside();
        let Some(before) = inside.followed.get_mut(uri) else {
            return;
        };
        if before != now {
            *before = now.clone();
            inside.news.updated.insert(uri.to_owned());
            self.wake.notify_one();
        }
    }

    /// Tells the client what changes, until it has gone.
    pub(super) async fn tell(&self, outlet: Outlet<'_>) {
        loop {
            self.wake.notified().await;
            let news = std::mem::take(&mut self.inside().news);
            if !outlet.send(news).await {
                return;
            }
            // What happens meanwhile is told together.
            time::sleep(PACE).await;
        }
    }
}

impl Outlet<'_> {
    /// Tells whether the client could be told.
    async fn send(&self, news: News) -> bool {
        let lists = news.lists;
        if lists.tools && !self.tools().await
            || lists.prompts && !self.prompts().await
            || lists.resources && !self.resources().await
        {
            return false;
        }
        for uri in news.updated {
            if !self.updated(uri).await {
                return false;
            }
        }
        true
    }

    async fn tools(&self) -> bool {
        match self {
            Self::Peer(peer) => peer.notify_tool_list_changed().await.is_ok(),
            Self::Sink(sink) => sink.notify_tool_list_changed().await.is_ok(),
        }
    }

    async fn prompts(&self) -> bool {
        match self {
            Self::Peer(peer) => peer.notify_prompt_list_changed().await.is_ok(),
            Self::Sink(sink) => sink.notify_prompt_list_changed().await.is_ok(),
        }
    }

    async fn resources(&self) -> bool {
        match self {
            Self::Peer(peer) => peer.notify_resource_list_changed().await.is_ok(),
            Self::Sink(sink) => sink.notify_resource_list_changed().await.is_ok(),
        }
    }

    async fn updated(&self, uri: String) -> bool {
        match self {
            Self::Peer(peer) => {
                let update = ResourceUpdatedNotificationParam::new(uri);
                peer.notify_resource_updated(update).await.is_ok()
            }
            Self::Sink(sink) => sink.notify_resource_updated(uri).await.is_ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_follows_no_more_than_it_may() {
        let listener = Listener::new(&Principal::user("ada"), Kinds::ALL, BTreeMap::new(), None);
        for n in 0..MOST_FOLLOWED {
            listener.follow(format!("x:{n}"), Stamp::Absent).unwrap();
        }
        let again = listener.follow("x:0".to_owned(), Stamp::Text(1));
        assert_eq!(again, Ok(()));
        let more = listener.follow("x:more".to_owned(), Stamp::Absent);
        assert_eq!(more, Err(Full::Followed));
        listener.unfollow("x:0");
        assert_eq!(listener.follow("x:more".to_owned(), Stamp::Absent), Ok(()));
    }

    #[test]
    fn what_happens_many_times_is_told_once() {
        let followed = BTreeMap::from([("x:1".to_owned(), Stamp::Absent)]);
        let kinds = Kinds {
            prompts: false,
            ..Kinds::ALL
        };
        let listener = Listener::new(&Principal::user("ada"), kinds, followed, None);
        for n in 0..1_000 {
            listener.looks("x:1", &Stamp::Text(n));
            listener.looks("x:2", &Stamp::Text(n));
            listener.lists_changed(Kinds::ALL);
        }
        let news = std::mem::take(&mut listener.inside().news);
        assert_eq!(news.updated, BTreeSet::from(["x:1".to_owned()]));
        assert!(news.lists.tools && news.lists.resources && !news.lists.prompts);
    }
}
