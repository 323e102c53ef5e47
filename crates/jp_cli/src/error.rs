//! Why a command failed: the message, the exit code and the way out.

use std::{io, path::PathBuf};

use jp_audit::AuditError;
use jp_config::{ConfigError, Problem};
use jp_host::OpenError;
use jp_llm::{ToolError, TrustError, broker::McpError};

use jp_publish::PublishError;
use jp_registry::{FetchError, InstallError};

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
    /// A tool of a registry cannot be had.
    #[error("{message}")]
    Registry {
        message: String,
        hint: Option<String>,
        exit: Exit,
    },
    /// What a script changed could not be written to this machine.
    #[error("{message}")]
    Apply {
        message: String,
        hint: Option<String>,
    },
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

impl From<OpenError> for CliError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Config(error) => Self::Config(error),
            OpenError::Trust(error) => Self::Trust(error),
            OpenError::Approvals(error) => Self::System {
                what: "cannot use your approvals".to_owned(),
                source: io::Error::other(error),
            },
            OpenError::Audit(error) => Self::Audit(error),
            OpenError::Install(error) => Self::install(error),
            OpenError::Registry(error) => Self::registry(error),
            OpenError::NoHome { variable, what } => Self::NoHome { variable, what },
            OpenError::Policy(error) => Self::Policy {
                reason: error.to_string(),
            },
            OpenError::Keyring { .. }
            | OpenError::Directory { .. }
            | OpenError::ConfigDir { .. }
            | OpenError::OwnPaths { .. } => Self::usage(error.to_string()),
        }
    }
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

    /// Makes an error about registries, keys or the lock file.
    pub(crate) fn registry(error: impl ToString) -> Self {
        Self::Registry {
            message: error.to_string(),
            hint: None,
            exit: Exit::HostFailure,
        }
    }

    /// Makes the error of a change to a registry: most are mistakes of the user who changes it.
    #[expect(clippy::needless_pass_by_value, reason = "the shape `map_err` takes")]
    pub(crate) fn publish(error: PublishError) -> Self {
        Self::Registry {
            message: error.to_string(),
            hint: error.hint(),
            exit: match error {
                PublishError::Io { .. } | PublishError::Read(_) => Exit::HostFailure,
                PublishError::VersionTaken { .. } => Exit::SaidNo,
                _ => Exit::Usage,
            },
        }
    }

    /// Makes an error of something that was not installed.
    pub(crate) fn install(error: InstallError) -> Self {
        Self::Registry {
            message: error.to_string(),
            hint: error.hint(),
            exit: exit_of(&error),
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
            Self::Tool(error) => error.verdict().into(),
            Self::Registry { exit, .. } => *exit,
            Self::Server(McpError::Refused { .. }) => Exit::Denied,
            Self::Server(McpError::Cancelled) => Exit::Cancelled,
            Self::Trust(_)
            | Self::Audit(_)
            | Self::Broker { .. }
            | Self::Apply { .. }
            | Self::Server(_)
            | Self::System { .. }
            | Self::NoHome { .. } => Exit::HostFailure,
        }
    }

    /// Returns what to do about it.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Usage { hint, .. } | Self::Registry { hint, .. } | Self::Apply { hint, .. } => {
                hint.clone()
            }
            Self::Config(ConfigError {
                problem: Problem::OutsideUser { .. },
                ..
            }) => {
                Some("`jp config set --user KEY=VALUE` changes your own configuration".to_owned())
            }
            Self::Tool(error) => error.hint().map(str::to_owned),
            _ => None,
        }
    }
}

/// A refusal is not the same as a failure.
const fn exit_of(error: &InstallError) -> Exit {
    match error {
        InstallError::Verify(_)
        | InstallError::List { .. }
        | InstallError::Future { .. }
        | InstallError::Taken { .. }
        | InstallError::Unsatisfiable { .. }
        | InstallError::Unbacked { .. }
        | InstallError::Revoked { .. }
        | InstallError::Stopped { .. }
        | InstallError::StoppedPin { .. }
        | InstallError::OtherKind { .. }
        | InstallError::Locked { .. }
        | InstallError::Differs { .. } => Exit::Denied,
        InstallError::Fetch(FetchError::Cancelled) => Exit::Cancelled,
        InstallError::Name(_)
        | InstallError::Lock { .. }
        | InstallError::UnknownRegistry { .. }
        | InstallError::Ambiguous { .. }
        | InstallError::NoVersions { .. }
        | InstallError::Brought { .. }
        | InstallError::Unfit { .. } => Exit::Usage,
        InstallError::UnknownTool { .. }
        | InstallError::UnknownVersion { .. }
        | InstallError::NoneFits { .. }
        | InstallError::NotLocked { .. } => Exit::NotFound,
        _ => Exit::HostFailure,
    }
}

impl From<InstallError> for CliError {
    fn from(error: InstallError) -> Self {
        Self::install(error)
    }
}
