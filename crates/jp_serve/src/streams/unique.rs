//! Requests of one client, no two of which under way have the same id: nobody could tell their answers
//! apart, and stopping one would stop the wrong one.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rmcp::{
    ErrorData, RoleServer,
    model::{ClientNotification, JsonRpcMessage, RequestId},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};

/// A transport that refuses a request whose id is taken.
pub(super) struct Unique<T> {
    inner: T,
    underway: Underway,
}

/// The ids of requests that have no answer yet.
#[derive(Clone, Default)]
struct Underway(Arc<Mutex<HashSet<RequestId>>>);

impl Underway {
    fn ids(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of what a client says; false for a request whose id is taken.
    fn heard(&self, message: &RxJsonRpcMessage<RoleServer>) -> bool {
        match message {
            JsonRpcMessage::Request(request) => self.ids().insert(request.id.clone()),
            JsonRpcMessage::Notification(notification) => {
                // A request that was cancelled may never be answered.
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.ids().remove(id);
                }
                true
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => true,
        }
    }

    /// Takes note of what a client is answered.
    fn answered(&self, message: &TxJsonRpcMessage<RoleServer>) {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        if let Some(id) = id {
            self.ids().remove(id);
        }
    }
}

impl<T> Unique<T> {
    pub(super) fn new(inner: T) -> Self {
        Self {
            inner,
            underway: Underway::default(),
        }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Unique<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.underway.answered(&item);
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.inner.receive().await?;
            if self.underway.heard(&message) {
                return Some(message);
            }
            let text = "invalid request: its id is that of a request which has no answer yet";
            // Without an id: with it, this would be the answer to the other request.
            let refusal = JsonRpcMessage::error(ErrorData::invalid_request(text, None), None);
            let refusing = self.inner.send(refusal);
            // Beside the reading, which may be dropped at any time and must not wait for a slow reader.
            tokio::spawn(async move {
                let _ = refusing.await;
            });
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
