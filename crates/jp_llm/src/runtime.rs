//! How the body of a tool runs. One implementation per runtime; nothing else matches on the kind.

mod bash;
mod command;
pub mod mcp;
mod memory;
mod native;
mod unavailable;

use std::{ops::Deref, sync::Arc};

use async_trait::async_trait;
use jp_config::tool::ToolSource;
use jp_policy::{Grant, Limit, Limits, Request};
use jp_tool::{Answer, Beside, DescribedTool, Outcome, ToolStatus};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::{
    Host, ToolDefinition, ToolError,
    tool::{Cause, Granted, Pass, Printed, Stop},
};

pub use bash::BashRuntime;
pub use command::{CommandRuntime, TemplateError};
pub use jp_confine::Ended;
pub use memory::{Memory, MemoryOf};
pub use native::{Manual, NativeRuntime};
pub use unavailable::UnavailableRuntime;

/// One run of a tool: the call on its way, with what it was granted and what is left to it.
pub struct Invocation<'a> {
    /// The call on its way.
    pub pass: &'a Pass<'a>,
    pub(crate) granted: &'a Granted,
    /// Answers to earlier questions, each checked.
    pub answers: &'a Map<String, Value>,
    /// What is left of its limits.
    pub left: &'a Limits,
}

/// Tool, call, arguments and host are those of the call on its way.
impl<'a> Deref for Invocation<'a> {
    type Target = Pass<'a>;

    fn deref(&self) -> &Pass<'a> {
        self.pass
    }
}

impl Invocation<'_> {
    /// Returns what the call may do.
    #[must_use]
    pub const fn grant(&self) -> &Arc<Grant> {
        &self.granted.grant
    }

    /// Returns the token that stops the call.
    #[must_use]
    pub fn cancel(&self) -> CancellationToken {
        self.call.cancel.clone()
    }

    /// Reports what the call is doing, if anybody listens.
    pub fn report(&self, status: impl FnOnce() -> ToolStatus) {
        if let Some(events) = &self.host.caller().events {
            events.report(&self.call.id, &self.tool.name, status());
        }
    }

    /// Makes the error of its tool.
    pub fn error(&self, cause: impl Into<Cause>) -> ToolError {
        ToolError::new(&*self.tool.name, cause)
    }

    /// Makes the error of a limit that was reached.
    #[must_use]
    pub fn limit_reached(&self, limit: Limit, printed: Printed) -> ToolError {
        limit_reached(self.tool, limit, self.grant().limits(), printed)
    }
}

/// Makes the error of a limit that was reached.
pub(crate) fn limit_reached(
    tool: &ToolDefinition,
    limit: Limit,
    limits: &Limits,
    printed: Printed,
) -> ToolError {
    let allowed = match limit {
        Limit::Memory => format!("{} bytes", limits.memory_bytes),
        Limit::Time => format!("{} ms", limits.time.as_millis()),
        Limit::Fuel => limits
            .fuel
            .map_or_else(|| "none".to_owned(), |fuel| fuel.to_string()),
        Limit::Output => format!("{} bytes", limits.output_bytes),
        Limit::OpenFiles => limits.open_files.to_string(),
    };
    stopped_at(tool, (limit, allowed), printed)
}

/// Makes the error of a limit that was reached, which allowed so much.
pub(crate) fn stopped_at(
    tool: &ToolDefinition,
    (limit, allowed): (Limit, String),
    printed: Printed,
) -> ToolError {
    let hint = (limit != Limit::OpenFiles).then(|| {
        // A tool that needs no entry has perhaps none yet.
        let entry = match &tool.source {
            source @ (ToolSource::Builtin { .. } | ToolSource::Registry { .. }) => {
                format!(", with `source = \"{source}\"`")
            }
            _ => String::new(),
        };
        let (key, name) = (limit.key(), &tool.name);
        format!("raise it with `limits.{key}` under `[conversation.tools.{name}]`{entry}")
    });
    let stop = Stop::LimitReached {
        limit,
        allowed,
        printed,
    };
    ToolError::new(&*tool.name, stop).with_hint_of(hint)
}

