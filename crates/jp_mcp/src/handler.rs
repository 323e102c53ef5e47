//! What a server may say without being asked: how far a call is, and that its tools changed. All
//! else it asks of a client is declined.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rmcp::{
    ClientHandler, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam, ProgressToken,
    },
    service::NotificationContext,
};
use tokio::sync::{Mutex, mpsc};

use crate::{Progress, hidden, news::News};

/// The longest message about progress that is passed on.
const MAX_MESSAGE: usize = 500;

/// Hears a server; clones share what it heard.
#[derive(Clone)]
pub(crate) struct Handler {
    /// Who wants to know how far a call is. The sender of a call holds this until it knows the
    /// call's token, so that no report comes too early.
    pub(crate) listeners: Arc<Mutex<HashMap<ProgressToken, mpsc::Sender<Progress>>>>,
    changed: Arc<AtomicBool>,
    server: Arc<str>,
    news: Arc<News>,
}

impl Handler {
    /// Hears a server.
    pub(crate) fn new(server: &str, news: &Arc<News>) -> Self {
        Self {
            listeners: Arc::default(),
            changed: Arc::default(),
            server: server.into(),
            news: Arc::clone(news),
        }
    }

    /// Returns whether the server said since the last time that its tools changed.
    pub(crate) fn take_changed(&self) -> bool {
        self.changed.swap(false, Ordering::AcqRel)
    }

    /// Notes that the list was not asked for again, so that the next one who wants it does.
    pub(crate) fn still_changed(&self) {
        self.changed.store(true, Ordering::Release);
    }
}

impl ClientHandler for Handler {
    async fn on_progress(
        &self,
        report: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let listeners = self.listeners.lock().await;
        let Some(listener) = listeners.get(&report.progress_token) else {
            return;
        };
        let message = report.message.map(|text| hidden::shown(&text, MAX_MESSAGE));
        // Who does not keep up misses reports, never the result.
        let _ = listener.try_send(Progress {
            progress: report.progress,
            total: report.total,
            message,
        });
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::Release);
        self.news.tell(&self.server);
    }

    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("jp", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us)
    }
}
