//! `tools/call`: one call of a tool on the host of the workspace.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jp_host::CallError;
use jp_llm::{Asker, Budget, Call, Caller, Events};
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, InputRequests, InputRequiredResult, NumberOrString,
    },
    service::RequestContext,
};
use serde_json::{Map, Value};

use crate::{
    asking::{Answered, AskLater, AskNow, Askable, Wanted},
    catalogue::Catalogue,
    content,
    handler::is_modern,
    progress::{Reporter, Wish},
    sealed::{Kept, Purpose},
    server::Shared,
};

/// What a person said no to.
const DECLINED: &str = "The person behind the client declined to answer what the tool asked.";

/// A call of a tool, as a client made it.
pub(crate) struct Request {
    params: CallToolRequestParams,
    context: RequestContext<RoleServer>,
    /// Whether the call ends when it needs input, instead of asking meanwhile.
    ends_with_questions: bool,
    log: Option<Wish>,
}

impl Request {
    pub(crate) fn new(
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
        log: Wish,
    ) -> Self {
        Self {
            params,
            ends_with_questions: is_modern(&context),
            context,
            log: Some(log),
        }
    }

    /// Makes the call.
    pub(crate) async fn run(mut self, shared: &Shared) -> Result<CallToolResponse, ErrorData> {
        let catalogue = shared.catalogue().map_err(|error| {
            ErrorData::internal_error(format!("the workspace cannot be opened: {error}"), None)
        })?;
        let name = self.params.name.clone();
        let Some(id) = catalogue.id(&name) else {
            return Err(unknown(&name));
        };
        let arguments = self.params.arguments.take().unwrap_or_default();
        let purpose = Purpose {
            principal: shared.principal(),
            tool: id,
            arguments: &arguments,
        };
        let kept = match self.answers(shared, &purpose) {
            Ok(Some(kept)) => kept,
            Ok(None) => return Ok(content::refusal(DECLINED).into()),
            Err(error) => return Err(error),
        };
        self.make(shared, &catalogue, id, &arguments, kept).await
    }

    /// Returns what the call has used and been told in earlier rounds; nothing when a person declined.
    fn answers(
        &mut self,
        shared: &Shared,
        purpose: &Purpose<'_>,
    ) -> Result<Option<Kept>, ErrorData> {
        let Some(seal) = self.params.request_state.take() else {
            return Ok(Some(Kept::default()));
        };
        let opened = shared.seals.open(&seal, purpose);
        let mut kept =
            opened.map_err(|refused| ErrorData::invalid_params(refused.to_string(), None))?;
        for (key, answer) in self.params.input_responses.take().unwrap_or_default() {
            let answered = Answered::new(answer);
            if answered.is_declined() {
                return Ok(None);
            }
            kept.answers.extend(answered.into_answers(&key));
        }
        Ok(Some(kept))
    }

    async fn make(
        mut self,
        shared: &Shared,
        catalogue: &Catalogue,
        id: &str,
        arguments: &Map<String, Value>,
        kept: Kept,
    ) -> Result<CallToolResponse, ErrorData> {
        let wanted: Arc<Mutex<Vec<Wanted>>> = Arc::default();
        let wish = self.log.take();
        let reporting = wish.and_then(|wish| Reporter::start(wish, id, &self.context.peer));
        let (events, reporter) = match reporting {
            Some((events, reporter)) => (Some(events as Arc<dyn Events>), Some(reporter)),
            None => (None, None),
        };
        let workspace = catalogue.workspace();
        let host = workspace.host().for_caller(Caller {
            asker: self.asker(&wanted),
            events,
            ..shared.caller()
        });
        let budget = Budget::default();
        budget.spend(Duration::from_millis(kept.time_ms), kept.fuel);
        let call = Call {
            id: request_id(&self.context.id),
            arguments: arguments.clone(),
            answers: kept.answers.clone(),
            cancel: self.context.ct.clone(),
            budget: budget.clone(),
            ..Call::default()
        };
        let executed = workspace.call(id, call, &host).await;
        drop(host);
        if let Some(reporter) = reporter {
            reporter.finish().await;
        }
        let executed = match executed {
            Ok(executed) => executed,
            Err(CallError::Server(error)) => return Ok(content::refusal(&error.to_string()).into()),
            Err(CallError::Tool(error)) => return content::failed(&error).map(Into::into),
        };
        let wanted = std::mem::take(&mut *wanted.lock().unwrap_or_else(PoisonError::into_inner));
        if !wanted.is_empty()
            && matches!(&executed.result, Ok(outcome) if outcome.needs_input().is_some())
        {
            let (time, fuel) = budget.used();
            let kept = Kept {
                answers: kept.answers,
                time_ms: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
                fuel,
            };
            let purpose = Purpose {
                principal: shared.principal(),
                tool: id,
                arguments,
            };
            return ask(shared, kept, &purpose, wanted);
        }
        content::answer(&executed).map(Into::into)
    }

    fn asker(&self, wanted: &Arc<Mutex<Vec<Wanted>>>) -> Arc<dyn Asker> {
        let askable = Askable::of(self.context.client_capabilities().as_ref());
        match self.ends_with_questions {
            true => Arc::new(AskLater {
                askable,
                wanted: Arc::clone(wanted),
            }),
            false => Arc::new(AskNow {
                askable,
                peer: self.context.peer.clone(),
            }),
        }
    }
}

/// Ends a call with what it needs.
fn ask(
    shared: &Shared,
    kept: Kept,
    purpose: &Purpose<'_>,
    wanted: Vec<Wanted>,
) -> Result<CallToolResponse, ErrorData> {
    let failed = |error: &dyn std::fmt::Display| ErrorData::internal_error(error.to_string(), None);
    let mut requests = InputRequests::new();
    for one in wanted {
        let request = serde_json::from_value(one.request).map_err(|error| failed(&error))?;
        requests.insert(one.key, request);
    }
    let seal = shared
        .seals
        .seal(kept, purpose)
        .map_err(|error| failed(&error))?;
    Ok(InputRequiredResult::new(Some(requests), Some(seal)).into())
}

fn unknown(name: &str) -> ErrorData {
    let name = jp_text::inline(name);
    ErrorData::invalid_params(
        format!("unknown tool: {name}; tools/list has the names"),
        None,
    )
}

fn request_id(id: &NumberOrString) -> String {
    jp_text::shorten(&id.to_string(), 200).into_owned()
}
