//! Adapter: tools of MCP servers. Which servers there are is in [`McpTools`]; what a model is told
//! about one of their tools is made by [`describe`].

mod describe;
mod servers;

use std::{sync::Arc, time::Instant};

use async_trait::async_trait;
use jp_broker::mcp::{Call, Called, Digest, McpError, Progress, Reach, Respond, Servers, Tools};
use jp_policy::{Limit, Limits, Request};
use jp_tool::{Action, Answer, Beside, Content, Form, Input, Outcome, Part, ToolStatus};
use serde_json::{Map, Value};

use super::{Invocation, Memory, MemoryOf, Run, Stopped, ToolRuntime};
use crate::{
    Host, InputRequest,
    tool::{Cause, HostError, Printed, Refused, word},
};

pub use describe::{Described, UnknownParameter, describe};
pub use servers::{Defined, Login, LoginFailed, McpTools, ToldMemory, Unlisted};

/// The number JSON-RPC has for arguments that do not fit.
const INVALID_PARAMS: i32 = -32602;

/// A tool of a server.
#[derive(Clone)]
pub struct ServerTool {
    /// The pool that its server is in.
    pub servers: Arc<Servers>,
    /// The id of its server.
    pub server: String,
    /// Its name there.
    pub tool: String,
    /// What it was when it was described. A tool that is something else by the time of a call is not
    /// called.
    pub digest: Digest,
    /// All that its server told then.
    pub told: Arc<Tools>,
}

/// Calls one tool of a server.
pub struct McpRuntime(ServerTool);

impl McpRuntime {
    /// Makes the runtime of a tool.
    #[must_use]
    pub const fn new(tool: ServerTool) -> Self {
        Self(tool)
    }

    fn stopped(&self, invocation: &Invocation<'_>, error: McpError) -> Result<Outcome, Stopped> {
        let server = self.0.server.clone();
        let limit = |limit| invocation.limit_reached(limit, Printed::default());
        let error = match error {
            McpError::Cancelled => return Err(Stopped::Cancelled),
            McpError::Timeout { .. } => limit(Limit::Time),
            McpError::TooLarge { limit: most, .. } if most == output_limit(invocation) => {
                limit(Limit::Output)
            }
            // The model can fix its arguments, so it is told what is wrong with them.
            McpError::Rejected {
                code: INVALID_PARAMS,
                message,
                ..
            } => return Ok(Outcome::failed(message)),
            McpError::Rejected { .. } => return Ok(Outcome::failed(error.to_string())),
            // The reason says what to do about it.
            McpError::Refused { reason, .. } => {
                invocation.error(Refused::McpRefused { server, reason })
            }
            McpError::Checksum {
                program,
                expected,
                found,
                ..
            } => {
                let hint = format!(
                    "look at what changed in the program; if it is the one you mean, write \
                     `checksum.value = \"{found}\"` under `[providers.mcp.{server}]`"
                );
                let error = invocation.error(Refused::McpProgram {
                    server,
                    program,
                    expected,
                    found,
                });
                error.with_hint(hint)
            }
            McpError::Changed { .. } => {
                let error = invocation.error(Refused::McpSwapped { server });
                error.with_hint(format!(
                    "`jp tool show {}` shows what it is now, `jp tool lock` accepts and pins it",
                    word(&invocation.tool.name)
                ))
            }
            McpError::Died { .. } => {
                let error = invocation.error(HostError::Server(error));
                error.with_hint(
                    "try again: it is started or reached anew for the next call; whether this call \
                     had an effect is not known",
                )
            }
            McpError::Start { .. } | McpError::StartTimeout { .. } | McpError::Flapping { .. } => {
                invocation.error(Cause::spawn(server, error))
            }
            other => invocation.error(HostError::Server(other)),
        };
        Err(error.into())
    }
}

fn output_limit(invocation: &Invocation<'_>) -> usize {
    usize::try_from(invocation.left.output_bytes).unwrap_or(usize::MAX)
}

