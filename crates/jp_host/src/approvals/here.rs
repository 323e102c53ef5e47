//! The approvals of a user in one workspace: what the pipeline asks, and what fronts file for a person.

use std::sync::Arc;

use async_trait::async_trait;
use jp_llm::{About as Called, ApprovalRequest, Decisions, Denial, Known, Lasting, Unreadable};
use jp_policy::Capabilities;
use jp_store::{Decided, Kind, Millis, NewRequest, Pending as _, Request, RequestId, SameCall};

use super::{
    About, Answer, AnswerError, Approvals, MOST_WAITING, REQUEST_LIFE, access::Access, answer,
    index::Place, text_of,
};

/// The approvals of a user in one workspace, under its configuration of now. Clones are the same.
#[derive(Clone)]
pub struct Here {
    approvals: Approvals,
    workspace: Arc<str>,
    configuration: Arc<str>,
}

/// A request to be filed, with nothing borrowed.
struct Filing {
    kind: Kind,
    principal: String,
    tool: String,
    arguments: [u8; 32],
    shown: [u8; 32],
    access: Option<String>,
    about: String,
}

impl Here {
    pub(crate) fn new(approvals: Approvals, workspace: &str, configuration: &str) -> Self {
        Self {
            approvals,
            workspace: workspace.into(),
            configuration: configuration.into(),
        }
    }

    /// Returns the approvals of the user, in all workspaces.
    #[must_use]
    pub const fn all(&self) -> &Approvals {
        &self.approvals
    }

    /// Files a call that waits for a person, who finds it under the id.
    ///
    /// # Errors
    ///
    /// When it cannot be filed: too many wait already, or the store fails.
    pub async fn file(
        &self,
        request: &ApprovalRequest<'_>,
        now: Millis,
    ) -> Result<RequestId, Unreadable> {
        let about = About::of_approval(request).write();
        self.file_as(Kind::Approval, request.about, (None, about), now)
            .await
    }

    /// Files what a denial withheld, which a person may grant.
    ///
    /// # Errors
    ///
    /// As [`Self::file`].
    pub async fn propose(&self, denial: &Denial<'_>, now: Millis) -> Result<RequestId, Unreadable> {
        let access = Access {
            capabilities: denial.missing.clone(),
            definition: denial.definition,
            lines: denial.lines.to_vec(),
        };
        let about = About::of_denial(denial).write();
        let what = (Some(access.write()), about);
        self.file_as(Kind::Proposal, denial.about, what, now).await
    }

    async fn file_as(
        &self,
        kind: Kind,
        call: &Called<'_>,
        (access, about): (Option<String>, String),
        now: Millis,
    ) -> Result<RequestId, Unreadable> {
        let filing = Filing {
            kind,
            principal: call.principal.to_owned(),
            tool: call.tool.to_owned(),
            arguments: call.digest(),
            shown: call.shown,
            access,
            about,
        };
        let (workspace, configuration) =
            (Arc::clone(&self.workspace), Arc::clone(&self.configuration));
        let file = move |approvals: &Approvals| {
            let request = NewRequest {
                kind: filing.kind,
                call: SameCall {
                    principal: &filing.principal,
                    tool: &filing.tool,
                    workspace: &workspace,
                    arguments: &filing.arguments,
                    shown: &filing.shown,
                },
                configuration: Some(&configuration),
                run: approvals.run(),
                access: filing.access.as_deref(),
                about: &filing.about,
                expires: now.saturating_add(REQUEST_LIFE),
                most: MOST_WAITING,
            };
            approvals.store(now)?.file(&request, now)
        };
        self.approvals.aside(file).await
    }

