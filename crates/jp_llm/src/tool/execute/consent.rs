//! Step 4 of the pipeline: a person decides, or the configuration in their place. Nothing here
//! listens to the model or the tool.

use jp_audit::Decision;
use jp_config::{
    Layer,
    tool::{RunMode, ToolSource},
};
use jp_policy::Grant;
use serde_json::{Map, Value};

use super::Pass;
use crate::{
    Approval, ApprovalRequest, ToolError, Trust,
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
    pub(super) async fn approve(&mut self, grant: &Grant) -> Result<Consent, ToolError> {
        let mode = self.run_mode(grant);
        // Arguments are shown before anybody is asked; the grant of such a call changes nothing.
        let shows = !self.call.action.is_run() && grant.capabilities().is_read_only_and_local();
        match mode {
            RunMode::Skip => {
                self.decision = Decision::Refused;
                return Ok(Consent::Skip("Tool skipped by configuration.".to_owned()));
            }
            RunMode::Ask | RunMode::Edit if !shows => {}
            RunMode::Ask | RunMode::Edit | RunMode::Unattended => {
                self.decision = Decision::Allowed;
                return Ok(Consent::Run);
            }
        }
        self.decision = Decision::Asked;
        let request = ApprovalRequest {
            tool: &self.tool.name,
            source: match self.tool.source {
                ToolSource::Builtin { .. } => "built-in",
                ToolSource::Local { .. } => "local",
                ToolSource::Mcp { .. } => "mcp",
                ToolSource::Registry { .. } => "registry",
            },
            arguments: &self.arguments,
            grant,
            memory: self.tool.memory(grant, self.host),
            editable: mode == RunMode::Edit,
            unconfined: grant.capabilities().subprocess && self.host.unconfined(),
        };
        let approval = tokio::select! {
            biased;
            () = self.call.cancel.cancelled() => return Ok(Consent::Cancelled),
            approval = self.host.caller().approver.approve(&request) => approval,
        };
        match approval {
            Approval::Approved => {
                self.decision = Decision::Approved;
                Ok(Consent::Run)
            }
            Approval::Edited(arguments) => {
                self.decision = Decision::Approved;
                Ok(Consent::RunWith(arguments))
            }
            Approval::Refused(why) => {
                self.decision = Decision::Refused;
                Ok(Consent::Skip(why.map_or_else(
                    || "Tool skipped by user.".to_owned(),
                    |why| format!("Tool skipped by user: {why}"),
                )))
            }
            Approval::Unavailable => Err(self.not_approved()),
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
            Some(RunMode::Unattended) if !(harmless || self.is_trusted()) => default,
            Some(mode) => mode,
        }
    }

    /// The hash a Wasm file must have, when no approval was needed because the user trusted that file.
    pub(crate) fn pinned(&self) -> Option<&str> {
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
