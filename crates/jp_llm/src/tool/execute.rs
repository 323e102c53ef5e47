//! The pipeline itself, step by step as design and audit name them.

mod check;
mod consent;
mod delivery;
mod grant;
mod known;
mod propose;
mod rounds;

use std::{
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Instant,
};

use jp_audit::{Decision, Waiting};
use jp_config::tool::{ResultMode, RunMode};
use jp_policy::Grant;
use jp_tool::{Outcome, ToolStatus};
use serde_json::{Map, Value};

use super::{
    Call, Details, Executed, ExecutionOutcome, HostError, Misconfigured, Placed, PreparedTool,
    ToolError, record, word,
};
use crate::{Digest, Host, Known, runtime::Memory};
use consent::Consent;
pub(crate) use grant::Granted;
pub(super) use grant::KnownGrants;
pub use grant::{Said, Side, Weighed, Why};

/// As many characters of a text go into a message.
const MOST: usize = 2000;

/// What a step that ends the call early says.
type Early = Result<ExecutionOutcome, ToolError>;

/// A call on its way through the pipeline: the one value that its steps hand on.
pub struct Pass<'a> {
    /// The tool.
    pub tool: &'a PreparedTool,
    /// The host.
    pub host: &'a Host,
    /// The call.
    pub call: Call,
    /// Its arguments, once they were checked.
    pub arguments: Map<String, Value>,
    /// The same, as the JSON text that is hashed for the audit record; what was refused is in it too.
    pub arguments_json: String,
    /// The chosen files that the arguments name.
    pub(crate) files: Vec<Placed>,
    pub(crate) decision: Decision,
    /// Who decided, and how, where a person did.
    pub(crate) decided_by: Option<String>,
    /// The chosen files, as decisions count them.
    chosen_files: Vec<String>,
    /// What the tool was when this call first looked: its digest, and the hash of its Wasm file.
    seen: OnceLock<(Digest, Option<Arc<str>>)>,
    /// The hash of the Wasm file that a person was shown, now or before: no other one runs.
    held_to: Option<Arc<str>>,
    details: Details,
    /// The record of a capability call that was the call's last act, and goes before its own.
    pub(crate) unwritten: Arc<Mutex<Option<Waiting>>>,
}

/// What a call of a tool would get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// What it would be allowed.
    pub grant: Grant,
    /// Who would decide that it runs.
    pub run: RunMode,
    /// How much memory it may use, and who is counted.
    pub memory: Memory,
    /// What the user decided before about such calls, as far as that was read.
    pub known: Known,
}

/// Arguments that do not fit their tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{told}")]
pub struct InvalidCall {
    /// What the model would be told about them.
    pub told: String,
}

impl PreparedTool {
    /// Says what a call would get, without making one.
    ///
    /// # Errors
    ///
    /// When the call would be denied.
    pub fn preview(&self, host: &Host) -> Result<Preview, ToolError> {
        let mut pass = Pass::new(self, Call::default(), host);
        let Granted { grant, .. } = pass.compose()?;
        Ok(pass.preview(&grant))
    }

    /// Says what this very call would get, without making it: its arguments are checked and its grant is
    /// composed as if it were made. The inner error is what the model would see.
    ///
    /// # Errors
    ///
    /// When the call would be denied, or the tool's schema is invalid.
    pub fn preview_call(
        &self,
        call: Call,
        host: &Host,
    ) -> Result<Result<Preview, InvalidCall>, ToolError> {
        let mut pass = Pass::new(self, call, host);
        let sent = std::mem::take(&mut pass.call.arguments);
        match pass.check_arguments(sent) {
            Ok(()) => {}
            Err(Ok(told)) => {
                let told = told.into_response().unwrap_or_else(|text| text);
                return Ok(Err(InvalidCall { told }));
            }
            Err(Err(error)) => return Err(error),
        }
        let Granted { grant, .. } = pass.compose()?;
        Ok(Ok(pass.preview(&grant)))
    }

    /// Runs the tool and returns all that is known about the call.
    pub async fn execute_detailed(&self, call: Call, host: &Host) -> Executed {
        let mut unwritten = Unwritten {
            pass: Pass::new(self, call, host),
            started: Instant::now(),
            is_written: false,
        };
        let result = unwritten.pass.run().await;
        unwritten.write(result)
    }
}

/// A call that has no record yet. It gets one also when its future is dropped or panics.
struct Unwritten<'a> {
    pass: Pass<'a>,
    started: Instant,
    is_written: bool,
}

