//! What a tool says when it is done. A tool that failed *has* an outcome; a call that produced
//! none is an error of the host and is not described here.

use std::error::Error;

use serde::{Deserialize, Serialize};

use crate::Question;

/// The answer of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Outcome {
    /// The tool did what was asked.
    Success {
        /// What it has to say.
        content: String,
    },

    /// The tool could not do what was asked.
    Error {
        /// What went wrong, for the model and for people.
        message: String,

        /// The causes, outermost first.
        trace: Vec<String>,

        /// Whether the same call may succeed later.
        transient: bool,
    },

    /// The tool must know more before it can go on.
    NeedsInput {
        /// What it must know.
        question: Question,
    },
}

impl Outcome {
    /// Makes an error that may go away when the call is repeated.
    pub fn error(error: impl Error) -> Self {
        Self::from_error(&error, true)
    }

    /// Makes an error that stays however often the call is repeated.
    pub fn fail(error: impl Error) -> Self {
        Self::from_error(&error, false)
    }

    /// Makes a lasting error from a message alone.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Error {
            message: message.into(),
            trace: Vec::new(),
            transient: false,
        }
    }

    fn from_error(error: &dyn Error, transient: bool) -> Self {
        let mut trace = Vec::new();
        let mut cause = error.source();
        while let Some(error) = cause {
            trace.push(format!("{error:#}"));
            cause = error.source();
        }
        Self::Error {
            message: error.to_string(),
            trace,
            transient,
        }
    }
}

impl From<String> for Outcome {
    fn from(content: String) -> Self {
        Self::Success { content }
    }
}

impl From<&str> for Outcome {
    fn from(content: &str) -> Self {
        content.to_owned().into()
    }
}

impl From<Question> for Outcome {
    fn from(question: Question) -> Self {
        Self::NeedsInput { question }
    }
}

#[cfg(test)]
mod tests {
    use std::{error::Error, fmt, io};

    use serde_json::json;

    use super::*;
    use crate::AnswerType;

    #[derive(Debug)]
    struct Outer(io::Error);

    impl fmt::Display for Outer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("outer")
        }
    }

    impl Error for Outer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn outcomes_keep_their_json_form() {
        let cases = [
            (
                Outcome::from("hi"),
                json!({"type": "success", "content": "hi"}),
            ),
            (
                Outcome::error(Outer(io::Error::other("inner"))),
                json!({"type": "error", "message": "outer", "trace": ["inner"], "transient": true}),
            ),
            (
                Outcome::fail(Outer(io::Error::other("inner"))),
                json!({"type": "error", "message": "outer", "trace": ["inner"], "transient": false}),
            ),
            (
                Outcome::from(Question {
                    id: "q".into(),
                    text: "Sure?".into(),
                    answer_type: AnswerType::Boolean,
                    default: Some(false.into()),
                }),
                json!({"type": "needs_input", "question":
                    {"id": "q", "text": "Sure?", "answer_type": "Boolean", "default": false}}),
            ),
        ];
        for (outcome, json) in cases {
            assert_eq!(serde_json::to_value(&outcome).unwrap(), json);
            assert_eq!(serde_json::from_value::<Outcome>(json).unwrap(), outcome);
        }
    }

    #[test]
    fn an_error_without_trace_or_transient_is_refused() {
        let json = json!({"type": "error", "message": "m"});
        assert!(serde_json::from_value::<Outcome>(json).is_err());
    }
}
