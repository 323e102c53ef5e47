//! `tools/call`: one call of a tool on the host of the workspace, in as many rounds as it has questions.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jp_host::CallError;
use jp_llm::{Asker, Budget, Call, Caller, Events};
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, InputRequests,
        InputRequiredResult, NumberOrString,
    },
    service::RequestContext,
};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::{
    asking::{Answered, AskLater, AskNow, Askable, Wanted},
    catalogue::Catalogue,
    content,
    handler::is_modern,
    progress::{Reporter, Wish},
    sealed::{Kept, Purpose, Refused},
    server::Shared,
    spill, tasks,
};

/// A call of a tool, as a client made it.
pub(crate) struct Request {
    params: CallToolRequestParams,
    context: RequestContext<RoleServer>,
    wish: Wish,
}

/// A call that can be made: which tool of which state of the workspace, and with what.
pub(crate) struct Job {
    pub(crate) shared: Arc<Shared>,
    pub(crate) catalogue: Arc<Catalogue>,
    /// The id of the tool.
    pub(crate) tool: String,
    arguments: Map<String, Value>,
    /// The client's id for the call.
    id: String,
    pub(crate) askable: Askable,
    pub(crate) cancel: CancellationToken,
}

/// How one round of a call ended.
pub(crate) enum Round {
    /// With what the client is told.
    Answered(Result<CallToolResult, ErrorData>),
    /// With what the tool must know.
    Needs {
        /// What it has used and been told so far.
        kept: Kept,
        /// What it must know.
        wanted: Vec<Wanted>,
    },
}

impl Request {
    pub(crate) const fn new(
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
        wish: Wish,
    ) -> Self {
        Self {
            params,
            context,
            wish,
        }
    }

    /// Makes the call.
    pub(crate) async fn run(mut self, shared: &Arc<Shared>) -> Result<CallToolResponse, ErrorData> {
        let catalogue = shared.listed()?;
        let Some(tool) = catalogue.id(&self.params.name) else {
            return Err(unknown(&self.params.name));
        };
        let capabilities = self.context.client_capabilities();
        let gone = self.context.ct.clone();
        let modern = is_modern(&self.context);
        let knows_tasks = modern && capabilities.as_ref().is_some_and(|it| it.supports_tasks());
        let job = Arc::new(Job {
            tool: tool.to_owned(),
            shared: Arc::clone(shared),
            catalogue: Arc::clone(&catalogue),
            arguments: self.params.arguments.take().unwrap_or_default(),
            id: request_id(&self.context.id),
            askable: Askable::of(capabilities.as_ref()),
            // A task goes on when its request is over.
            cancel: if knows_tasks {
                CancellationToken::new()
            } else {
                gone.child_token()
            },
        });
        if !modern {
            return self.while_it_waits(&job).await;
        }
        let Some(kept) = self.answers(&job).await? else {
            return Ok(content::refusal(content::DECLINED).into());
        };
        let reporting = Reporter::start(self.wish, &job.tool, &self.context.peer);
        let (events, reporter) = split(reporting);
        let client = tasks::Client { knows_tasks, gone };
        let round = tasks::first_round(&job, kept, events, client).await?;
        if let Some(reporter) = reporter {
            reporter.finish().await;
        }
        match round {
            tasks::First::Ended(Round::Answered(answer)) => answer.map(Into::into),
            tasks::First::Ended(Round::Needs { kept, wanted }) => job.ask(kept, wanted),
            tasks::First::Task(task) => Ok(task.into()),
        }
    }

    /// Makes the call of an older client, which is asked while the call waits.
    async fn while_it_waits(self, job: &Job) -> Result<CallToolResponse, ErrorData> {
        let asker = Arc::new(AskNow {
            askable: job.askable,
            peer: self.context.peer.clone(),
        });
        let (events, reporter) = split(Reporter::start(self.wish, &job.tool, &self.context.peer));
        let answer = job.make(&Kept::default(), asker, events).await.1;
        if let Some(reporter) = reporter {
            reporter.finish().await;
        }
        answer.map(Into::into)
    }

