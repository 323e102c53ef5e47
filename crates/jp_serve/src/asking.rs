//! How what a tool asks reaches the person, the model and the places behind a client.
//!
//! Older revisions of the protocol let a server ask while a call waits. Since 2026-07-28 the call ends
//! with what is wanted, and is made again with the answers.

mod askable;
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
use serde_json::{Map, Value};

pub(crate) use askable::Askable;
use wire::Answered;

pub(crate) use wire::Wanted;

/// A person has this long to answer.
const PATIENCE: Duration = Duration::from_mins(10);

/// Asks the client while the call waits.
pub(crate) struct AskNow {
    peer: Peer<RoleServer>,
    askable: Askable,
}

/// Takes answers that came with the call, and notes what else is wanted, for the answer of a call that
/// ends with it.
pub(crate) struct AskLater {
    askable: Askable,
    /// What the client has answered, by the keys of the requests.
    answered: Map<String, Value>,
    noted: Arc<Mutex<Noted>>,
}

/// What came of asking.
#[derive(Debug, Default)]
pub(crate) struct Noted {
    /// What the client is to be asked.
    pub(crate) wanted: Vec<Wanted>,
    /// The answers of the client that were of use.
    pub(crate) used: Map<String, Value>,
    /// Whether the person said no.
    pub(crate) is_declined: bool,
    /// What the client would have to declare before it could be asked.
    pub(crate) missing: Option<ClientCapabilities>,
}

impl AskNow {
    pub(crate) fn new(peer: &Peer<RoleServer>, capabilities: Option<&ClientCapabilities>) -> Self {
        Self {
            peer: peer.clone(),
            askable: Askable::of(capabilities),
        }
    }

    /// Sends one request and waits for the client.
    async fn send(&self, wanted: &Wanted) -> Option<Answered> {
        let request: ServerRequest = serde_json::from_value(wanted.request.clone()).ok()?;
        let answer = tokio::time::timeout(PATIENCE, self.peer.send_request(request)).await;
        let answer: ClientResult = answer.ok()?.ok()?;
        Some(Answered::new(serde_json::to_value(&answer).ok()?))
    }
}

#[async_trait]
impl Asker for AskNow {
    async fn ask(&self, request: &AskRequest<'_>) -> Option<Value> {
        let input = Input::Question(request.question.clone());
        self.provide(&alone(request, &[&input]))
            .await
            .pop()
            .flatten()
    }

    async fn provide(&self, request: &InputRequest<'_>) -> Vec<Option<Value>> {
        let mut answers = vec![None; request.inputs.len()];
        let Ok(allowed) = self.askable.allowed(request) else {
            return answers;
        };
        for wanted in Wanted::all(request.tool, &allowed) {
            let Some(answered) = self.send(&wanted).await else {
                return answers;
            };
            for (input, answer) in request.inputs.iter().zip(&mut answers) {
                if wanted.is_for(input) {
                    *answer = answered.of(input);
                }
            }
        }
        answers
    }
}

impl AskLater {
    pub(crate) fn new(
        capabilities: Option<&ClientCapabilities>,
        answered: Map<String, Value>,
        noted: &Arc<Mutex<Noted>>,
    ) -> Self {
        Self {
            askable: Askable::of(capabilities),
            answered,
            noted: Arc::clone(noted),
        }
    }

    /// Looks for answers among those that came with the call. One that does not fit is none: what it
    /// should have answered is wanted again.
    fn look(&self, request: &InputRequest<'_>, noted: &mut Noted) -> Vec<Option<Value>> {
        let mut answers = vec![None; request.inputs.len()];
        let allowed = match self.askable.allowed(request) {
            Ok(allowed) => allowed,
            Err(missing) => {
                noted.missing = Some(missing);
                return answers;
            }
        };
        for wanted in Wanted::all(request.tool, &allowed) {
            let Some(answer) = self.answered.get(&wanted.key) else {
                noted.wanted.push(wanted);
                continue;
            };
            let answered = Answered::new(answer.clone());
            noted.is_declined |= answered.is_declined();
            let mut is_whole = true;
            for (input, answer) in request.inputs.iter().zip(&mut answers) {
                if wanted.is_for(input) {
                    *answer = answered.of(input).and_then(|found| input.check(found).ok());
                    is_whole &= answer.is_some();
                }
            }
            if is_whole {
                noted.used.insert(wanted.key, answer.clone());
            } else {
                noted.wanted.push(wanted);
            }
        }
        answers
    }
}

#[async_trait]
impl Asker for AskLater {
    async fn ask(&self, request: &AskRequest<'_>) -> Option<Value> {
        let input = Input::Question(request.question.clone());
        self.provide(&alone(request, &[&input]))
            .await
            .pop()
            .flatten()
    }

    async fn provide(&self, request: &InputRequest<'_>) -> Vec<Option<Value>> {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        noted.wanted.clear();
        self.look(request, &mut noted)
    }
}

/// Makes a request for one question.
const fn alone<'a>(request: &AskRequest<'a>, inputs: &'a [&'a Input]) -> InputRequest<'a> {
    InputRequest {
        call: request.call,
        tool: request.tool,
        inputs,
        any: false,
    }
}