/// Turns what a script printed into what a model sees: a status other than 0 is a failure that the tool reports.
fn script_outcome(stdout: &str, stderr: &str, exit_code: i32, trace: Vec<String>) -> Outcome {
    let content =
        serde_json::json!({"stdout": stdout, "stderr": stderr, "exit_code": exit_code}).to_string();
    if exit_code == 0 {
        return Outcome::Success { content };
    }
    Outcome::Error {
        message: content,
        trace,
        transient: false,
    }
}

/// Why a run ended without an outcome.
#[derive(Debug)]
pub enum Stopped {
    /// The caller wanted it to stop.
    Cancelled,
    /// Something else.
    Failed(ToolError),
}

impl From<ToolError> for Stopped {
    fn from(error: ToolError) -> Self {
        Self::Failed(error)
    }
}

/// What one run of a tool left behind.
#[derive(Debug)]
pub struct Run {
    /// What the tool said, or why it said nothing.
    pub result: Result<Outcome, Stopped>,
    /// What it said beside that.
    pub beside: Beside,
    /// What it printed to standard output.
    pub stdout: Vec<u8>,
    /// What it printed to standard error.
    pub stderr: Vec<u8>,
    /// The fuel it used, where that is counted.
    pub fuel: Option<u64>,
    /// The hash of the code that ran.
    pub sha256: Option<Arc<str>>,
    /// What a content is made of.
    pub form: Form,
    /// How the process of a command ended.
    pub ended: Option<Ended>,
    /// Whether it ended because the host refused what it asked for last.
    pub denied: bool,
}

/// What the content of a result is made of, by the contract of the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// Text, every byte of which may matter.
    #[default]
    Text,
    /// One JSON document.
    Json,
}

impl Run {
    /// Makes a run that ended before anything ran.
    pub fn failed(error: impl Into<Stopped>) -> Self {
        Self::said(Err::<Outcome, _>(error.into()))
    }

    /// Makes a run that printed nothing.
    pub fn said(result: Result<impl Into<Answer>, Stopped>) -> Self {
        let (result, beside) = match result.map(Into::into) {
            Ok(Answer { outcome, beside }) => (Ok(outcome), beside),
            Err(stopped) => (Err(stopped), Beside::default()),
        };
        Self {
            result,
            beside,
            stdout: Vec::new(),
            stderr: Vec::new(),
            fuel: None,
            sha256: None,
            form: Form::Text,
            ended: None,
            denied: false,
        }
    }
}

/// Runs the bodies of tools of one kind.
#[async_trait]
pub trait ToolRuntime: Send + Sync {
    /// Runs a tool once.
    async fn run(&self, invocation: &Invocation<'_>) -> Run;

    /// Says how much memory a call of a tool of this kind may use, and who is counted.
    fn memory(&self, _: &Request, limits: &Limits, _: &Host) -> Memory {
        Memory {
            bytes: Some(limits.memory_bytes),
            of: MemoryOf::Guest,
        }
    }

    /// Names the phase that a call begins with. A kind that reads its program first reports `execute` by itself.
    fn first_phase(&self) -> &'static str {
        "execute"
    }

    /// Tells whether files that a person chose can be handed to tools of this kind.
    fn takes_files(&self) -> bool {
        false
    }

    /// Asks a tool what it is; nothing when its kind cannot say.
    ///
    /// # Errors
    ///
    /// When it should say and does not.
    async fn describe(&self, _: &Host) -> Result<Option<DescribedTool>, ToolError> {
        Ok(None)
    }
}

/// Makes what a tool printed part of an error.
pub(crate) fn printed(stdout: &[u8], stderr: &[u8]) -> Printed {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Printed {
        stdout: text(stdout),
        stderr: text(stderr),
    }
}
