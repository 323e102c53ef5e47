//! All that a tool said in one run: its outcome, and what no text can hold.

use crate::{Content, Outcome};

/// What a tool said.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The outcome; its text stands for all of it.
    pub outcome: Outcome,

    /// What it said beside that.
    pub beside: Beside,
}

/// What a tool said beside its outcome. Empty where a text says it all.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Beside {
    /// The parts of its result, and its result as data.
    pub content: Content,

    /// What it complains about, where the message of its outcome is a document for a model.
    pub problem: Option<Problem>,
}

/// What a tool complains about, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The word that stands for its kind, such as `forbidden`.
    pub code: Option<String>,

    /// What happened.
    pub message: String,
}

impl From<Outcome> for Answer {
    fn from(outcome: Outcome) -> Self {
        Self {
            outcome,
            beside: Beside::default(),
        }
    }
}

impl Answer {
    /// Adds what the tool complains about.
    #[must_use]
    pub fn with_problem(self, problem: Option<Problem>) -> Self {
        Self {
            beside: Beside {
                problem,
                ..self.beside
            },
            ..self
        }
    }
}
