//! The pipeline itself, step by step as design and audit name them.

use std::{sync::LazyLock, time::Instant};

use jp_audit::Decision;
use jp_config::{
    Layer,
    tool::{ResultMode, RunMode, ToolSource},
};
use jp_policy::{
    Access, Capabilities, Ceilings, FileRule, Files, Grant, GuestPath, Limits, Net, Policy, compose,
};
use jp_tool::{Action, Outcome, Question, ToolStatus};
use serde_json::{Map, Value};

use super::{Call, Details, Executed, ExecutionOutcome, ToolDefinition, ToolError, record};
use crate::{
    Approval, ApprovalRequest, Host, Trust,
    runtime::{Invocation, Run, Stopped, limit_reached},
    tool::Printed,
};

/// What a step that ends the call early says.
type Early = Result<ExecutionOutcome, ToolError>;

/// What a workspace may use that the user trusts: whatever the user's policy allows.
static TRUSTED: LazyLock<Policy> = LazyLock::new(|| {
    let Policy {
        capabilities,
        ceilings,
    } = app(&[("/", Access::ReadWrite)]);
    let capabilities = Capabilities {
        net: Net::Any,
        subprocess: true,
        ..capabilities
    };
    Policy {
        capabilities,
        ceilings,
    }
});

/// What a workspace may use that nobody has looked at: only itself.
static UNTRUSTED: LazyLock<Policy> = LazyLock::new(|| {
    app(&[
        ("/workspace", Access::ReadWrite),
        ("/subjects", Access::Read),
        ("/tmp", Access::ReadWrite),
    ])
});

fn app(paths: &[(&str, Access)]) -> Policy {
    let rules = paths.iter().filter_map(|(path, access)| {
        Some(FileRule {
            path: GuestPath::new(path).ok()?,
            access: *access,
        })
    });
    let capabilities = Capabilities {
        files: Files::new(rules),
        ..Capabilities::default()
    };
    Policy {
        capabilities,
        ceilings: Ceilings::default(),
    }
}

/// A call on its way through the pipeline.
struct Pass<'a> {
    tool: &'a ToolDefinition,
    host: &'a Host,
    call: Call,
    arguments_json: String,
    decision: Decision,
    details: Details,
}

impl ToolDefinition {
    /// Runs the tool: the only way to do so.
    ///
    /// # Errors
    ///
    /// When the call produced no outcome: it was not allowed, was stopped, or the host failed.
    pub async fn execute(&self, call: Call, host: &Host) -> Result<ExecutionOutcome, ToolError> {
        self.execute_detailed(call, host).await.result
    }

    /// Runs the tool and returns all that is known about the call.
    pub async fn execute_detailed(&self, call: Call, host: &Host) -> Executed {
        let started = Instant::now();
        let mut pass = Pass {
            tool: self,
            host,
            call,
            arguments_json: String::new(),
            decision: Decision::Undecided,
            details: Details::default(),
        };
        let result = pass.run().await;
        pass.details.duration = started.elapsed();
        let Pass {
            call,
            arguments_json,
            decision,
            details,
            ..
        } = pass;
        let mut executed = Executed { result, details };
        if let Err(error) = record::write(self, &call, host, &arguments_json, decision, &executed) {
            // A call nobody can account for did not happen, as far as its caller may know.
            executed.result = Err(error);
        }
        executed
    }
}

