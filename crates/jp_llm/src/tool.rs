//! Tools and their calls: [`ToolDefinition`], and [`PreparedTool`], the one way to run it.

mod answered;
mod arguments;
pub(crate) mod body;
mod configured;
mod convention;
mod definition;
mod depth;
mod error;
mod execute;
mod facts;
mod files;
mod find;
mod kinds;
mod plain;
mod prepared;
pub(crate) mod record;
mod result;
mod signed;
mod stamp;

use std::{collections::BTreeMap, sync::Arc};

use jp_broker::mcp::TraceContext;
use jp_policy::Grant;
use jp_tool::{Action, Beside, Outcome, Question};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::Budget;

pub(crate) use convention::path_of as path_by_convention;
pub use definition::{ToolDefinition, ToolDocs};
pub(crate) use error::word;
pub use error::{
    Cause, ErrorKind, HostError, McpAnswer, Misconfigured, Missing, Printed, Refused, SharedError,
    Stop, ToolError, Ungrantable, Unusable, Verdict, WasmRefused, World,
};
pub(crate) use execute::Granted;
pub use execute::{InvalidCall, Pass, Preview, Said, Side, Weighed, Why};
pub use facts::{Fact, Facts};
pub use files::ChosenFile;
pub(crate) use files::Placed;
pub use prepared::PreparedTool;
pub(crate) use record::now;
pub use signed::declare;
pub(crate) use signed::refuse_undeclared;
pub(crate) use stamp::Stamp;

/// What other tools may do, by their names.
pub(crate) type Others = BTreeMap<String, Arc<Grant>>;

/// One call of a tool.
#[derive(Debug, Clone, Default)]
pub struct Call {
    /// The caller's own id for it.
    pub id: String,
    /// The arguments, as the model wrote them.
    pub arguments: Map<String, Value>,
    /// Files that a person chose for it, by the ids that arguments name them with. Only fronts fill
    /// this, and only from what the person said.
    pub files: BTreeMap<String, ChosenFile>,
    /// Answers to questions the tool may ask; each is checked when its question comes.
    pub answers: Map<String, Value>,
    /// What is asked of the tool.
    pub action: Action,
    /// Stops the call.
    pub cancel: CancellationToken,
    /// What the call has used so far. Keep it to take the call up again after a question.
    pub budget: Budget,
    /// The trace that the call belongs to. It stands in the audit record, and the MCP server of a tool is
    /// told it.
    pub trace: TraceContext,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum ExecutionOutcome {
    /// The tool has answered.
    Completed {
        /// The call's id.
        id: String,
        /// Its answer: a result, or why there is none.
        result: Result<String, String>,
    },
    /// The tool must know more.
    NeedsInput {
        /// The call's id.
        id: String,
        /// What it must know.
        question: Question,
    },
    /// The call was cancelled.
    Cancelled {
        /// The call's id.
        id: String,
    },
}

impl ExecutionOutcome {
    /// Returns the call's id.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Completed { id, .. } | Self::NeedsInput { id, .. } | Self::Cancelled { id } => id,
        }
    }

    /// Tells whether the tool did what was asked.
    #[must_use]
    pub const fn is_success(&self) -> bool {
        matches!(self, Self::Completed { result: Ok(_), .. })
    }

    /// Tells whether the call was cancelled.
    #[must_use]
    pub const fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled { .. })
    }

    /// Returns the question, if the tool asked one.
    #[must_use]
    pub const fn needs_input(&self) -> Option<&Question> {
        match self {
            Self::NeedsInput { question, .. } => Some(question),
            _ => None,
        }
    }

    /// Returns what the model is told.
    pub fn into_response(self) -> Result<String, String> {
        match self {
            Self::Completed { result, .. } => result,
            Self::NeedsInput { question, .. } => {
                Ok(format!("Tool requires additional input: {}", question.text))
            }
            Self::Cancelled { .. } => Ok("Tool execution cancelled by user.".to_owned()),
        }
    }
}

/// What is known about a call beside its result.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Details {
    /// What the tool itself said last, with trace and transience.
    pub outcome: Option<Outcome>,
    /// What it said beside that; nothing where its text says it all.
    pub beside: Beside,
    /// What it printed to standard output.
    pub stdout: Vec<u8>,
    /// What it printed to standard error.
    pub stderr: Vec<u8>,
    /// The fuel it used, where that is counted.
    pub fuel: Option<u64>,
    /// How long the call took, approval included.
    pub duration: std::time::Duration,
    /// The hash of the code that ran.
    pub sha256: Option<std::sync::Arc<str>>,
    /// What the call was granted, in words.
    pub grant: std::sync::Arc<str>,
    /// Who decided that it ran or did not, and how, where a person did.
    pub decided_by: Option<String>,
    /// What the content of the result is made of.
    pub form: crate::runtime::Form,
    /// How the process of a command ended.
    pub ended: Option<jp_confine::Ended>,
    /// Whether the tool ended because the host refused what it asked for last.
    pub denied: bool,
    /// What was decided before it ran.
    pub decision: Option<jp_audit::Decision>,
    /// The number of its record in the audit log, if there is a log.
    pub record: Option<u64>,
}

/// A call that has ended, with all that is known about it.
#[derive(Debug)]
pub struct Executed {
    /// The result.
    pub result: Result<ExecutionOutcome, ToolError>,
    /// What else is known.
    pub details: Details,
}
