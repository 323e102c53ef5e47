//! What all connections of a server share.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use jp_host::{Live, OpenError};
use jp_llm::{Approver, NobodyToAsk};
use rmcp::ErrorData;

use crate::{
    Keep, Lazy, ServeError, Tokens,
    approving::PATIENCE,
    aside::Aside,
    catalogue::Catalogue,
    changes::Changes,
    metrics::{Metrics, Present},
    principal::{Principal, Served},
    proposing::Proposals,
    resources::Shelves,
    sealed::Seals,
    tasks::Running,
    upstream::Upstream,
};

/// As many lists of tools are kept: one for each policy of a principal.
const MOST_CATALOGUES: usize = 64;

/// How a server serves. What is not said is not there.
#[derive(Clone)]
pub struct Options {
    /// The user: the name of everybody who is connected and not let in as somebody else.
    pub principal: String,
    /// Asks a person whether calls of the user may run.
    pub approver: Arc<dyn Approver>,
    /// Asks a person whether calls of others may run.
    pub others: Arc<dyn Approver>,
    /// What is kept on disk for clients. Without it there are no tasks, and large results are not kept.
    pub keep: Option<Keep>,
    /// Which clients get three tools that find, describe and call all others.
    pub lazy: Lazy,
    /// The tokens of others whom the user lets in over HTTP.
    pub tokens: Option<Tokens>,
    /// The names that clients may know the server by, beside those of this machine.
    pub hosts: Vec<String>,
    /// How long a call waits for a person who can only decide elsewhere, with `jp approve`.
    pub patience: Duration,
}

impl Options {
    /// Serves a principal, with nobody to approve calls.
    #[must_use]
    pub fn new(principal: impl Into<String>) -> Self {
        Self {
            principal: principal.into(),
            approver: Arc::new(NobodyToAsk),
            others: Arc::new(NobodyToAsk),
            keep: None,
            lazy: Lazy::default(),
            tokens: None,
            hosts: Vec::new(),
            patience: PATIENCE,
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
    user: Arc<Principal>,
    /// The tools by the policies they were listed under, the one used last at the end.
    catalogues: Mutex<Vec<Arc<Catalogue>>>,
    pub(crate) seals: Seals,
    pub(crate) running: Running,
    pub(crate) aside: Aside,
    sweeps: AtomicBool,
    pub(crate) shelves: Shelves,
    pub(crate) changes: Changes,
    pub(crate) proposals: Proposals,
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
            user: Principal::user(&options.principal),
            options,
            catalogues: Mutex::default(),
            seals,
            running: Running::default(),
            aside: Aside::default(),
            sweeps: AtomicBool::default(),
            shelves: Shelves::default(),
            changes: Changes::default(),
            proposals: Proposals::default(),
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
        let user = Served::new(Arc::clone(&self.0), Arc::clone(self.0.user()));
        Ok(user.catalogue()?.problems().to_vec())
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

    /// Returns the server as the user has it.
    pub(crate) fn user(&self) -> Served {
        let shared = Arc::clone(self.shared());
        let who = Arc::clone(shared.user());
        Served::new(shared, who)
    }
}

impl Served {
    /// Returns the tools as they are on disk now, and as this principal has them. They are listed anew
    /// only when something has changed.
    pub(crate) fn catalogue(&self) -> Result<Arc<Catalogue>, OpenError> {
        let workspace = self.live().now()?;
        self.upstream.follow(&workspace);
        let mut known = self
            .catalogues
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let policy = self.who().policy();
        if let Some(at) = known.iter().position(|one| one.is_of(&workspace, policy)) {
            if at + 1 < known.len() {
                let found = known.remove(at);
                known.push(found);
            }
            if let Some(found) = known.last() {
                found.complete();
                return Ok(Arc::clone(found));
            }
        }
        known.retain(|one| Arc::ptr_eq(one.workspace(), &workspace));
        if known.len() >= MOST_CATALOGUES {
            known.remove(0);
        }
        let host = workspace.host().for_caller(self.caller());
        let listed = Arc::new(Catalogue::of(workspace, host, policy.cloned()));
        listed.complete();
        known.push(Arc::clone(&listed));
        Ok(listed)
    }

    /// Returns the tools, or what a client is told when there are none to be had.
    pub(crate) fn listed(&self) -> Result<Arc<Catalogue>, ErrorData> {
        self.catalogue().map_err(|error| {
            ErrorData::internal_error(format!("the workspace cannot be opened: {error}"), None)
        })
    }

    /// Returns what a model is told of the server as a whole.
    pub(crate) fn instructions(&self) -> Option<String> {
        let catalogue = self.catalogue().ok()?;
        let (knowledge, _) = jp_llm::knowledge_prompt(catalogue.host());
        let mut text = INSTRUCTIONS.to_owned();
        if let Some(knowledge) = knowledge {
            text.push_str("\n\n");
            text.push_str(&knowledge);
        }
        Some(text)
    }
}

impl Shared {
    /// Returns what is there at the moment, beside what the transports know.
    pub(crate) fn present(&self) -> Present {
        let known = self
            .catalogues
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let tools = known.iter().rfind(|one| one.is_under(None));
        Present {
            tasks: self.running.count(),
            listeners: self.changes.listener_count(),
            followed: self.changes.followed_count(),
            tools: tools.map_or(0, |known| known.tools().len()),
            ..Present::default()
        }
    }

    pub(crate) const fn keep(&self) -> Option<&Keep> {
        self.options.keep.as_ref()
    }

    pub(crate) const fn patience(&self) -> Duration {
        self.options.patience
    }

    /// Offers the tool that passes proposals on, to a principal that was denied something.
    pub(crate) fn offer_proposals(&self, principal: &str) {
        if self.proposals.note(principal) {
            self.changes.tools_changed(principal);
        }
    }

    pub(crate) const fn lazy(&self) -> Lazy {
        self.options.lazy
    }

    pub(crate) const fn live(&self) -> &Live {
        &self.live
    }

    pub(crate) const fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the user whose server it is.
    pub(crate) const fn user(&self) -> &Arc<Principal> {
        &self.user
    }
}

const INSTRUCTIONS: &str = "These tools run inside jp: each with only the files, hosts and secrets that the \
user granted it, within limits, and every call is recorded. A refusal names what is missing; pass that on to \
the user, who alone can grant it.";
