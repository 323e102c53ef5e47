//! Questions that tools ask while they run: the caller answers them, and the call waits.

use async_trait::async_trait;
use jp_tool::Question;
use serde_json::Value;

use crate::NobodyToAsk;

/// What a tool must know to go on.
pub struct AskRequest<'a> {
    /// The id of the call.
    pub call: &'a str,
    /// The tool that asks.
    pub tool: &'a str,
    /// What it asks.
    pub question: &'a Question,
}

/// Answers what tools ask. While it does, the call's own time stands still.
#[async_trait]
pub trait Asker: Send + Sync {
    /// Returns the answer, or nothing when there is none: the call then ends with the question.
    async fn ask(&self, request: &AskRequest<'_>) -> Option<Value>;
}

#[async_trait]
impl Asker for NobodyToAsk {
    async fn ask(&self, _: &AskRequest<'_>) -> Option<Value> {
        None
    }
}
