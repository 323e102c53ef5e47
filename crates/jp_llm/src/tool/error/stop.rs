//! We stopped the tool, or its answer is invalid.

use std::fmt;

use jp_policy::Limit;

use super::World;

/// What a tool printed before it was stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Printed {
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

/// Why a tool was stopped, or why its answer is invalid.
#[derive(Debug)]
pub enum Stop {
    /// Wasm execution trapped.
    WasmTrap(String),
    /// The tool used all of something it had a limit on.
    LimitReached {
        /// Of what.
        limit: Limit,
        /// How much it had.
        allowed: String,
        /// What it printed until then.
        printed: Printed,
    },
    /// The tool asked more questions than anybody would answer.
    TooManyQuestions,
    /// The tool said something else than it had said it would.
    ResultUnfit {
        /// Where in the result, as a JSON pointer.
        path: String,
        /// What is wrong there.
        reason: String,
    },
}

impl Stop {
    pub(super) const fn world(&self) -> World {
        match self {
            Self::LimitReached {
                limit: Limit::Time, ..
            } => World::Time,
            Self::LimitReached { .. } | Self::TooManyQuestions => World::Limit,
            Self::WasmTrap(_) | Self::ResultUnfit { .. } => World::Trapped,
        }
    }

    pub(super) fn tell(&self, tool: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WasmTrap(reason) => write!(f, "Wasm tool trapped: {reason}"),
            Self::LimitReached { limit, allowed, .. } => {
                write!(f, "tool `{tool}` ran out of {limit} (limit: {allowed})")
            }
            Self::TooManyQuestions => write!(
                f,
                "tool `{tool}` asked more than {} questions, or one that was answered before",
                crate::MAX_QUESTIONS
            ),
            Self::ResultUnfit { path, reason } => write!(
                f,
                "tool `{tool}` returned a result that does not match its output schema, at `{path}`: {reason}"
            ),
        }
    }
}