    /// Returns what the call has used and been told in earlier rounds; nothing when a person declined.
    async fn answers(&mut self, job: &Arc<Job>) -> Result<Option<Kept>, ErrorData> {
        let Some(seal) = self.params.request_state.take() else {
            return Ok(Some(Kept::default()));
        };
        let opening = Arc::clone(job);
        let open = move || opening.shared.seals.open(&seal, &opening.purpose());
        let opened = tokio::task::spawn_blocking(open).await;
        let mut kept = opened
            .unwrap_or(Err(Refused::Busy))
            .map_err(|refused| ErrorData::invalid_params(refused.to_string(), None))?;
        for (key, answer) in self.params.input_responses.take().unwrap_or_default() {
            let answered = Answered::new(answer);
            if answered.is_declined() {
                return Ok(None);
            }
            kept.answers.extend(answered.into_answers(&key));
        }
        Ok(Some(kept))
    }
}

type Reporting = Option<(Arc<crate::progress::Reports>, Reporter)>;

fn split(reporting: Reporting) -> (Option<Arc<dyn Events>>, Option<Reporter>) {
    match reporting {
        Some((events, reporter)) => (Some(events), Some(reporter)),
        None => (None, None),
    }
}

impl Job {
    fn purpose(&self) -> Purpose<'_> {
        Purpose {
            principal: self.shared.principal(),
            tool: &self.tool,
            arguments: &self.arguments,
        }
    }

    /// Runs the tool until it has answered, or must know something.
    pub(crate) async fn round(&self, kept: Kept, events: Option<Arc<dyn Events>>) -> Round {
        let wanted: Arc<Mutex<Vec<Wanted>>> = Arc::default();
        let asker = Arc::new(AskLater {
            askable: self.askable,
            wanted: Arc::clone(&wanted),
        });
        let (budget, answer) = self.make(&kept, asker, events).await;
        let wanted = std::mem::take(&mut *wanted.lock().unwrap_or_else(PoisonError::into_inner));
        if wanted.is_empty() {
            return Round::Answered(answer);
        }
        let (time, fuel) = budget.used();
        let kept = Kept {
            answers: kept.answers,
            time_ms: crate::keep::millis(time),
            fuel,
        };
        Round::Needs { kept, wanted }
    }

    async fn make(
        &self,
        kept: &Kept,
        asker: Arc<dyn Asker>,
        events: Option<Arc<dyn Events>>,
    ) -> (Budget, Result<CallToolResult, ErrorData>) {
        let workspace = self.catalogue.workspace();
        let host = workspace.host().for_caller(Caller {
            asker,
            events,
            ..self.shared.caller()
        });
        let budget = Budget::default();
        budget.spend(Duration::from_millis(kept.time_ms), kept.fuel);
        let call = Call {
            id: self.id.clone(),
            arguments: self.arguments.clone(),
            answers: kept.answers.clone(),
            cancel: self.cancel.clone(),
            budget: budget.clone(),
            ..Call::default()
        };
        let answer = match workspace.call(&self.tool, call, &host).await {
            Ok(executed) => match content::answer(executed) {
                Ok(answer) => Ok(spill::keep_large(&self.shared, answer).await),
                Err(error) => Err(error),
            },
            Err(CallError::Server(error)) => Ok(content::refusal(&error.to_string())),
            Err(CallError::Tool(error)) => content::failed(&error),
        };
        (budget, answer)
    }

    /// Ends a call with what it needs.
    fn ask(&self, kept: Kept, wanted: Vec<Wanted>) -> Result<CallToolResponse, ErrorData> {
        let requests = requests(wanted)?;
        let seal = self.shared.seals.seal(kept, &self.purpose());
        let seal = seal.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(InputRequiredResult::new(Some(requests), Some(seal)).into())
    }
}

/// Returns what is wanted as the protocol says it.
pub(crate) fn requests(wanted: Vec<Wanted>) -> Result<InputRequests, ErrorData> {
    let request = |one: Wanted| Ok((one.key, serde_json::from_value(one.request)?));
    let requests: Result<InputRequests, serde_json::Error> =
        wanted.into_iter().map(request).collect();
    requests.map_err(|error| ErrorData::internal_error(error.to_string(), None))
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
