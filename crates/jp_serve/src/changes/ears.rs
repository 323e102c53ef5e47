//! How a client says what it wants to hear: by being there and with `resources/subscribe`, or with
//! `subscriptions/listen`, by the revision it speaks.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use rmcp::{
    ErrorData, Peer, RoleServer,
    model::{ErrorCode, SubscriptionFilter},
    service::SubscriptionContext,
};
use tokio::task::AbortHandle;

use super::{
    Changes, Full, MOST_FOLLOWED, Place,
    listener::{Kinds, Listener, Outlet},
    watch::Lists,
};
use crate::{
    principal::Served,
    resources::{
        beside,
        read::{ReadError, is_known},
        shelf,
        stamp::{Stamp, stamp},
    },
};

/// What one connection or session hears.
#[derive(Default)]
pub(crate) struct Ears {
    /// The place of a client of an older revision.
    open: tokio::sync::Mutex<Option<Hearing>>,
    /// How resources looked when a subscription was accepted, which is before the client knows.
    accepted: Mutex<BTreeMap<String, Stamp>>,
}

/// A client that is told of changes; it ends with its connection.
struct Hearing {
    place: Place,
    telling: AbortHandle,
}

impl Drop for Hearing {
    fn drop(&mut self) {
        self.telling.abort();
    }
}

impl Ears {
    /// Tells a client of an older revision of lists that change.
    pub(crate) async fn open(
        &self,
        shared: &Served,
        peer: &Peer<RoleServer>,
    ) -> Result<(), ErrorData> {
        let mut open = self.open.lock().await;
        if open.is_none() {
            *open = Some(Hearing::start(shared, peer).await?);
        }
        Ok(())
    }

    /// Follows a resource for a client of an older revision.
    pub(crate) async fn follow(
        &self,
        shared: &Served,
        peer: &Peer<RoleServer>,
        uri: String,
    ) -> Result<(), ErrorData> {
        self.open(shared, peer).await?;
        let shelf = shelf(shared).await?;
        let looked = beside(shared, move |shared| match is_known(&shelf, &uri) {
            true => Ok((stamp(shared, &shelf, &uri), uri)),
            false => Err(ReadError::Unknown.of(&uri)),
        });
        let (stamp, uri) = looked.await??;
        if !shared.changes.has_room() {
            return Err(refused(Full::Followed));
        }
        let open = self.open.lock().await;
        let listener = open.as_ref().map(|hearing| &hearing.place.listener);
        listener.map_or(Ok(()), |one| one.follow(uri, stamp).map_err(refused))
    }

    /// Ends what [`Ears::follow`] began; what was not followed is not followed afterwards either.
    pub(crate) async fn unfollow(&self, uri: &str) {
        if let Some(hearing) = self.open.lock().await.as_ref() {
            hearing.place.listener.unfollow(uri);
        }
    }

    /// Returns what of a subscription can be had: lists, and resources that are there. Too many
    /// resources are none.
    pub(crate) fn accept(
        &self,
        shared: &Served,
        requested: &SubscriptionFilter,
    ) -> SubscriptionFilter {
        let mut accepted = SubscriptionFilter::new();
        accepted.tools_list_changed = requested.tools_list_changed;
        accepted.prompts_list_changed = requested.prompts_list_changed;
        accepted.resources_list_changed = requested.resources_list_changed;
        // Compared before anything is looked up, and before rmcp compares each with each.
        let uris = requested.resource_subscriptions.as_ref();
        let Some(uris) = uris.filter(|uris| uris.len() <= MOST_FOLLOWED) else {
            return accepted;
        };
        let Ok(shelf) = shared.shelves.now(shared) else {
            return accepted;
        };
        let known = uris.iter().filter(|uri| is_known(&shelf, uri));
        let known: BTreeSet<&String> = known.collect();
        let mut stamps = self.accepted.lock().unwrap_or_else(PoisonError::into_inner);
        // Those of subscriptions that never began.
        if stamps.len() > MOST_FOLLOWED {
            stamps.clear();
        }
        for uri in &known {
            stamps.insert((*uri).clone(), stamp(shared, &shelf, uri));
        }
        drop(stamps);
        accepted.resource_subscriptions = Some(known.into_iter().cloned().collect());
        accepted
    }

    /// Tells a client of the newest revision what it subscribed to, until it ends that.
    pub(crate) async fn listen(
        &self,
        shared: &Served,
        context: SubscriptionContext,
    ) -> Result<(), ErrorData> {
        let accepted = context.accepted();
        let uris = accepted.resource_subscriptions.clone().unwrap_or_default();
        let known = shelf(shared).await?;
        let seen = {
            let mut stamps = self.accepted.lock().unwrap_or_else(PoisonError::into_inner);
            uris.into_iter()
                .map(|uri| (stamps.remove(&uri), uri))
                .collect::<Vec<_>>()
        };
        let looked = beside(shared, move |shared| {
            let stamps = seen.into_iter().map(|(seen, uri)| {
                let stamp = seen.unwrap_or_else(|| stamp(shared, &known, &uri));
                (uri, stamp)
            });
            (stamps.collect::<BTreeMap<_, _>>(), Lists::of(&known))
        });
        let (followed, lists) = looked.await?;
        let kinds = Kinds::of(context.accepted());
        let listener = Listener::new(shared.who(), kinds, followed, Some(lists));
        let place = Changes::enter(shared, listener).map_err(refused)?;
        tokio::select! {
            () = context.cancelled() => {}
            () = place.listener.tell(Outlet::Sink(context.sink())) => {}
        }
        Ok(())
    }
}

impl Hearing {
    async fn start(shared: &Served, peer: &Peer<RoleServer>) -> Result<Self, ErrorData> {
        let shelf = shelf(shared).await?;
        let lists = beside(shared, move |_| Lists::of(&shelf)).await?;
        let listener = Listener::new(shared.who(), Kinds::ALL, BTreeMap::new(), Some(lists));
        let place = Changes::enter(shared, listener).map_err(refused)?;
        let (listener, peer) = (Arc::clone(&place.listener), peer.clone());
        let telling = tokio::spawn(async move {
            listener.tell(Outlet::Peer(peer)).await;
        });
        Ok(Self {
            place,
            telling: telling.abort_handle(),
        })
    }
}

fn refused(full: Full) -> ErrorData {
    ErrorData::new(ErrorCode::INVALID_REQUEST, full.to_string(), None)
}
