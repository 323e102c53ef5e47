//! The [`Tool`] trait: a tool as a Rust value, with its own documentation and streaming status.
//!
//! A public library contract: a breaking change here is a new major version.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

/// A tool that lives in this process and describes itself.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Returns the identifier that registries use.
    fn name(&self) -> &str;

    /// Returns one line for listings.
    fn short_description(&self) -> &str;

    /// Returns the full description.
    fn description(&self) -> String;

    /// Returns documentation in the form of a man page.
    fn help(&self) -> String;

    /// Returns a short header for a system prompt.
    fn system_prompt(&self) -> String;

    /// Returns the JSON Schema of the input.
    fn input_schema(&self) -> serde_json::Value;

    /// Returns the JSON Schema of the output.
    fn output_schema(&self) -> serde_json::Value;

    /// Returns the version of the library behind the tool.
    fn version(&self) -> &str;

    /// Runs the tool.
    async fn execute(&mut self, req: ToolRequest) -> ToolResponse;

    /// Runs the tool and reports what it is doing meanwhile.
    async fn execute_with_status(
        &mut self,
        req: ToolRequest,
        status_callback: Box<dyn FnMut(ToolStatus) + Send>,
    ) -> ToolResponse;
}

/// What a [`Tool`] is asked to do.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ToolRequest {
    /// The commands to run, as in `bash -c "commands"`.
    pub commands: String,
}

/// What a [`Tool`] answers: always the whole output, however it was streamed before.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ToolResponse {
    /// What was written to standard output.
    pub stdout: String,

    /// What was written to standard error.
    pub stderr: String,

    /// The exit status; 0 means success.
    pub exit_code: i32,

    /// The kind of failure, when the run did not end by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// One report of a running tool.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ToolStatus {
    /// `validate`, `parse`, `execute`, `output` or `complete`.
    pub phase: String,

    /// What is going on, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,

    /// How much of the work is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent_complete: Option<f32>,

    /// How long it may still take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eta_ms: Option<u64>,

    /// A piece of output, in the phase `output`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,

    /// The stream the output belongs to: `stdout` or `stderr`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
}

impl ToolStatus {
    /// Makes a report of a phase.
    pub fn phase(phase: impl Into<String>) -> Self {
        Self {
            phase: phase.into(),
            ..Self::default()
        }
    }

    /// Makes a report that carries a piece of standard output.
    pub fn stdout(chunk: impl Into<String>) -> Self {
        Self::chunk("stdout", chunk.into())
    }

    /// Makes a report that carries a piece of standard error.
    pub fn stderr(chunk: impl Into<String>) -> Self {
        Self::chunk("stderr", chunk.into())
    }

    fn chunk(stream: &str, output: String) -> Self {
        Self {
            output: Some(output),
            stream: Some(stream.to_owned()),
            ..Self::phase("output")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_leaves_out_what_it_does_not_say() {
        let json = serde_json::to_string(&ToolStatus::stdout("1\n")).unwrap();
        assert_eq!(
            json,
            r#"{"phase":"output","output":"1\n","stream":"stdout"}"#
        );
        let json = serde_json::to_string(&ToolStatus::phase("parse")).unwrap();
        assert_eq!(json, r#"{"phase":"parse"}"#);
    }

    #[test]
    fn response_keeps_its_json_form() {
        let response = ToolResponse {
            stdout: "x".into(),
            ..ToolResponse::default()
        };
        let json = serde_json::to_string(&response).unwrap();
        assert_eq!(json, r#"{"stdout":"x","stderr":"","exit_code":0}"#);
    }
}
