//! The virtual bash as a [`Tool`] that a model can call.
//!
//! Files, variables, functions and the working directory stay from one call to the next; background
//! jobs and descriptors end with their call.

mod builder;
mod stream;
mod text;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use jp_tool::{Tool, ToolRequest, ToolResponse, ToolStatus};
use serde_json::{Value, json};

pub use builder::BashToolBuilder;
pub use stream::ExecError;
use stream::{Texts, lossy};

use crate::{Bash, Bounds, ExecOptions, ExecResult, OnExecute, OnOutput};

/// Hears of a [`ToolStatus`].
type OnStatus = Box<dyn FnMut(ToolStatus) + Send>;

/// A session that a model calls.
pub struct BashTool {
    /// Never contended: it only makes a session, which one thread at a time may use, shareable.
    bash: Mutex<Bash>,
    commands: Vec<String>,
    username: Option<String>,
    hostname: Option<String>,
    limits: Option<Bounds>,
    env: Vec<String>,
    session: Session,
}

/// What stays from one call to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Session {
    /// Files, variables, functions and the working directory.
    #[default]
    Kept,
    /// Nothing: each call starts anew.
    OneShot,
}

impl BashTool {
    /// Starts with the defaults.
    pub fn builder() -> BashToolBuilder {
        BashToolBuilder::default()
    }

    /// Forgets everything: the next call starts anew.
    pub fn reset(&mut self) {
        self.bash().reset();
    }

    /// Returns the session behind the tool.
    pub fn bash(&mut self) -> &mut Bash {
        self.bash.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn facts(&self) -> text::Facts<'_> {
        text::Facts {
            commands: &self.commands,
            username: self.username.as_deref(),
            hostname: self.hostname.as_deref(),
            limits: self.limits.as_ref(),
            env: &self.env,
        }
    }

    fn run(
        &mut self,
        commands: &str,
        options: &ExecOptions,
        on_output: Option<OnOutput>,
    ) -> ExecResult {
        if self.session == Session::OneShot {
            self.reset();
        }
        self.bash()
            .exec_with(commands.as_bytes(), options, on_output)
    }
}

impl Default for BashTool {
    fn default() -> Self {
        Self::builder().build()
    }
}

#[async_trait]
impl Tool for BashTool {
    fn name(&self) -> &str {
        "bashkit"
    }

    fn short_description(&self) -> &str {
        text::SHORT
    }

    fn description(&self) -> String {
        text::description(&self.facts())
    }

    fn help(&self) -> String {
        text::help(&self.facts())
    }

    fn system_prompt(&self) -> String {
        text::system_prompt(&self.facts())
    }

    fn input_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "commands": {
                    "type": "string",
                    "description": "Bash commands to execute (like bash -c \"commands\")"
                }
            },
            "required": ["commands"],
            "additionalProperties": false
        })
    }

    fn output_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "stdout": {"type": "string", "description": "Standard output from the commands"},
                "stderr": {"type": "string", "description": "Standard error from the commands"},
                "exit_code": {"type": "integer", "description": "Exit status (0 = success)"},
                "error": {"type": "string", "description": "Error category if failed"}
            },
            "required": ["stdout", "stderr", "exit_code"]
        })
    }

    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    /// Runs the commands on the calling thread, which is busy until they end.
    async fn execute(&mut self, req: ToolRequest) -> ToolResponse {
        response(&self.run(&req.commands, &ExecOptions::default(), None))
    }

    /// Runs the commands on the calling thread and reports each phase when it begins: `execute` with the first
    /// command, once the text was read so far, and output while they run.
    async fn execute_with_status(
        &mut self,
        req: ToolRequest,
        mut status_callback: OnStatus,
    ) -> ToolResponse {
        status_callback(at(ToolStatus::phase("validate"), 0.0));
        if req.commands.is_empty() {
            status_callback(at(ToolStatus::phase("complete"), 100.0));
            return ToolResponse::default();
        }
        status_callback(at(ToolStatus::phase("parse"), 10.0));
        let reports = Arc::new(Mutex::new(Reports {
            stdout: Texts::default(),
            stderr: Texts::default(),
            callback: status_callback,
        }));
        let theirs = Arc::clone(&reports);
        let on_output = Box::new(move |out: &[u8], err: &[u8]| lock(&theirs).pieces(out, err));
        let theirs = Arc::clone(&reports);
        let options = ExecOptions {
            on_execute: Some(OnExecute::new(move || lock(&theirs).executing())),
            ..ExecOptions::default()
        };
        let result = self.run(&req.commands, &options, Some(on_output));
        lock(&reports).finish();
        response(&result)
    }
}

/// Where reports of a running call go.
struct Reports {
    stdout: Texts,
    stderr: Texts,
    callback: OnStatus,
}

impl Reports {
    fn executing(&mut self) {
        (self.callback)(at(ToolStatus::phase("execute"), 20.0));
    }

    fn pieces(&mut self, out: &[u8], err: &[u8]) {
        let (out, err) = (self.stdout.push(out), self.stderr.push(err));
        self.say(out, err);
    }

    fn finish(&mut self) {
        let (out, err) = (self.stdout.finish(), self.stderr.finish());
        self.say(out, err);
        (self.callback)(at(ToolStatus::phase("complete"), 100.0));
    }

    fn say(&mut self, out: String, err: String) {
        if !out.is_empty() {
            (self.callback)(ToolStatus::stdout(out));
        }
        if !err.is_empty() {
            (self.callback)(ToolStatus::stderr(err));
        }
    }
}

fn lock(reports: &Mutex<Reports>) -> MutexGuard<'_, Reports> {
    // A callback that panicked once may be called again: it is the embedder's own.
    reports.lock().unwrap_or_else(PoisonError::into_inner)
}

fn at(status: ToolStatus, percent: f32) -> ToolStatus {
    ToolStatus {
        percent_complete: Some(percent),
        ..status
    }
}

/// Returns what a call did as text.
fn response(result: &ExecResult) -> ToolResponse {
    ToolResponse {
        stdout: lossy(&result.stdout),
        stderr: lossy(&result.stderr),
        exit_code: result.exit_code,
        error: result.error.map(|category| category.name().to_owned()),
    }
}

#[cfg(test)]
mod tests;
