//! How what a tool asks reaches the person, the model and the places behind a client.
//!
//! Older revisions of the protocol let a server ask while a call waits. Since 2026-07-28 the call ends
//! with what is wanted, and is made again with the answers.

mod wire;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use jp_llm::{AskRequest, Asker, InputRequest};
use jp_tool::Input;
use rmcp::{
    Peer, RoleServer,
    model::{ClientCapabilities, ClientResult, ServerRequest},
};
use serde_json::Value;

pub(crate) use wire::{Answered, Wanted};

/// A person has this long to answer.
const PATIENCE: Duration = Duration::from_mins(10);

/// What a client can be asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Askable {
    pub(crate) questions: bool,
    pub(crate) samples: bool,
    pub(crate) roots: bool,
}

impl Askable {
    pub(crate) fn of(capabilities: Option<&ClientCapabilities>) -> Self {
        let Some(capabilities) = capabilities else {
            return Self::default();
        };
        Self {
            questions: capabilities.elicitation.is_some(),
            samples: capabilities.sampling.is_some(),
            roots: capabilities.roots.is_some(),
        }
    }

    fn allows(self, input: &Input) -> bool {
        match input {
            Input::Question(_) => self.questions,
            Input::Sample(_) => self.samples,
            Input::Roots { .. } => self.roots,
        }
    }
}

/// Asks the client while the call waits.
pub(crate) struct AskNow {
    pub(crate) peer: Peer<RoleServer>,
    pub(crate) askable: Askable,
}

/// Notes what is wanted, for the answer of a call that ends with it.
pub(crate) struct AskLater {
    pub(crate) askable: Askable,
    pub(crate) wanted: Arc<Mutex<Vec<Wanted>>>,
}

#[async_trait]
impl Asker for AskNow {
    async fn ask(&self, request: &AskRequest<'_>) -> Option<Value> {
        let input = Input::Question(request.question.clone());
        let one = InputRequest {
            call: request.call,
            tool: request.tool,
            inputs: &[&input],
        };
        self.provide(&one).await.pop().flatten()
    }

    async fn provide(&self, request: &InputRequest<'_>) -> Vec<Option<Value>> {
        let mut answers = vec![None; request.inputs.len()];
        if !request
            .inputs
            .iter()
            .all(|input| self.askable.allows(input))
        {
            return answers;
        }
        for wanted in Wanted::all(request.inputs) {
            let Some(answered) = self.send(&wanted).await else {
                return answers;
            };
            for (input, answer) in request.inputs.iter().zip(&mut answers) {
                if answer.is_none() {
                    *answer = answered.of(input);
                }
            }
        }
        answers
    }
}

impl AskNow {
    /// Sends one request and waits for the client.
    async fn send(&self, wanted: &Wanted) -> Option<Answered> {
        let request: ServerRequest = serde_json::from_value(wanted.request.clone()).ok()?;
        let answer = tokio::time::timeout(PATIENCE, self.peer.send_request(request)).await;
        let answer: ClientResult = answer.ok()?.ok()?;
        Some(Answered::new(serde_json::to_value(&answer).ok()?))
    }
}

#[async_trait]
impl Asker for AskLater {
    async fn ask(&self, request: &AskRequest<'_>) -> Option<Value> {
        let input = Input::Question(request.question.clone());
        self.note(&[&input]);
        None
    }

    async fn provide(&self, request: &InputRequest<'_>) -> Vec<Option<Value>> {
        self.note(request.inputs);
        Vec::new()
    }
}

impl AskLater {
    fn note(&self, inputs: &[&Input]) {
        if inputs.iter().all(|input| self.askable.allows(input)) {
            let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
            *wanted = Wanted::all(inputs);
        }
    }
}
