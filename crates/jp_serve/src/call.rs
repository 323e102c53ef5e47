//! `tools/call`: one call of a tool on the host of the workspace, in as many rounds as it has questions.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use jp_audit::OutcomeKind;
use jp_host::{CallError, approvals::RequestId};
use jp_llm::{Asker, Budget, Call, Caller, Events, Executed, TraceContext};
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, InputRequests,
        InputRequiredResult, NumberOrString,
    },
    service::RequestContext,
};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::{
    approving::{self, Asks},
    asking::{AskLater, AskNow, Askable, Noted, Wanted},
    catalogue::Catalogue,
    content,
    handler::is_modern,
    principal::Served,
    progress::{Reporter, Wish},
    queue::{Shift, Turn},
    sealed::{Kept, Purpose, Refused},
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
    pub(crate) shared: Served,
    pub(crate) catalogue: Arc<Catalogue>,
    /// The id of the tool.
    pub(crate) tool: String,
    arguments: Map<String, Value>,
    /// The client's id for the call.
    id: String,
    /// What the client declared that it can be asked for.
    client: Option<ClientCapabilities>,
    /// Its name, where the user trusts it to ask for approvals.
    asks_for_us: Option<String>,
    /// The trace that the client says the call belongs to.
    trace: TraceContext,
    pub(crate) cancel: CancellationToken,
    /// The place that the call has among those of all principals, over HTTP.
    pub(crate) shift: Shift,
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

/// One run of a tool through the pipeline.
struct Made {
    budget: Budget,
    /// The question that it ended with.
    question: Option<String>,
    answer: Result<CallToolResult, ErrorData>,
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
    pub(crate) async fn run(
        mut self,
        shared: &Served,
        catalogue: Arc<Catalogue>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = catalogue.id(&self.params.name) else {
            return Err(unknown(&self.params.name));
        };
        let capabilities = self.context.client_capabilities();
        let gone = self.context.ct.clone();
        let modern = is_modern(&self.context);
        let knows_tasks = modern && capabilities.as_ref().is_some_and(|it| it.supports_tasks());
        let parts = self.context.extensions.get::<http::request::Parts>();
        let turn = parts.and_then(|parts| parts.extensions.get::<Arc<Turn>>().cloned());
        let job = Arc::new(Job {
            tool: tool.to_owned(),
            shared: shared.clone(),
            catalogue: Arc::clone(&catalogue),
            arguments: self.params.arguments.take().unwrap_or_default(),
            id: request_id(&self.context.id),
            asks_for_us: trusted(&self.context, shared, &catalogue, capabilities.as_ref()),
            client: capabilities,
            trace: TraceContext::of(&self.context.meta.0.0),
            shift: Shift::new(turn.as_ref()),
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
        let kept = self.kept(&job).await?;
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
        let asker = Arc::new(AskNow::new(&self.context.peer, job.client.as_ref()));
        let (events, reporter) = split(Reporter::start(self.wish, &job.tool, &self.context.peer));
        let client = match &job.asks_for_us {
            Some(name) => approving::Client::Now {
                peer: self.context.peer.clone(),
                name: name.clone(),
            },
            None => approving::Client::Never,
        };
        let kept = Kept::default();
        let asks = job.asks(client, &kept, events.as_ref(), &Arc::default());
        let answer = job.make(&kept, (asker, asks), events).await.answer;
        if let Some(reporter) = reporter {
            reporter.finish().await;
        }
        answer.map(Into::into)
    }

    /// Returns what the call has used and been told: in earlier rounds, and with this one. Answers count
    /// without an earlier round too. They are the client's own words, and one that the tool does not ask
    /// for is never used.
    async fn kept(&mut self, job: &Arc<Job>) -> Result<Kept, ErrorData> {
        let mut kept = match self.params.request_state.take() {
            None => Kept::default(),
            Some(seal) => {
                let opening = Arc::clone(job);
                let open = move || opening.shared.seals.open(&seal, &opening.purpose());
                let opened = tokio::task::spawn_blocking(open).await;
                let opened = opened.unwrap_or(Err(Refused::Busy));
                opened.map_err(|refused| ErrorData::invalid_params(refused.to_string(), None))?
            }
        };
        let responses = self.params.input_responses.take();
        kept.answers.extend(responses.unwrap_or_default());
        Ok(kept)
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
        let noted: Arc<Mutex<Noted>> = Arc::default();
        let asker = AskLater::new(self.client.as_ref(), kept.answers.clone(), &noted);
        let approvals: Arc<Mutex<approving::Noted>> = Arc::default();
        let client = self.asked_later(&kept);
        let asks = self.asks(client, &kept, events.as_ref(), &approvals);
        let made = self.make(&kept, (Arc::new(asker), asks), events).await;
        let approvals =
            std::mem::take(&mut *approvals.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some((id, wanted)) = approvals.wanted {
            let asked = Some(id.to_string());
            return Round::Needs {
                kept: Kept { asked, ..kept },
                wanted: vec![wanted],
            };
        }
        let noted = std::mem::take(&mut *noted.lock().unwrap_or_else(PoisonError::into_inner));
        let Some(question) = made.question else {
            return Round::Answered(made.answer);
        };
        if let Some(missing) = noted.missing {
            return Round::Answered(Err(self.cannot_ask(&question, missing)));
        }
        if noted.is_declined {
            return Round::Answered(Ok(content::refusal(content::DECLINED)));
        }
        if noted.wanted.is_empty() {
            return Round::Answered(made.answer);
        }
        let (time, fuel) = made.budget.used();
        let kept = Kept {
            answers: noted.used,
            time_ms: crate::keep::millis(time),
            fuel,
            asked: None,
            approved: approvals.approved.or(kept.approved),
        };
        Round::Needs {
            kept,
            wanted: noted.wanted,
        }
    }

    /// Says how the client of a newer revision is asked for approvals. What it says counts only for what it
    /// was asked in an earlier round, which its sealed state names.
    fn asked_later(&self, kept: &Kept) -> approving::Client {
        let Some(name) = self.asks_for_us.clone() else {
            return approving::Client::Never;
        };
        let id: Option<RequestId> = kept.asked.as_deref().and_then(|id| id.parse().ok());
        let said = id.and_then(|id| {
            let said = kept.answers.get(&approving::key(&id))?;
            Some((id, said.clone()))
        });
        approving::Client::Later { name, said }
    }

    fn asks(
        &self,
        client: approving::Client,
        kept: &Kept,
        events: Option<&Arc<dyn Events>>,
        noted: &Arc<Mutex<approving::Noted>>,
    ) -> Asks {
        let here = self.catalogue.workspace().approvals();
        let call = (self.id.as_str(), events.cloned());
        let before = kept.approved.clone();
        Asks::new((&self.shared, here), client, call, before, noted)
    }

    /// Says what a client must declare before a tool can be called that has something to ask.
    fn cannot_ask(&self, question: &str, missing: ClientCapabilities) -> ErrorData {
        let mut error = ErrorData::missing_required_client_capability(missing);
        let (tool, question) = (&self.tool, jp_text::shorten(question, 500));
        error.message = format!(
            "the tool `{tool}` has a question that the client did not declare it can be asked: {question}"
        )
        .into();
        error
    }

    async fn make(
        &self,
        kept: &Kept,
        (asker, approver): (Arc<dyn Asker>, Asks),
        events: Option<Arc<dyn Events>>,
    ) -> Made {
        let workspace = self.catalogue.workspace();
        let kept_as = &workspace.loaded().config.serve.results;
        let host = workspace.host().for_caller(Caller {
            asker,
            approver: Arc::new(approver),
            events,
            ..self.shared.caller()
        });
        let budget = Budget::default();
        budget.spend(Duration::from_millis(kept.time_ms), kept.fuel);
        let call = Call {
            id: self.id.clone(),
            arguments: self.arguments.clone(),
            cancel: self.cancel.clone(),
            budget: budget.clone(),
            trace: self.trace.clone(),
            ..Call::default()
        };
        let mut question = None;
        let (workspace, tool) = (Arc::clone(workspace), self.tool.clone());
        let called = Box::pin(async move {
            let started = Instant::now();
            let called = workspace.call(&tool, call, &host).await;
            (called, started.elapsed())
        });
        let Some((called, took)) = self.shared.aside.run(called).await else {
            return Made {
                budget,
                question: None,
                answer: Err(tasks::broken()),
            };
        };
        self.shared
            .metrics
            .called(&self.tool, outcome_of(&called), took);
        let answer = match called {
            Ok(executed) => {
                let outcome = executed.result.as_ref().ok();
                let asked = outcome.and_then(|outcome| outcome.needs_input());
                question = asked.map(|asked| asked.text.clone());
                match content::answer(executed) {
                    Ok(answer) => Ok(spill::keep_large(&self.shared, kept_as, answer).await),
                    Err(error) => Err(error),
                }
            }
            Err(CallError::Server(error)) => Ok(content::refusal(&error.to_string())),
            Err(CallError::Tool(error)) => content::failed(&error),
        };
        Made {
            budget,
            question,
            answer,
        }
    }

    /// Ends a call with what it needs.
    fn ask(&self, kept: Kept, wanted: Vec<Wanted>) -> Result<CallToolResponse, ErrorData> {
        let requests = requests(wanted)?;
        let seal = self.shared.seals.seal(kept, &self.purpose());
        let seal = seal.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(InputRequiredResult::new(Some(requests), Some(seal)).into())
    }
}

/// Returns how a call ended, in the words of the audit log.
fn outcome_of(called: &Result<Executed, CallError>) -> OutcomeKind {
    match called {
        Ok(executed) => executed.kind(),
        Err(CallError::Tool(error)) => error.verdict().outcome,
        Err(CallError::Server(_)) => OutcomeKind::HostFailure,
    }
}

/// Returns what is wanted as the protocol says it.
pub(crate) fn requests(wanted: Vec<Wanted>) -> Result<InputRequests, ErrorData> {
    let request = |one: Wanted| Ok((one.key, serde_json::from_value(one.request)?));
    let requests: Result<InputRequests, serde_json::Error> =
        wanted.into_iter().map(request).collect();
    requests.map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// Returns the name of a client that the user trusts to ask for approvals, and that can show forms. It is
/// the user's own: what others say of their clients counts for nothing.
fn trusted(
    context: &RequestContext<RoleServer>,
    served: &Served,
    catalogue: &Catalogue,
    capabilities: Option<&ClientCapabilities>,
) -> Option<String> {
    let name = context.client_info()?.name.clone();
    let trusted = &catalogue.workspace().loaded().config.serve.trust_prompts;
    let is_trusted =
        served.who().is_user() && trusted.contains(&name) && Askable::of(capabilities).questions();
    is_trusted.then_some(name)
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
