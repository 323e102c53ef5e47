//! Step 4 of the pipeline: a person decides, or the configuration in their place. Nothing here
//! listens to the model or the tool.

use jp_audit::Decision;
use jp_config::{
    Layer,
    tool::{RunMode, ToolSource},
};
use jp_policy::Grant;
use serde_json::{Map, Value};

use super::{Granted, Pass};
use crate::{
    Approval, ApprovalRequest, Lasting, ToolError, Trust,
    tool::{Refused, word},
};

/// What the person, or the configuration in their place, decided.
pub(super) enum Consent {
    /// Run it.
    Run,
    /// Run it with these arguments instead.
    RunWith(Map<String, Value>),
    /// Do not run it, and tell the model this.
    Skip(String),
    /// The caller gave up waiting.
    Cancelled,
}

impl Pass<'_> {
    /// Step 4: a person decides, where the configuration or the grant calls for one.
    pub(super) async fn approve(&mut self, granted: &Granted) -> Result<Consent, ToolError> {
        let grant = &*granted.grant;
        let mode = self.run_mode(grant);
        // Arguments are shown before anybody is asked; the grant of such a call changes nothing.
        let shows = !self.call.action.is_run() && grant.capabilities().is_read_only_and_local();
        match mode {
            RunMode::Skip => {
                self.decision = Decision::Refused;
                return Ok(Consent::Skip("Tool skipped by configuration.".to_owned()));
            }
            RunMode::Ask | RunMode::Edit if !shows => {
                if let Some(consent) = self.decided(granted, true).await {
                    return Ok(consent);
                }
            }
            RunMode::Ask | RunMode::Edit | RunMode::Unattended => {
                if let Some(consent) = self.decided(granted, false).await {
                    return Ok(consent);
                }
                self.decision = Decision::Allowed;
                return Ok(Consent::Run);
            }
        }
        self.decision = Decision::Asked;
        self.hold_to_what_was_shown();
        let about = self.about(self.shown(grant));
        let request = ApprovalRequest {
            about: &about,
            tool: &self.tool.name,
            source: self.source(),
            arguments: &self.arguments,
            grant,
            memory: self.tool.memory(grant, self.host),
            editable: mode == RunMode::Edit,
            can_remember: self.host.decisions().is_some(),
            unconfined: grant.capabilities().subprocess && self.host.unconfined(),
        };
        let approval = tokio::select! {
            biased;
            () = self.call.cancel.cancelled() => return Ok(Consent::Cancelled),
            approval = self.host.caller().approver.approve(&request) => approval,
        };
        let person = &self.host.caller().principal;
        let lasting = match approval {
            Approval::ForWorkspace => Some(Lasting::ForWorkspace),
            Approval::Never => Some(Lasting::Never),
            _ => None,
        };
        let remembered = match (lasting, self.host.decisions()) {
            (Some(lasting), Some(decisions)) => Some(decisions.remember(&request, lasting).await),
            _ => None,
        };
        let by = match remembered {
            Some(Err(error)) => {
                return Err(ToolError::new(&*self.tool.name, Refused::Unknowable(error)));
            }
            Some(Ok(by)) => by,
            None => person.clone(),
        };
        match approval {
            Approval::ForWorkspace => {
                self.decision = Decision::Approved;
                self.decided_by = Some(by);
                Ok(Consent::Run)
            }
            Approval::Never => {
                self.decision = Decision::Refused;
                self.decided_by = Some(by);
                Ok(Consent::Skip(
                    "Tool skipped by user, from now on.".to_owned(),
                ))
            }
            Approval::Approved => {
                self.decision = Decision::Approved;
                self.decided_by = Some(by);
                Ok(Consent::Run)
            }
            Approval::ApprovedBy(by) => {
                self.decision = Decision::Approved;
                self.decided_by = Some(by);
                Ok(Consent::Run)
            }
            Approval::Edited(arguments) => {
                self.decision = Decision::Approved;
                self.decided_by = Some(by);
                Ok(Consent::RunWith(arguments))
            }
            Approval::RefusedBy(by) => {
                self.decision = Decision::Refused;
                let text = format!("Tool skipped: the user said no ({by}).");
                self.decided_by = Some(by);
                Ok(Consent::Skip(text))
            }
            Approval::Waiting(id) => Err(ToolError::new(
                &*self.tool.name,
                Refused::Waiting { id: id.clone() },
            )
            .with_hint(format!(
                "ask the user to run `jp approve {id}`, then make the very same call again"
            ))),
            Approval::Unknowable(error) => {
                Err(ToolError::new(&*self.tool.name, Refused::Unknowable(error)))
            }
            Approval::Refused(why) => {
                self.decision = Decision::Refused;
                self.decided_by = Some(by);
                Ok(Consent::Skip(why.map_or_else(
                    || "Tool skipped by user.".to_owned(),
                    |why| format!("Tool skipped by user: {why}"),
                )))
            }
            Approval::Unavailable => Err(self.not_approved()),
        }
    }

    /// Says where the tool comes from.
    pub(super) fn source(&self) -> &'static str {
        match self.tool.source {
            ToolSource::Builtin { .. } => "built-in",
            ToolSource::Local { .. } => "local",
            ToolSource::Mcp { .. } => "mcp",
            ToolSource::Registry { .. } => "registry",
        }
    }

    /// Says what would let the call run without anybody who could be asked.
    fn not_approved(&self) -> ToolError {
        let name = word(&self.tool.name);
        let hint = match (self.tool.run, self.pin()) {
            (Some(RunMode::Unattended), Err(path)) => format!(
                "`{path}` did not exist when you trusted this workspace: look at it, then run `jp trust` \
                 again; or approve this call in a terminal, or with `jp tool run --yes {name} …`"
            ),
            _ => format!(
                "run it in a terminal, approve this call with `jp tool run --yes {name} …`, or set \
                 `run = \"unattended\"` for it in a workspace you trust"
            ),
        };
        ToolError::new(&*self.tool.name, Refused::NotApproved).with_hint(hint)
    }

    /// What the configuration says, as far as its author may decide that. A workspace nobody has
    /// looked at cannot make itself unattended, and neither can a file that came or was swapped since.
    pub(super) fn run_mode(&self, grant: &Grant) -> RunMode {
        let harmless = grant.capabilities().is_read_only_and_local();
        let default = if harmless {
            RunMode::Unattended
        } else {
            RunMode::Ask
        };
        match self.tool.run {
            None => default,
            // What the user granted one tool beyond their policy was granted for calls that they approve.
            Some(RunMode::Unattended) if self.is_widened() => default,
            Some(RunMode::Unattended) if !(harmless || self.is_trusted()) => default,
            Some(mode) => mode,
        }
    }

    /// The hash a Wasm file must have: that of the file that a person was shown, or when no approval was
    /// needed because the user trusted a file, that of the trusted one.
    pub(crate) fn pinned(&self) -> Option<&str> {
        if let Some(seen) = &self.held_to {
            return Some(seen);
        }
        let pin = self.pin().ok().flatten();
        pin.filter(|_| self.decision == Decision::Allowed)
    }

    /// The hash the user trusted a Wasm file of the workspace with. `Err` has the path of a file that
    /// has none: it did not exist when the user looked, so its author is unknown.
    pub(super) fn pin(&self) -> Result<Option<&str>, &str> {
        match (&self.tool.wasm, self.host.trust()) {
            (Some(path), Trust::Trusted { pins }) if self.tool.defined_by == Layer::Workspace => {
                let pin = pins.get(path).map(|pin| Some(pin.as_str()));
                pin.ok_or(path.as_str())
            }
            _ => Ok(None),
        }
    }
}
