//! Questions that tools ask while they run: the caller answers them, and the call waits.

use async_trait::async_trait;
use jp_tool::{Form, Input, Question};
use serde_json::{Map, Value};

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
    /// Whether an answer to one of them is enough.
    pub any: bool,
}

/// Answers what tools ask. While it does, the call's own time stands still.
#[async_trait]
pub trait Asker: Send + Sync {
    /// Returns the answer, or nothing when there is none: the call then ends with the question.
    async fn ask(&self, request: &AskRequest<'_>) -> Option<Value>;

    /// Returns an answer to each of several inputs, or nothing for those that have none. Unless a
    /// front can do better, each is asked as a question, and a form as several, until it is known
    /// whether the tool can go on.
    async fn provide(&self, request: &InputRequest<'_>) -> Vec<Option<Value>> {
        let mut answers = Vec::new();
        for input in request.inputs {
            let answer = match input {
                Input::Form(form) => ask_all(self, request, form).await,
                one => ask_one(self, request, &one.to_question()).await,
            };
            let is_last = answer.is_some() == request.any;
            answers.push(answer);
            if is_last {
                break;
            }
        }
        answers
    }
}

async fn ask_one<A: Asker + ?Sized>(
    asker: &A,
    request: &InputRequest<'_>,
    question: &Question,
) -> Option<Value> {
    let asked = AskRequest {
        call: request.call,
        tool: request.tool,
        question,
    };
    asker.ask(&asked).await
}

/// Asks the questions of a form one after the other. One with a default may have no answer.
async fn ask_all<A: Asker + ?Sized>(
    asker: &A,
    request: &InputRequest<'_>,
    form: &Form,
) -> Option<Value> {
    let mut answers = Map::new();
    for question in &form.questions {
        match ask_one(asker, request, question).await {
            Some(answer) => {
                answers.insert(question.id.clone(), answer);
            }
            None if question.default.is_some() => {}
            None => return None,
        }
    }
    (!answers.is_empty()).then_some(Value::Object(answers))
}

#[async_trait]
impl Asker for NobodyToAsk {
    async fn ask(&self, _: &AskRequest<'_>) -> Option<Value> {
        None
    }
}
