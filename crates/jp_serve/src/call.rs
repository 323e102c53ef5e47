//! `tools/call`: one call of a tool on the host of the workspace.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jp_host::CallError;
use jp_llm::{Asker, Budget, Call, Caller, Events};
use jp_tool::Question;
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, ClientCapabilities, InputRequests,
        InputRequiredResult, NumberOrString,
    },
    service::RequestContext,
};

use crate::{
    asking::{AskLater, AskNow, Noted, Wanted},
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
        let kept = self.kept(shared, &purpose)?;
        self.make(shared, &catalogue, &purpose, kept).await
    }

    /// Returns what the call has used and been told: in earlier rounds, and with this one. Answers count
    /// without an earlier round too. They are the client's own words, and one that the tool does not ask
    /// for is never used.
    fn kept(&mut self, shared: &Shared, purpose: &Purpose<'_>) -> Result<Kept, ErrorData> {
        let mut kept = match self.params.request_state.take() {
            None => Kept::default(),
            Some(seal) => {
                let opened = shared.seals.open(&seal, purpose);
                opened.map_err(|refused| ErrorData::invalid_params(refused.to_string(), None))?
            }
        };
        kept.answers
            .extend(self.params.input_responses.take().unwrap_or_default());
        Ok(kept)
    }

    async fn make(
        mut self,
        shared: &Shared,
        catalogue: &Catalogue,
        purpose: &Purpose<'_>,
        kept: Kept,
    ) -> Result<CallToolResponse, ErrorData> {
        let noted: Arc<Mutex<Noted>> = Arc::default();
        let wish = self.log.take();
        let reporting =
            wish.and_then(|wish| Reporter::start(wish, purpose.tool, &self.context.peer));
        let (events, reporter) = match reporting {
            Some((events, reporter)) => (Some(events as Arc<dyn Events>), Some(reporter)),
            None => (None, None),
        };
        let workspace = catalogue.workspace();
        let host = workspace.host().for_caller(Caller {
            asker: self.asker(&kept, &noted),
            events,
            ..shared.caller()
        });
        let budget = Budget::default();
        budget.spend(Duration::from_millis(kept.time_ms), kept.fuel);
        let call = Call {
            id: request_id(&self.context.id),
            arguments: purpose.arguments.clone(),
            cancel: self.context.ct.clone(),
            budget: budget.clone(),
            ..Call::default()
        };
        let executed = workspace.call(purpose.tool, call, &host).await;
        drop(host);
        if let Some(reporter) = reporter {
            reporter.finish().await;
        }
        let executed = match executed {
            Ok(executed) => executed,
            Err(CallError::Server(error)) => return Ok(content::refusal(&error.to_string()).into()),
            Err(CallError::Tool(error)) => return content::failed(&error).map(Into::into),
        };
        let noted = std::mem::take(&mut *noted.lock().unwrap_or_else(PoisonError::into_inner));
        if let Ok(outcome) = &executed.result
            && let Some(question) = outcome.needs_input()
            && let Some(ended) = with_question(shared, purpose, question, noted, &budget)
        {
            return ended;
        }
        content::answer(&executed).map(Into::into)
    }

    fn asker(&self, kept: &Kept, noted: &Arc<Mutex<Noted>>) -> Arc<dyn Asker> {
        let capabilities = self.context.client_capabilities();
        let capabilities = capabilities.as_ref();
        match self.ends_with_questions {
            true => Arc::new(AskLater::new(capabilities, kept.answers.clone(), noted)),
            false => Arc::new(AskNow::new(&self.context.peer, capabilities)),
        }
    }
}

/// Ends a call of a tool that has a question, unless there is nothing but the question to tell.
fn with_question(
    shared: &Shared,
    purpose: &Purpose<'_>,
    question: &Question,
    noted: Noted,
    budget: &Budget,
) -> Option<Result<CallToolResponse, ErrorData>> {
    if let Some(missing) = noted.missing {
        return Some(Err(cannot_ask(purpose.tool, &question.text, missing)));
    }
    if noted.is_declined {
        return Some(Ok(content::refusal(DECLINED).into()));
    }
    if noted.wanted.is_empty() {
        return None;
    }
    let (time, fuel) = budget.used();
    let kept = Kept {
        answers: noted.used,
        time_ms: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
        fuel,
    };
    Some(ask(shared, kept, purpose, noted.wanted))
}

/// Says what a client must declare before a tool can be called that has something to ask.
fn cannot_ask(tool: &str, question: &str, missing: ClientCapabilities) -> ErrorData {
    let mut error = ErrorData::missing_required_client_capability(missing);
    let question = jp_text::shorten(question, 500);
    error.message = format!(
        "the tool `{tool}` has a question that the client did not declare it can be asked: {question}"
    )
    .into();
    error
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
