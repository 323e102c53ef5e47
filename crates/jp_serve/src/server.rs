//! What all connections of a server share.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use jp_host::{Live, OpenError};
use jp_llm::{Approver, Caller, NobodyToAsk};
use rmcp::ErrorData;

use crate::{
    Keep, Lazy, ServeError,
    catalogue::Catalogue,
    changes::Changes,
    metrics::{Metrics, Present},
    resources::Shelves,
    sealed::Seals,
    tasks::Running,
    upstream::Upstream,
};

/// How a server serves. What is not said is not there.
#[derive(Clone)]
pub struct Options {
    /// The name that stands in the audit log for whoever is connected.
    pub principal: String,
    /// Asks a person whether calls may run.
    pub approver: Arc<dyn Approver>,
    /// What is kept on disk for clients. Without it there are no tasks, and large results are not kept.
    pub keep: Option<Keep>,
    /// Which clients get three tools that find, describe and call all others.
    pub lazy: Lazy,
}

impl Options {
    /// Serves a principal, with nobody to approve calls.
    #[must_use]
    pub fn new(principal: impl Into<String>) -> Self {
        Self {
            principal: principal.into(),
            approver: Arc::new(NobodyToAsk),
            keep: None,
            lazy: Lazy::default(),
        }
    }
}

/// A server of one workspace. Clones are the same server.
#[derive(Clone)]
pub struct Server(Arc<Shared>);

/// What all connections share.
pub(crate) struct Shared {
    live: Live,
    options: Options,
    catalogue: Mutex<Option<Arc<Catalogue>>>,
    pub(crate) seals: Seals,
    pub(crate) running: Running,
    sweeps: AtomicBool,
    pub(crate) shelves: Shelves,
    pub(crate) changes: Changes,
    pub(crate) metrics: Metrics,
    pub(crate) upstream: Upstream,
}

impl Server {
    /// Makes a server of a workspace.
    ///
    /// # Errors
    ///
    /// When the system gives no random bytes.
    pub fn new(live: Live, options: Options) -> Result<Self, ServeError> {
        let seals = Seals::new(options.keep.as_ref())?;
        Ok(Self(Arc::new(Shared {
            live,
            options,
            catalogue: Mutex::new(None),
            seals,
            running: Running::default(),
            sweeps: AtomicBool::default(),
            shelves: Shelves::default(),
            changes: Changes::default(),
            metrics: Metrics::default(),
            upstream: Upstream::default(),
        })))
    }

    /// Tells what keeps tools of the workspace from being offered.
    ///
    /// # Errors
    ///
    /// When the workspace cannot be opened as it is now.
    pub fn problems(&self) -> Result<Vec<String>, OpenError> {
        Ok(self.0.catalogue()?.problems().to_vec())
    }

    /// Ends the programs that were started for tools. Calls under way must have ended.
    pub async fn end(&self) {
        self.0.upstream.end();
        if let Ok(workspace) = self.0.live.now() {
            workspace.stop_servers().await;
        }
    }

    /// Returns what connections share; what is over is swept from the first connection on.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        if let Some(keep) = self.0.keep()
            && !self.0.sweeps.swap(true, Ordering::Relaxed)
        {
            tokio::spawn(keep.clone().sweep());
        }
        &self.0
    }
}

impl Shared {
    /// Returns the tools as they are on disk now. They are listed anew only when something has changed.
    pub(crate) fn catalogue(&self) -> Result<Arc<Catalogue>, OpenError> {
        let workspace = self.live.now()?;
        self.upstream.follow(&workspace);
        let mut known = self
            .catalogue
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.as_ref()
            && known.is_of(&workspace)
        {
            known.complete(|| workspace.host().for_caller(self.caller()));
            return Ok(Arc::clone(known));
        }
        let host = workspace.host().for_caller(self.caller());
        let listed = Arc::new(Catalogue::of(workspace, &host));
        listed.complete(|| host);
        *known = Some(Arc::clone(&listed));
        Ok(listed)
    }

    /// Returns the tools, or what a client is told when there are none to be had.
    pub(crate) fn listed(&self) -> Result<Arc<Catalogue>, ErrorData> {
        self.catalogue().map_err(|error| {
            ErrorData::internal_error(format!("the workspace cannot be opened: {error}"), None)
        })
    }

    /// Returns the caller behind every connection, whom nobody can ask anything yet.
    pub(crate) fn caller(&self) -> Caller {
        Caller {
            principal: self.options.principal.clone(),
            approver: Arc::clone(&self.options.approver),
            ..Caller::default()
        }
    }

    /// Returns what is there at the moment, beside what the transports know.
    pub(crate) fn present(&self) -> Present {
        let known = self
            .catalogue
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Present {
            tasks: self.running.count(),
            listeners: self.changes.listener_count(),
            followed: self.changes.followed_count(),
            tools: known.as_ref().map_or(0, |known| known.tools().len()),
            ..Present::default()
        }
    }

    pub(crate) const fn keep(&self) -> Option<&Keep> {
        self.options.keep.as_ref()
    }

    pub(crate) const fn lazy(&self) -> Lazy {
        self.options.lazy
    }

    pub(crate) const fn live(&self) -> &Live {
        &self.live
    }

    pub(crate) fn principal(&self) -> &str {
        &self.options.principal
    }
}

impl Shared {
    /// Returns what a model is told of the server as a whole.
    pub(crate) fn instructions(&self) -> Option<String> {
        let catalogue = self.catalogue().ok()?;
        let (knowledge, _) = jp_llm::knowledge_prompt(catalogue.workspace().host());
        let mut text = INSTRUCTIONS.to_owned();
        if let Some(knowledge) = knowledge {
            text.push_str("\n\n");
            text.push_str(&knowledge);
        }
        Some(text)
    }
}

const INSTRUCTIONS: &str = "These tools run inside jp: each with only the files, hosts and secrets that the \
user granted it, within limits, and every call is recorded. A refusal names what is missing; pass that on to \
the user, who alone can grant it.";