impl Unwritten<'_> {
    fn write(&mut self, result: Early) -> Executed {
        self.is_written = true;
        let pass = &mut self.pass;
        let mut details = std::mem::take(&mut pass.details);
        details.duration = self.started.elapsed();
        details.decision = Some(pass.decision);
        let mut executed = Executed { result, details };
        let waiting = pass
            .unwritten
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        match record::write(pass, waiting.as_ref(), &executed) {
            Ok(number) => executed.details.record = number,
            // A call without a record did not happen, as far as its caller may know.
            Err(error) => executed.result = Err(error),
        }
        executed
    }
}

impl Drop for Unwritten<'_> {
    fn drop(&mut self) {
        if self.is_written {
            return;
        }
        let result = if std::thread::panicking() {
            Err(ToolError::new(&*self.pass.tool.name, HostError::Panicked))
        } else {
            Ok(self.pass.cancelled())
        };
        // No caller is left who could be told that the record was not written.
        drop(self.write(result));
    }
}

impl<'a> Pass<'a> {
    fn new(tool: &'a PreparedTool, call: Call, host: &'a Host) -> Self {
        Self {
            tool,
            host,
            call,
            arguments: Map::new(),
            arguments_json: String::new(),
            files: Vec::new(),
            decision: Decision::Undecided,
            decided_by: None,
            chosen_files: Vec::new(),
            seen: OnceLock::new(),
            held_to: None,
            details: Details::default(),
            unwritten: Arc::default(),
        }
    }
}

impl Pass<'_> {
    fn preview(&self, grant: &Grant) -> Preview {
        Preview {
            known: self.decided_before(grant),
            run: self.run_mode(grant),
            memory: self.tool.memory(grant, self.host),
            grant: grant.clone(),
        }
    }

    async fn run(&mut self) -> Early {
        let name = &*self.tool.name;
        if !self.tool.is_enabled() {
            let error = ToolError::new(name, Misconfigured::Disabled);
            return Err(error.with_hint("set `enable = true` for the tool"));
        }
        if !self.tool.is_offered(self.host) {
            let hint = "ask for it by its name: `--tool";
            let error = ToolError::new(name, Misconfigured::NotOffered);
            return Err(error.with_hint(format!("{hint} {}`", word(name))));
        }
        self.report("validate");
        // A file that cannot say what it is cannot run either; running it says why, after the decision.
        let _ = self.tool.described(self.host).await;
        let sent = std::mem::take(&mut self.call.arguments);
        if let Err(early) = self.check_arguments(sent) {
            return early;
        }
        self.look_up().await?;
        let mut granted = match self.compose() {
            Ok(granted) => granted,
            Err(denied) => return Err(self.propose(denied).await),
        };
        self.details.grant = Arc::clone(&granted.words);
        let consent = self.approve(&granted).await?;
        self.details.decided_by.clone_from(&self.decided_by);
        match consent {
            Consent::Run => {}
            Consent::RunWith(edited) => match self.check_arguments(edited) {
                Ok(()) => {
                    // The person may name another of the files they chose.
                    granted = self.compose()?;
                    self.details.grant = Arc::clone(&granted.words);
                }
                Err(early) => return early,
            },
            Consent::Skip(text) => return Ok(self.completed(Ok(text))),
            Consent::Cancelled => return Ok(self.cancelled()),
        }
        self.report(self.tool.runtime.first_phase());
        let outcome = self.rounds(&granted).await;
        self.report("complete");
        outcome
    }

    /// Step 7 and 8: what the model is told.
    async fn finished(&mut self, outcome: Outcome) -> Early {
        if let Outcome::Success { content } = &outcome
            && self.call.action.is_run()
        {
            self.check_result(content)?;
        }
        let result = match outcome {
            Outcome::Success { .. }
                if self.tool.result == ResultMode::Skip && self.call.action.is_run() =>
            {
                return Ok(self.withheld("Result delivery skipped by configuration.".to_owned()));
            }
            Outcome::Success { content } => Ok(content),
            Outcome::Error { message, trace, .. } if trace.is_empty() => Err(message),
            Outcome::Error { message, trace, .. } => {
                Err(format!("{message}\n\nTrace:\n{}", trace.join("\n")))
            }
            Outcome::NeedsInput { question } => Err(format!(
                "the tool asked a question while formatting its arguments: {}",
                jp_text::shorten_and_count(&question.text, MOST)
            )),
        };
        self.deliver(result).await
    }

    fn completed(&self, result: Result<String, String>) -> ExecutionOutcome {
        ExecutionOutcome::Completed {
            id: self.call.id.clone(),
            result,
        }
    }

    fn cancelled(&self) -> ExecutionOutcome {
        ExecutionOutcome::Cancelled {
            id: self.call.id.clone(),
        }
    }

    fn report(&self, phase: &str) {
        if let Some(events) = &self.host.caller().events {
            events.report(&self.call.id, &self.tool.name, ToolStatus::phase(phase));
        }
    }
}
