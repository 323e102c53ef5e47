//! Questions that tools ask while they run: the caller answers them, and the call waits.

use async_trait::async_trait;
use jp_tool::{Input, Question};
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

/// All that a tool must know to go on, wanted at once.
pub struct InputRequest<'a> {
    /// The id of the call.
    pub call: &'a str,
    /// The tool that wants it.
    pub tool: &'a str,
    /// What it wants.
    pub inputs: &'a [&'a Input],
}

/// Answers what tools ask. While it does, the call's own time stands still.
#[async_trait]
pub trait Asker: Send + Sync {
    /// Returns the answer, or nothing when there is none: the call then ends with the question.
    async fn ask(&self, request: &AskRequest<'_>) -> Option<Value>;

    /// Returns an answer to each of several inputs, or nothing for those that have none. Unless a
    /// front can do better, each is asked as a question, until one has no answer.
    async fn provide(&self, request: &InputRequest<'_>) -> Vec<Option<Value>> {
        let mut answers = Vec::new();
        for input in request.inputs {
            let question = input.to_question();
            let asked = AskRequest {
                call: request.call,
                tool: request.tool,
                question: &question,
            };
            let answer = self.ask(&asked).await;
            let is_last = answer.is_none();
            answers.push(answer);
            if is_last {
                break;
            }
        }
        answers
    }
}

#[async_trait]
impl Asker for NobodyToAsk {
    async fn ask(&self, _: &AskRequest<'_>) -> Option<Value> {
        None
    }
}