#[async_trait]
impl ToolRuntime for McpRuntime {
    fn memory(&self, _: &Request, _: &Limits, host: &Host) -> Memory {
        let server = self.0.servers.get(&self.0.server);
        let Some(Reach::Program(program)) = server.map(|server| &server.reach) else {
            return Memory {
                bytes: None,
                of: MemoryOf::Elsewhere,
            };
        };
        let Memory { bytes, of } = host.memory_of_processes(program.memory_bytes);
        let of = match of {
            MemoryOf::AllProcesses => MemoryOf::AllProcessesOfServer,
            _ => MemoryOf::EachProcessOfServer,
        };
        Memory { bytes, of }
    }

    async fn run(&self, invocation: &Invocation<'_>) -> Run {
        if invocation.call.action == Action::FormatArguments {
            let message = "a tool of an MCP server cannot show its arguments itself".to_owned();
            return Run::said(Ok(Outcome::Error {
                message,
                trace: Vec::new(),
                transient: false,
            }));
        }
        let progress = |report: Progress| invocation.report(|| status(&report));
        let call = Call {
            tool: &self.0.tool,
            arguments: invocation.arguments.clone(),
            digest: Some(self.0.digest),
            deadline: Instant::now() + invocation.left.time,
            cancel: &invocation.call.cancel,
            max_result: output_limit(invocation),
            trace: Some(&invocation.call.trace),
            progress: &progress,
            respond: &Caller(invocation),
        };
        Run::said(match self.0.servers.call(&self.0.server, &call).await {
            Ok(called) => Ok(answer(called)),
            Err(error) => self.stopped(invocation, error).map(Answer::from),
        })
    }
}

/// Whoever made a call, who may be asked what its server wants to know.
struct Caller<'a>(&'a Invocation<'a>);

#[async_trait]
impl Respond for Caller<'_> {
    /// Answers of earlier rounds: the call was made again with them.
    fn known(&self, form: &Form) -> Option<Map<String, Value>> {
        self.0.answers.get(&form.id)?.as_object().cloned()
    }

    async fn respond(&self, form: &Form) -> Option<Map<String, Value>> {
        // A front that cannot ask while a call runs has asked since.
        if let Some(known) = self.known(form) {
            return Some(known);
        }
        let Self(invocation) = self;
        let input = Input::Form(form.clone());
        let request = InputRequest {
            call: &invocation.call.id,
            tool: &invocation.tool.name,
            inputs: &[&input],
            any: false,
        };
        let answers = invocation.host.caller().asker.provide(&request).await;
        let answer = answers.into_iter().next().flatten()?;
        match input.check(answer).ok()? {
            Value::Object(answers) => Some(answers),
            _ => None,
        }
    }
}

/// Makes what all tools answer with of what a server answered. What is text alone is kept once.
fn answer(mut called: Called) -> Answer {
    if let Some(form) = called.wants.pop() {
        let input = Input::Form(form);
        let outcome = Outcome::NeedsInput {
            question: input.to_question(),
        };
        let beside = Beside {
            inputs: vec![input],
            ..Beside::default()
        };
        return Answer { outcome, beside };
    }
    let text = called.text();
    let outcome = match called.is_error {
        true => Outcome::failed(text),
        false => Outcome::Success { content: text },
    };
    let is_plain = match called.content.parts.as_slice() {
        [] => true,
        [Part::Text(part)] => part.annotations.is_none(),
        _ => false,
    };
    let content = Content {
        parts: if is_plain {
            Vec::new()
        } else {
            called.content.parts
        },
        structured: called.content.structured,
    };
    Answer {
        outcome,
        beside: Beside {
            content,
            ..Beside::default()
        },
    }
}

/// Says how far a call is in the words of all tools.
fn status(report: &Progress) -> ToolStatus {
    let total = report.total.filter(|total| *total > 0.0);
    let percent = total.map(|total| (report.progress / total * 100.0).clamp(0.0, 100.0));
    #[expect(clippy::cast_possible_truncation, reason = "a number from 0 to 100")]
    let percent_complete = percent
        .filter(|done| done.is_finite())
        .map(|done| done as f32);
    ToolStatus {
        message: report.message.clone(),
        percent_complete,
        ..ToolStatus::phase("execute")
    }
}

#[cfg(test)]
mod tests;
