//! Why a command failed: the message, the exit code and the way out.

use std::{io, path::PathBuf};

use jp_audit::AuditError;
use jp_config::{ConfigError, Problem};
use jp_llm::{ToolError, TrustError, broker::McpError};

use crate::exit::Exit;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// The command line asks for something that makes no sense.
    #[error("{message}")]
    Usage {
        message: String,
        hint: Option<String>,
    },
    /// The configuration is wrong.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// The user's policy cannot be had.
    #[error("policy.limits: {reason}")]
    Policy { reason: String },
    /// A tool could not be found or run.
    #[error("{0}")]
    Tool(#[from] ToolError),
    /// The trust file cannot be used.
    #[error("{0}")]
    Trust(#[from] TrustError),
    /// The audit log cannot be used.
    #[error("{0}")]
    Audit(#[from] AuditError),
    /// An MCP server does not answer.
    #[error("{0}")]
    Server(McpError),
    /// The database or the secrets cannot be used.
    #[error("{reason}")]
    Broker { reason: String },
    /// Something of the system failed.
    #[error("{what}: {source}")]
    System { what: String, source: io::Error },
    /// A directory of the user is needed and cannot be told.
    #[error("neither {variable} nor HOME is set, so there is no {what} directory")]
    NoHome {
        variable: &'static str,
        what: &'static str,
    },
}

impl CliError {
    /// Makes an error about the command line.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage {
            message: message.into(),
            hint: None,
        }
    }

    /// Makes an error of the database or the secrets.
    pub(crate) fn broker(reason: impl ToString) -> Self {
        Self::Broker {
            reason: reason.to_string(),
        }
    }

    /// Makes an error of the system about a path.
    pub(crate) fn at(what: &str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::System {
            what: format!("{what} {}", path.into().display()),
            source,
        }
    }

    /// Returns the exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Usage { .. } | Self::Config(_) | Self::Policy { .. } => Exit::Usage,
            Self::Tool(error) => error.kind().into(),
            Self::Server(McpError::Refused { .. }) => Exit::Denied,
            Self::Trust(_)
            | Self::Audit(_)
            | Self::Broker { .. }
            | Self::Server(_)
            | Self::System { .. }
            | Self::NoHome { .. } => Exit::HostFailure,
        }
    }

    /// Returns what to do about it.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Usage { hint, .. } => hint.clone(),
            Self::Config(ConfigError {
                problem: Problem::OutsideUser { .. },
                ..
            }) => {
                Some("`jp config set --user KEY=VALUE` changes your own configuration".to_owned())
            }
            Self::Tool(error) => error.hint(),
            _ => None,
        }
    }
}
