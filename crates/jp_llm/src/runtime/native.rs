//! Adapter: any [`Tool`] of this process as a tool of the pipeline.

use async_trait::async_trait;
use jp_policy::Limit;
use jp_tool::{Outcome, Tool, ToolRequest, ToolResponse};
use serde_json::Value;
use tokio::sync::Mutex;

use super::{Invocation, Run, Stopped, ToolRuntime, printed, script_outcome};

/// The error category with which a tool says that it hit a limit.
const RESOURCE_LIMIT: &str = "resource_limit";

/// What a [`Tool`] says about itself beside its description and the schema of its input.
#[derive(Debug, Clone, PartialEq)]
pub struct Manual {
    /// Its documentation in the form of a man page.
    pub help: String,
    /// Its header for a system prompt.
    pub system_prompt: String,
    /// The JSON Schema of what it returns. Results are not checked against it.
    pub output_schema: Value,
}

impl Manual {
    /// Asks a tool for it.
    pub(crate) fn of(tool: &dyn Tool) -> Self {
        Self {
            help: tool.help(),
            system_prompt: tool.system_prompt(),
            output_schema: tool.output_schema(),
        }
    }
}

/// Runs a [`Tool`]. Its state lives as long as this value, so one value is one session.
pub struct NativeRuntime {
    tool: Mutex<Box<dyn Tool>>,
    /// Asked once, at the start: later a call may have the tool for as long as it likes.
    manual: Manual,
}

impl NativeRuntime {
    /// Takes a tool.
    #[must_use]
    pub fn new(tool: Box<dyn Tool>) -> Self {
        Self {
            manual: Manual::of(&*tool),
            tool: Mutex::new(tool),
        }
    }

    /// Returns what the tool says about itself.
    pub(crate) const fn manual(&self) -> &Manual {
        &self.manual
    }
}

#[async_trait]
impl ToolRuntime for NativeRuntime {
    async fn run(&self, invocation: &Invocation<'_>) -> Run {
        let request: ToolRequest = match serde_json::from_str(&invocation.arguments_json) {
            Ok(request) => request,
            Err(error) => {
                return Run::said(Ok(Outcome::failed(format!("Invalid arguments: {error}"))));
            }
        };
        if invocation.call.action.is_format_arguments() {
            let content = request.commands;
            return Run::said(Ok(Outcome::Success { content }));
        }
        let host = invocation.host.caller().events.clone();
        let (call, name) = (invocation.call.id.clone(), invocation.tool.name.clone());
        // Waiting for an earlier call of the same session counts too.
        let work = async {
            let mut tool = self.tool.lock().await;
            let report = Box::new(move |status| {
                if let Some(events) = &host {
                    events.report(&call, &name, status);
                }
            });
            tool.execute_with_status(request, report).await
        };
        let response = tokio::select! {
            biased;
            () = invocation.call.cancel.cancelled() => return Run::failed(Stopped::Cancelled),
            () = tokio::time::sleep(invocation.left.time) => {
                return Run::failed(invocation.limit_reached(Limit::Time, printed(b"", b"")));
            }
            response = work => response,
        };
        answer(invocation, response)
    }
}

/// Turns a response into a run: a limit is an error that carries the same output, and an exit
/// status other than 0 is the tool saying no.
fn answer(invocation: &Invocation<'_>, response: ToolResponse) -> Run {
    let (stdout, stderr) = (
        response.stdout.clone().into_bytes(),
        response.stderr.clone().into_bytes(),
    );
    let most = usize::try_from(invocation.left.output_bytes).unwrap_or(usize::MAX);
    let result = match response.error.as_deref() {
        _ if stdout.len() > most || stderr.len() > most => {
            let (stdout, stderr) = (
                &stdout[..most.min(stdout.len())],
                &stderr[..most.min(stderr.len())],
            );
            Err(invocation
                .limit_reached(Limit::Output, printed(stdout, stderr))
                .into())
        }
        Some(RESOURCE_LIMIT) => Err(invocation
            .limit_reached(Limit::Output, printed(&stdout, &stderr))
            .into()),
        error => Ok(script_outcome(
            &response.stdout,
            &response.stderr,
            response.exit_code,
            error.map(str::to_owned).into_iter().collect(),
        )),
    };
    Run {
        stdout,
        stderr,
        ..Run::said(result)
    }
}
