//! What a server may say without being asked: how far a call is, that its tools changed, and what it wants
//! to know from a person. All else it asks of a client is declined.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
        ElicitationCapability, FormElicitationCapability, Implementation,
        ProgressNotificationParam, ProgressToken, ProtocolVersion,
    },
    service::{NotificationContext, RequestContext},
};
use tokio::sync::{Mutex, mpsc, oneshot};

use crate::{Progress, hidden, news::News};

/// The longest message about progress that is passed on.
const MAX_MESSAGE: usize = 500;

/// Something that a server wants to know during a call.
pub(crate) struct Wanted {
    pub(crate) params: ElicitRequestParams,
    pub(crate) reply: oneshot::Sender<ElicitResult>,
}

/// Hears a server; clones share what it heard.
#[derive(Clone)]
pub(crate) struct Handler {
    /// Who wants to know how far a call is. The sender of a call holds this until it knows the
    /// call's token, so that no report comes too early.
    pub(crate) listeners: Arc<Mutex<HashMap<ProgressToken, mpsc::Sender<Progress>>>>,
    /// The calls under way whose callers can be asked.
    callers: Arc<Mutex<Vec<mpsc::Sender<Wanted>>>>,
    changed: Arc<AtomicBool>,
    server: Arc<str>,
    news: Arc<News>,
}

impl Handler {
    /// Hears a server.
    pub(crate) fn new(server: &str, news: &Arc<News>) -> Self {
        Self {
            listeners: Arc::default(),
            callers: Arc::default(),
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

    /// Lets a call hear what the server wants to know, for as long as it listens.
    pub(crate) async fn hear(&self) -> mpsc::Receiver<Wanted> {
        let (to, from) = mpsc::channel(1);
        let mut callers = self.callers.lock().await;
        callers.retain(|caller| !caller.is_closed());
        callers.push(to);
        from
    }

    /// Returns the only call under way. With several, the server does not say for which it asks, and
    /// a person must not be asked in the name of another's.
    async fn only_caller(&self) -> Option<mpsc::Sender<Wanted>> {
        let mut callers = self.callers.lock().await;
        callers.retain(|caller| !caller.is_closed());
        match callers.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        }
    }
}

impl ClientHandler for Handler {
    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let declined = ElicitResult::new(ElicitationAction::Decline);
        let Some(caller) = self.only_caller().await else {
            return Ok(declined);
        };
        let (reply, replied) = oneshot::channel();
        if caller.send(Wanted { params, reply }).await.is_err() {
            return Ok(declined);
        }
        Ok(replied.await.unwrap_or(declined))
    }

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
        let forms = ElicitationCapability::new().with_form(FormElicitationCapability::new());
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(forms);
        // The newest revision that begins with a handshake.
        ClientConfig::new(capabilities, us).with_protocol_version(ProtocolVersion::V_2025_11_25)
    }
}
