//! Why a capability call was not answered: one shape for every family.

use serde_json::{Value, json};

/// The longest message that is passed on whole; upstream servers can send anything.
const MAX_MESSAGE: usize = 2000;

/// What kind of failure it was; programs look at this, not at the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// The arguments do not fit; the message names the field.
    InvalidArgs,
    /// It is not granted.
    Forbidden,
    /// There is nothing of that id or name.
    NotFound,
    /// The name or version is one this host does not speak.
    Unsupported,
    /// It contradicts what is there.
    Conflict,
    /// It took too long.
    Timeout,
    /// More came back than may be passed on.
    OutputLimit,
    /// What is needed is not configured or not running.
    Unavailable,
    /// A server that was asked failed or refused.
    Upstream,
    /// This host failed, or has no handler.
    Internal,
}

impl Code {
    /// Returns the word that stands for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArgs => "invalid_args",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::Unsupported => "unsupported",
            Self::Conflict => "conflict",
            Self::Timeout => "timeout",
            Self::OutputLimit => "output_limit",
            Self::Unavailable => "unavailable",
            Self::Upstream => "upstream",
            Self::Internal => "internal",
        }
    }
}

/// Why a capability call was not answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CallError {
    /// What kind of failure it was.
    pub code: Code,
    /// What happened, for the model and the person behind it.
    pub message: String,
    /// Whether the same call may work later.
    pub retryable: bool,
    /// What tells apart failures of one code.
    pub reason: Option<&'static str>,
}

impl CallError {
    /// Makes an error; whether it may pass follows from its code.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if let Some((end, _)) = message.char_indices().nth(MAX_MESSAGE) {
            let left_out = message.len().saturating_sub(end);
            message.truncate(end);
            message.push_str(&format!("… [{left_out} bytes left out]"));
        }
        Self {
            code,
            message,
            retryable: matches!(code, Code::Timeout | Code::Unavailable),
            reason: None,
        }
    }

    /// Makes the error of an argument that does not fit: `problem` says what was expected.
    #[must_use]
    pub fn invalid(field: &str, problem: &str) -> Self {
        Self::new(Code::InvalidArgs, format!("invalid `{field}`: {problem}"))
    }

    /// Makes the error of a capability that a tool was not granted, with the line that grants it.
    #[must_use]
    pub fn not_allowed(name: &str, tool: &str) -> Self {
        let message = format!(
            "Capability '{name}' is not allowed for tool '{tool}'; `grant.calls = [\"{name}\"]` under \
             `[conversation.tools.{tool}]` allows it, if the user's policy does"
        );
        Self::new(Code::Forbidden, message)
    }

    /// Makes the error of a host that a tool may not reach, with the two lines that let it: both the user
    /// and the tool must name the host. `setting` is a line such as `net = ["example.com"]`.
    #[must_use]
    pub fn host_not_granted(problem: &str, setting: &str, tool: &str) -> Self {
        let message = format!(
            "{problem}; `{setting}` under `[policy]` in your own configuration and `grant.{setting}` \
             under `[conversation.tools.{tool}]` grant it"
        );
        Self {
            reason: Some("net"),
            ..Self::new(Code::Forbidden, message)
        }
    }

    /// Makes the error of something that is not set up on this host: the same call will fail again
    /// until a person changes that.
    #[must_use]
    pub fn unconfigured(message: impl Into<String>) -> Self {
        Self {
            retryable: false,
            ..Self::new(Code::Unavailable, message)
        }
    }

    /// Makes the error of a failure of this host; what failed is for the log, not for a model.
    #[must_use]
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::Internal, message)
    }

    /// Returns the one shape errors have on the wire.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut json = json!({
            "status": "error",
            "code": self.code.as_str(),
            "error": self.message,
            "retryable": self.retryable,
        });
        if let (Some(reason), Some(object)) = (self.reason, json.as_object_mut()) {
            object.insert("reason".to_owned(), reason.into());
        }
        json
    }
}