    /// Returns a request, whatever became of it.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn request(
        &self,
        id: &RequestId,
        now: Millis,
    ) -> Result<Option<Request>, Unreadable> {
        let id = id.clone();
        let look = move |approvals: &Approvals| approvals.store(now)?.request(&id, now);
        self.approvals.aside(look).await
    }

    /// Notes why a model wants what a denial of its principal named. It grants nothing.
    ///
    /// # Errors
    ///
    /// When the reason is too long, or the store fails.
    pub async fn add_reason(
        &self,
        principal: &str,
        id: &RequestId,
        reason: &str,
        now: Millis,
    ) -> Result<bool, Unreadable> {
        let (principal, id, reason) = (principal.to_owned(), id.clone(), reason.to_owned());
        let note = move |approvals: &Approvals| {
            approvals.store(now)?.propose(&principal, &id, &reason, now)
        };
        self.approvals.aside(note).await
    }

    /// Writes down what a person said where they were asked.
    ///
    /// # Errors
    ///
    /// When the answer does not fit, or the store fails: then nothing is decided.
    pub async fn decide(
        &self,
        id: &RequestId,
        answer: Answer,
        author: &str,
        now: Millis,
    ) -> Result<Decided, Unreadable> {
        let (id, author) = (id.clone(), author.to_owned());
        let decide = move |approvals: &Approvals| {
            let store = approvals.store(now)?;
            let Some(request) = store.request(&id, now)? else {
                return Ok(Ok(Decided::Unknown));
            };
            let verdict = match answer::verdict(&request, &answer, &author, now) {
                Ok(verdict) => verdict,
                Err(AnswerError::Store(error)) => return Err(error),
                Err(other) => return Ok(Err(other)),
            };
            store.decide(&id, &verdict, &author, now).map(Ok)
        };
        let decided = self.approvals.aside(decide).await?;
        decided.map_err(|error| Unreadable {
            reason: text_of(&error),
        })
    }

    fn place(&self) -> Place<'_> {
        Place {
            workspace: &self.workspace,
            configuration: Some(&self.configuration),
            run: self.approvals.run(),
        }
    }
}

#[async_trait]
impl Decisions for Here {
    fn is_fresh(&self, now: Millis) -> bool {
        self.approvals.is_fresh(now)
    }

    async fn refresh(&self) -> Result<(), Unreadable> {
        self.approvals.aside(Approvals::reload).await
    }

    fn concerns(&self, tool: &str) -> bool {
        self.approvals.index().concerns(tool)
    }

    fn access(&self, about: &Called<'_>) -> Option<Arc<Capabilities>> {
        self.approvals.index().access(about, self.place())
    }

    fn known(&self, about: &Called<'_>) -> Known {
        self.approvals.index().known(about, self.place())
    }

    async fn remember(
        &self,
        request: &ApprovalRequest<'_>,
        lasting: Lasting,
    ) -> Result<String, Unreadable> {
        let now = request.about.now;
        let id = self.file(request, now).await?;
        let answer = match lasting {
            Lasting::ForWorkspace => Answer::Workspace,
            Lasting::Never => Answer::Never,
        };
        let author = format!("{}, at the prompt", request.about.principal);
        match self.decide(&id, answer, &author, now).await? {
            Decided::Made { .. } => {}
            Decided::Before { .. } | Decided::Unknown => {
                let reason = "somebody else decided about this call at the same time".to_owned();
                return Err(Unreadable { reason });
            }
        }
        if lasting == Lasting::ForWorkspace {
            // This call is the one that the permission is for.
            self.spend(request.about).await;
        }
        Ok(author)
    }

    async fn spend(&self, about: &Called<'_>) -> Option<String> {
        let (principal, tool) = (about.principal.to_owned(), about.tool.to_owned());
        let (arguments, shown, now) = (about.digest(), about.shown, about.now);
        let workspace = Arc::clone(&self.workspace);
        let redeem = move |approvals: &Approvals| {
            let call = SameCall {
                principal: &principal,
                tool: &tool,
                workspace: &workspace,
                arguments: &arguments,
                shown: &shown,
            };
            approvals.store(now)?.redeem(&call, now)
        };
        // A permission that cannot be noted as used is not used.
        let spent = self.approvals.aside(redeem).await.ok()??;
        Some(format!("{}, for request {}", spent.author, spent.id))
    }
}
