//! A call of a tool: what is sent, and what comes back.

use std::time::Instant;

use jp_tool::{Content, Form};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::{Digest, Respond, TraceContext};

/// A call of a tool.
pub struct Call<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// What the tool was when its caller decided to use it; a changed tool is not called.
    pub digest: Option<Digest>,
    /// When the caller stops waiting.
    pub deadline: Instant,
    /// Stops the call.
    pub cancel: &'a CancellationToken,
    /// The most bytes the result may have.
    pub max_result: usize,
    /// The trace that the call belongs to, which the server is told.
    pub trace: Option<&'a TraceContext>,
    /// Hears how far the call is.
    pub progress: &'a (dyn Fn(Progress) + Send + Sync),
    /// Answers what the server asks for meanwhile.
    pub respond: &'a dyn Respond,
}

/// How far a call is.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// What is done.
    pub progress: f64,
    /// What there is to do, if that is known.
    pub total: Option<f64>,
    /// What is going on, cleaned and short.
    pub message: Option<String>,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Called {
    /// All of it, each part as what it is.
    pub content: Content,
    /// Whether the tool says no.
    pub is_error: bool,
    /// What the tool must know first, where nobody answered it; there is no other answer then.
    pub wants: Vec<Form>,
}

impl Called {
    /// Returns the answer as text, where nothing else can be shown.
    #[must_use]
    pub fn text(&self) -> String {
        self.content.text()
    }
}
