//! Approval: a person decides whether a call runs. Nothing a model or a guest says reaches this.

use async_trait::async_trait;
use jp_config::tool::InlineResults;
use jp_policy::Grant;
use serde_json::{Map, Value};

use crate::{About, Denial, Unreadable, runtime::Memory};

/// What a person is asked to approve.
pub struct ApprovalRequest<'a> {
    /// The call as decisions are about it: who makes it, and what is shown of its tool.
    pub about: &'a About<'a>,
    /// The tool's id.
    pub tool: &'a str,
    /// Where it comes from: `built-in`, `local` or `mcp`.
    pub source: &'a str,
    /// What it would be called with.
    pub arguments: &'a Map<String, Value>,
    /// What it would be allowed to do.
    pub grant: &'a Grant,
    /// How much memory it may use, and who is counted.
    pub memory: Memory,
    /// Whether the configuration wants the person to look at the arguments (`run = "edit"`).
    pub editable: bool,
    /// Whether a decision can be remembered.
    pub can_remember: bool,
    /// Whether the tool would run with the full authority of the user.
    pub unconfined: bool,
}

/// What the person decided.
#[derive(Debug, Clone, PartialEq)]
pub enum Approval {
    /// Run it; the caller's own person said so.
    Approved,
    /// Run it; somebody else said so, or in another place.
    ApprovedBy(String),
    /// Run it, and whatever the tool is called with in this workspace from now on, until the workspace's
    /// configuration or the tool changes.
    ForWorkspace,
    /// Do not run it, nor any call of the tool in this workspace from now on.
    Never,
    /// Run it with these arguments instead.
    Edited(Map<String, Value>),
    /// Do not run it; the text is for the model.
    Refused(Option<String>),
    /// Do not run it; somebody else said so, or in another place.
    RefusedBy(String),
    /// Nobody has answered yet; a person can decide later, under this id.
    Waiting(String),
    /// No person can be asked.
    Unavailable,
    /// What a person decided cannot be found out or written down.
    Unknowable(Unreadable),
}

/// A result that a person is asked to deliver (`result = "ask"` and `"edit"`).
pub struct DeliveryRequest<'a> {
    /// The tool's id.
    pub tool: &'a str,
    /// What would be delivered: what the tool said, or what it complained about.
    pub result: Result<&'a str, &'a str>,
    /// Whether the person edits it before they are asked anything (`result = "edit"`).
    pub edit_first: bool,
    /// How much of it is shown at first.
    pub shown: InlineResults,
}

/// What the person decided about a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// Deliver it.
    Deliver,
    /// Deliver this instead.
    Edited(String),
    /// Keep it; the text is for the model.
    Withheld(Option<String>),
    /// No person can be asked.
    Unavailable,
}

/// Asks a person.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Asks whether a call may run.
    async fn approve(&self, request: &ApprovalRequest<'_>) -> Approval;

    /// Asks whether a result may be delivered.
    async fn deliver(&self, _: &DeliveryRequest<'_>) -> Delivery {
        Delivery::Unavailable
    }

    /// Hears that the user's policy denied a call, and may put what is missing before a person: returns
    /// the id under which they can grant it. It grants nothing itself.
    async fn denied(&self, _: &Denial<'_>) -> Option<String> {
        None
    }
}

/// An approver where no person can be asked.
pub struct NobodyToAsk;

#[async_trait]
impl Approver for NobodyToAsk {
    async fn approve(&self, _: &ApprovalRequest<'_>) -> Approval {
        Approval::Unavailable
    }
}
