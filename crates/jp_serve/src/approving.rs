//! How a call that a person has to approve reaches that person: on the terminal of the server, in the client
//! where the user trusts it to show what is asked, or else from another terminal with `jp approve`. The
//! model is told what to wait for, and decides nothing.

mod prompt;
mod wait;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use jp_host::{
    Here,
    approvals::{Answer, Decided, RequestId},
};
use jp_llm::{Approval, ApprovalRequest, Approver, Delivery, DeliveryRequest, Denial, Events};
use rmcp::{Peer, RoleServer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{asking::Wanted, keep::now, principal::Served};
use prompt::Said;
pub(crate) use prompt::key;

/// A call waits this long for a person: most clients give up after a minute.
pub(crate) const PATIENCE: Duration = Duration::from_secs(50);

/// Asks a person about the calls of one request.
pub(crate) struct Asks {
    shared: Served,
    here: Option<Here>,
    client: Client,
    /// Where the call is, for the client that waits.
    events: Option<Arc<dyn Events>>,
    /// The client's id of the call.
    call: String,
    /// What an earlier round of the call came to.
    before: Option<Approved>,
    noted: Arc<Mutex<Noted>>,
}

/// How the client of a call can be asked.
pub(crate) enum Client {
    /// Not at all.
    Never,
    /// While the call waits.
    Now {
        /// Where.
        peer: Peer<RoleServer>,
        /// Its name.
        name: String,
    },
    /// By ending the call, which is made again with the answer.
    Later {
        /// Its name.
        name: String,
        /// What it was asked before, and what it said.
        said: Option<(RequestId, Value)>,
    },
}

/// An approval that holds for the further rounds of its call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Approved {
    /// Who approved it, and how.
    pub(crate) by: String,
    /// What was shown, as a digest.
    pub(crate) shown: String,
}

/// What came of asking.
#[derive(Default)]
pub(crate) struct Noted {
    /// What the client is to be asked, and about which request.
    pub(crate) wanted: Option<(RequestId, Wanted)>,
    /// The approval of this call.
    pub(crate) approved: Option<Approved>,
}

impl Asks {
    pub(crate) fn new(
        (shared, here): (&Served, Option<&Here>),
        client: Client,
        (call, events): (&str, Option<Arc<dyn Events>>),
        before: Option<Approved>,
        noted: &Arc<Mutex<Noted>>,
    ) -> Self {
        Self {
            shared: shared.clone(),
            here: here.cloned(),
            client,
            events,
            call: call.to_owned(),
            before,
            noted: Arc::clone(noted),
        }
    }

    fn note(&self) -> std::sync::MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what an earlier round of this call came to, if the same is shown now.
    fn earlier(&self, request: &ApprovalRequest<'_>) -> Option<Approval> {
        let before = self.before.as_ref()?;
        let is_same = before.shown == hex(&request.about.shown);
        is_same.then(|| Approval::ApprovedBy(before.by.clone()))
    }

    /// Asks, wherever a person is.
    async fn ask(&self, request: &ApprovalRequest<'_>) -> Approval {
        match self.shared.terminal().approve(request).await {
            Approval::Unavailable => {}
            answer => return answer,
        }
        let Some(here) = &self.here else {
            return Approval::Unavailable;
        };
        let id = match here.file(request, now()).await {
            Ok(id) => id,
            Err(error) => return Approval::Unknowable(error),
        };
        match &self.client {
            Client::Never => self.wait(here, request, id).await,
            Client::Now { peer, name } => match prompt::ask(peer, request).await {
                Some(said) => self.settle(here, request, &id, said, name).await,
                // It went away, or cannot show it after all.
                None => self.wait(here, request, id).await,
            },
            Client::Later {
                name,
                said: Some((asked, said)),
            } if *asked == id => {
                let said = prompt::said(said);
                self.settle(here, request, &id, said, name).await
            }
            Client::Later { .. } => {
                let wanted = prompt::wanted(&id, request);
                self.note().wanted = Some((id.clone(), wanted));
                Approval::Waiting(id.to_string())
            }
        }
    }

    /// Writes down what a person said in the client, and acts on what is written down.
    async fn settle(
        &self,
        here: &Here,
        request: &ApprovalRequest<'_>,
        id: &RequestId,
        said: Said,
        client: &str,
    ) -> Approval {
        let principal = request.about.principal;
        let client = jp_text::shorten(client, 60);
        let author = format!("{principal}, asked by {client}");
        let answer = match said {
            Said::Once => Answer::Once,
            Said::Workspace => Answer::Workspace,
            Said::No => Answer::Deny,
            Said::Never => Answer::Never,
        };
        match here.decide(id, answer, &author, now()).await {
            Err(error) => return Approval::Unknowable(error),
            Ok(Decided::Unknown) => return Approval::Waiting(id.to_string()),
            // What somebody else decided before counts.
            Ok(Decided::Made { .. } | Decided::Before { .. }) => {}
        }
        match self.look(here, request, id).await {
            Some(decided) => decided,
            None => Approval::Waiting(id.to_string()),
        }
    }
}

#[async_trait]
impl Approver for Asks {
    async fn approve(&self, request: &ApprovalRequest<'_>) -> Approval {
        if let Some(approval) = self.earlier(request) {
            return approval;
        }
        let approval = self.ask(request).await;
        let by = match &approval {
            Approval::Approved => request.about.principal.to_owned(),
            Approval::ApprovedBy(by) => by.clone(),
            _ => return approval,
        };
        let shown = hex(&request.about.shown);
        self.note().approved = Some(Approved { by, shown });
        approval
    }

    async fn deliver(&self, request: &DeliveryRequest<'_>) -> Delivery {
        self.shared.terminal().deliver(request).await
    }

    async fn denied(&self, denial: &Denial<'_>) -> Option<String> {
        let here = self.here.as_ref()?;
        // A denial without a proposal is a denial all the same.
        let id = here.propose(denial, now()).await.ok()?;
        self.shared.offer_proposals(denial.about.principal);
        Some(id.to_string())
    }
}

fn hex(digest: &[u8; 32]) -> String {
    jp_disk::Sha256::from_bytes(*digest).to_string()
}
