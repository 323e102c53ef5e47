//! The causes of errors: each stands in the world it belongs to.

use std::{error::Error, fmt};

use super::{HostError, Misconfigured, Refused, Stop, Ungrantable, World};
use crate::registry::SignedProblem;

/// Why a call produced no outcome.
#[derive(Debug)]
pub enum Cause {
    /// There is no such tool.
    Missing(Missing),
    /// The configuration, a file of the workspace or the call itself is wrong.
    Misconfigured(Misconfigured),
    /// The tool asks for what cannot be granted.
    Ungrantable(Ungrantable),
    /// It was not allowed.
    Refused(Refused),
    /// A signed tool cannot be used as it is.
    Signed(SignedProblem),
    /// The tool was stopped, or its answer is invalid.
    Stopped(Stop),
    /// The program of a tool could not be started.
    Spawn {
        /// The command.
        command: String,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
    /// This host failed; the tool is not to blame.
    Host(HostError),
}

/// There is no such tool.
#[derive(Debug, thiserror::Error)]
pub enum Missing {
    /// No tool has this name.
    #[error("Tool not found: {name}")]
    NotFound {
        /// The name, and more where more is known.
        name: String,
    },
    /// The configuration names a builtin that does not exist.
    #[error("Unknown builtin tool: {0}")]
    UnknownBuiltin(String),
}

impl Cause {
    /// Makes the cause of a program that could not be started.
    pub fn spawn(
        command: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::Spawn {
            command: command.into(),
            source: source.into(),
        }
    }

    /// Returns the world it belongs to.
    #[must_use]
    pub const fn world(&self) -> World {
        match self {
            Self::Missing(_) => World::NotFound,
            Self::Misconfigured(_) => World::Misconfigured,
            Self::Ungrantable(_) => World::Ungrantable,
            Self::Refused(_) => World::Refused,
            Self::Signed(problem) => problem.world(),
            Self::Stopped(stop) => stop.world(),
            Self::Spawn { .. } | Self::Host(_) => World::Host,
        }
    }

    /// Writes what is printed of it.
    pub(super) fn tell(&self, tool: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(missing) => write!(f, "{missing}"),
            Self::Misconfigured(wrong) => wrong.tell(tool, f),
            Self::Ungrantable(asked) => write!(f, "tool `{tool}` was refused: {asked}"),
            Self::Refused(refused) => refused.tell(tool, f),
            Self::Signed(problem) => write!(f, "tool `{tool}` cannot be used: {problem}"),
            Self::Stopped(stop) => stop.tell(tool, f),
            Self::Spawn { command, source } => {
                write!(f, "Failed to spawn command: {command}: {source}")
            }
            Self::Host(error) => write!(f, "the host failed while running `{tool}`: {error}"),
        }
    }

    /// Returns the error that it came from, if it came from one.
    pub(super) fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Missing(_) | Self::Stopped(_) => None,
            Self::Misconfigured(wrong) => wrong.source(),
            Self::Ungrantable(asked) => Some(asked),
            Self::Refused(refused) => refused.source(),
            Self::Signed(problem) => Some(problem),
            Self::Spawn { source, .. } => Some(&**source),
            Self::Host(error) => Some(error),
        }
    }
}

impl From<Missing> for Cause {
    fn from(missing: Missing) -> Self {
        Self::Missing(missing)
    }
}

impl From<Misconfigured> for Cause {
    fn from(wrong: Misconfigured) -> Self {
        Self::Misconfigured(wrong)
    }
}

impl From<Ungrantable> for Cause {
    fn from(asked: Ungrantable) -> Self {
        Self::Ungrantable(asked)
    }
}

impl From<Refused> for Cause {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<Stop> for Cause {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

impl From<HostError> for Cause {
    fn from(error: HostError) -> Self {
        Self::Host(error)
    }
}