impl Pass<'_> {
    async fn run(&mut self) -> Early {
        if !self.tool.is_enabled() {
            return Err(ToolError::Disabled);
        }
        self.report("validate");
        let sent = std::mem::take(&mut self.call.arguments);
        let mut arguments = match self.check_arguments(sent) {
            Ok(arguments) => arguments,
            Err(early) => return early,
        };
        let grant = self.compose()?;
        self.details.grant = grant.capabilities().to_string();
        if self.call.action == Action::Run {
            match self.approve(&grant, &arguments).await? {
                Consent::Run => {}
                Consent::RunWith(edited) => match self.check_arguments(edited) {
                    Ok(edited) => arguments = edited,
                    Err(early) => return early,
                },
                Consent::Skip(text) => return Ok(self.completed(Ok(text))),
            }
        }
        self.report("execute");
        let outcome = self.rounds(&arguments, &grant).await;
        self.report("complete");
        outcome
    }

    /// Steps 1 and 2: coerce, fill in defaults, validate. What is wrong is a result for the model.
    fn check_arguments(
        &mut self,
        arguments: Map<String, Value>,
    ) -> Result<Map<String, Value>, Early> {
        let checker = self.tool.checker().map_err(Err)?;
        match checker.check(arguments) {
            Ok(arguments) => {
                self.arguments_json = to_json(&arguments);
                Ok(arguments)
            }
            Err((arguments, problems)) => {
                // What is refused is hashed too, so that its record can be told from others.
                self.arguments_json = to_json(&arguments);
                let text = format!(
                    "Invalid arguments:\n{problems}\n\nThe schema of the arguments: {}",
                    shorten(&self.tool.schema.to_string())
                );
                Err(Ok(self.completed(Err(text))))
            }
        }
    }

    /// Step 3: what the user, the workspace and the tool have in common.
    fn compose(&mut self) -> Result<Grant, ToolError> {
        let app = if self.is_trusted() {
            &*TRUSTED
        } else {
            &*UNTRUSTED
        };
        compose(&self.host.policy, app, &self.tool.request).map_err(|denied| {
            self.decision = Decision::Denied;
            let untrusted = !self.is_trusted();
            ToolError::Denied {
                tool: self.tool.name.clone(),
                denied,
                untrusted,
            }
        })
    }

    /// Whether a person has seen what this tool is: the user defined it, or trusts the workspace.
    fn is_trusted(&self) -> bool {
        self.tool.defined_by == Layer::User || self.host.trust.is_trusted()
    }

    /// Step 4: a person decides, where the configuration or the grant calls for one.
    async fn approve(
        &mut self,
        grant: &Grant,
        arguments: &Map<String, Value>,
    ) -> Result<Consent, ToolError> {
        let mode = self.run_mode(grant);
        match mode {
            RunMode::Unattended => {
                self.decision = Decision::Allowed;
                return Ok(Consent::Run);
            }
            RunMode::Skip => {
                self.decision = Decision::Refused;
                return Ok(Consent::Skip("Tool skipped by configuration.".to_owned()));
            }
            RunMode::Ask | RunMode::Edit => {}
        }
        self.decision = Decision::Asked;
        let request = ApprovalRequest {
            tool: &self.tool.name,
            source: match self.tool.source {
                ToolSource::Builtin { .. } => "built-in",
                ToolSource::Local { .. } => "local",
                ToolSource::Mcp { .. } => "mcp",
            },
            arguments,
            grant,
            editable: mode == RunMode::Edit,
            unconfined: grant.capabilities().subprocess && self.host.unconfined,
        };
        match self.host.approver.approve(&request).await {
            Approval::Approved => {
                self.decision = Decision::Approved;
                Ok(Consent::Run)
            }
            Approval::Edited(arguments) => {
                self.decision = Decision::Approved;
                Ok(Consent::RunWith(arguments))
            }
            Approval::Refused(why) => {
                self.decision = Decision::Refused;
                Ok(Consent::Skip(why.map_or_else(
                    || "Tool skipped by user.".to_owned(),
                    |why| format!("Tool skipped by user: {why}"),
                )))
            }
            Approval::Unavailable => Err(ToolError::NotApproved {
                tool: self.tool.name.clone(),
            }),
        }
    }

    /// What the configuration says, as far as whoever wrote it may say it. A workspace nobody has
    /// looked at cannot make itself unattended, and neither can a file that was swapped since.
    fn run_mode(&self, grant: &Grant) -> RunMode {
        let harmless = grant.capabilities().is_read_only_and_local();
        let default = if harmless {
            RunMode::Unattended
        } else {
            RunMode::Ask
        };
        match self.tool.run {
            None => default,
            Some(RunMode::Unattended) if !(harmless || self.is_trusted() && self.pin().is_ok()) => {
                default
            }
            Some(mode) => mode,
        }
    }

    /// The hash the user trusted a Wasm file of the workspace with. `Err` when there is none.
    fn pin(&self) -> Result<Option<&str>, ()> {
        match (&self.tool.wasm, &self.host.trust) {
            (Some(path), Trust::Trusted { pins }) if self.tool.defined_by == Layer::Workspace => {
                pins.get(path).map(|pin| Some(pin.as_str())).ok_or(())
            }
            _ => Ok(None),
        }
    }

    /// Steps 6 to 8, again for every question that has an answer.
    async fn rounds(&mut self, arguments: &Map<String, Value>, grant: &Grant) -> Early {
        loop {
            let left = match self.call.budget.left(grant.limits()) {
                Ok(left) => left,
                Err(limit) => {
                    let printed = Printed::default();
                    return Err(limit_reached(
                        &self.tool.name,
                        limit,
                        grant.limits(),
                        printed,
                    ));
                }
            };
            let run = self.run_once(arguments, grant, &left).await;
            let outcome = match self.keep(run) {
                Ok(outcome) => outcome,
                Err(Stopped::Cancelled) => {
                    return Ok(ExecutionOutcome::Cancelled {
                        id: self.call.id.clone(),
                    });
                }
                Err(Stopped::Failed(error)) => return Err(*error),
            };
            match outcome {
                Outcome::NeedsInput { question } if self.call.action == Action::Run => {
                    if let Some(ended) = self.answer(question) {
                        return ended;
                    }
                }
                other => return Ok(self.finished(other)),
            }
        }
    }

    async fn run_once(&self, arguments: &Map<String, Value>, grant: &Grant, left: &Limits) -> Run {
        let answers = self.call.budget.answers();
        let invocation = Invocation {
            tool: self.tool,
            call: &self.call,
            arguments,
            arguments_json: &self.arguments_json,
            answers: &answers,
            grant,
            left,
            pin: self
                .pin()
                .ok()
                .flatten()
                .filter(|_| self.decision == Decision::Allowed),
            host: self.host,
        };
        let started = Instant::now();
        let run = self.tool.runtime.run(&invocation).await;
        self.call
            .budget
            .spend(started.elapsed(), run.fuel.unwrap_or_default());
        run
    }

    /// Keeps what a run left behind; what earlier rounds printed stays.
    fn keep(&mut self, run: Run) -> Result<Outcome, Stopped> {
        let Run {
            result,
            mut stdout,
            mut stderr,
            fuel,
            sha256,
        } = run;
        self.details.stdout.append(&mut stdout);
        self.details.stderr.append(&mut stderr);
        self.details.fuel = match (self.details.fuel, fuel) {
            (Some(before), Some(now)) => Some(before.saturating_add(now)),
            (before, now) => now.or(before),
        };
        self.details.sha256 = sha256.or(self.details.sha256.take());
        let outcome = result?;
        self.details.outcome = Some(outcome.clone());
        Ok(outcome)
    }

    /// Looks for an answer; `None` means that there is one and the tool is to be run again.
    fn answer(&mut self, question: Question) -> Option<Early> {
        let budget = &self.call.budget;
        if budget.is_full() || budget.has_answer(&question.id) {
            return Some(Err(ToolError::TooManyQuestions {
                tool: self.tool.name.clone(),
            }));
        }
        let known = self
            .call
            .answers
            .get(&question.id)
            .or_else(|| self.tool.fixed_answers.get(&question.id));
        let Some(answer) = known else {
            return Some(Ok(ExecutionOutcome::NeedsInput {
                id: self.call.id.clone(),
                question,
            }));
        };
        if let Err(error) = question.answer_type.check(answer) {
            let id = shorten(&question.id);
            let text = format!("The answer to question `{id}` does not fit: {error}");
            return Some(Ok(self.completed(Err(text))));
        }
        let kept = budget.keep_answer(&question.id, answer.clone());
        (!kept).then(|| {
            Err(ToolError::TooManyQuestions {
                tool: self.tool.name.clone(),
            })
        })
    }

    /// Step 7 and 8: what the model is told.
    fn finished(&self, outcome: Outcome) -> ExecutionOutcome {
        let result = match outcome {
            Outcome::Success { .. }
                if self.tool.result == ResultMode::Skip && self.call.action.is_run() =>
            {
                Ok("Result delivery skipped by configuration.".to_owned())
            }
            Outcome::Success { content } => Ok(content),
            Outcome::Error { message, trace, .. } if trace.is_empty() => Err(message),
            Outcome::Error { message, trace, .. } => {
                Err(format!("{message}\n\nTrace:\n{}", trace.join("\n")))
            }
            Outcome::NeedsInput { question } => Err(format!(
                "the tool asked a question while formatting its arguments: {}",
                shorten(&question.text)
            )),
        };
        self.completed(result)
    }

    fn completed(&self, result: Result<String, String>) -> ExecutionOutcome {
        ExecutionOutcome::Completed {
            id: self.call.id.clone(),
            result,
        }
    }

    fn report(&self, phase: &str) {
        if let Some(events) = &self.host.events {
            events.report(&self.call.id, &self.tool.name, ToolStatus::phase(phase));
        }
    }
}

/// What the person, or the configuration in their place, decided.
enum Consent {
    Run,
    RunWith(Map<String, Value>),
    Skip(String),
}

fn to_json(arguments: &Map<String, Value>) -> String {
    serde_json::to_string(arguments).unwrap_or_default()
}

/// Bounds a text that goes into a message.
fn shorten(text: &str) -> String {
    const MOST: usize = 2000;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}
