//! Approval: a person decides whether a call runs. Nothing a model or a guest says reaches this.

use async_trait::async_trait;
use jp_config::tool::InlineResults;
use jp_policy::Grant;
use serde_json::{Map, Value};

use crate::runtime::Memory;

/// What a person is asked to approve.
pub struct ApprovalRequest<'a> {
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
    /// Whether the person may change the arguments (`run = "edit"`).
    pub editable: bool,
    /// Whether the tool would run with the full authority of the user.
    pub unconfined: bool,
}

/// What the person decided.
#[derive(Debug, Clone, PartialEq)]
pub enum Approval {
    /// Run it.
    Approved,
    /// Run it with these arguments instead.
    Edited(Map<String, Value>),
    /// Do not run it; the text is for the model.
    Refused(Option<String>),
    /// No person can be asked.
    Unavailable,
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
}

/// An approver where no person can be asked.
pub struct NobodyToAsk;

#[async_trait]
impl Approver for NobodyToAsk {
    async fn approve(&self, _: &ApprovalRequest<'_>) -> Approval {
        Approval::Unavailable
    }
}
