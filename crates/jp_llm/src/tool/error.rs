//! Why a call produced no outcome. The texts of the first block are part of the contract.

use jp_policy::{Denied, Limit};

/// What a tool printed before it was stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Printed {
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

/// Why a call produced no outcome. A tool that says no has an outcome; that is no error.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// No tool has this name.
    #[error("Tool not found: {name}")]
    NotFound {
        /// The name.
        name: String,
    },
    /// The tool is turned off.
    #[error("Disabled in configuration")]
    Disabled,
    /// A local tool has neither `wasm` nor `command`.
    #[error("Command missing for local tool")]
    CommandMissing,
    /// The configuration names a builtin that does not exist.
    #[error("Unknown builtin tool: {0}")]
    UnknownBuiltin(String),
    /// A file of the workspace has the name of a builtin, and nobody said which of them is meant.
    #[error("there is a builtin `{name}`, and a file {path} of that name")]
    Shadowed {
        /// The name.
        name: String,
        /// The file.
        path: String,
    },
    /// Wasm compilation failed.
    #[error("Failed to compile Wasm component: {0}")]
    WasmCompilation(String),
    /// Wasm instantiation failed.
    #[error("Failed to instantiate Wasm component: {0}")]
    WasmInstantiation(String),
    /// Wasm execution trapped.
    #[error("Wasm tool trapped: {0}")]
    WasmTrap(String),
    /// Wasm binary not found at the configured path.
    #[error("Wasm binary not found: {path}")]
    WasmNotFound {
        /// Where it was looked for.
        path: String,
    },
    /// The path of the Wasm binary is not one this workspace may use.
    #[error("Wasm binary refused: {reason}")]
    WasmRefused {
        /// Why.
        reason: String,
    },
    /// The Wasm binary is not the one the user trusted.
    #[error("Wasm binary changed since you trusted it: {path}")]
    WasmChanged {
        /// Which file.
        path: String,
    },
    /// The command could not be started.
    #[error("Failed to spawn command: {command}: {reason}")]
    Spawn {
        /// The command.
        command: String,
        /// Why.
        reason: String,
    },
    /// A template of the command could not be filled in.
    #[error("Template error: {0}")]
    Template(String),
    /// This host has no client for MCP servers.
    #[error("Failed to run tool from MCP client: this host starts no servers (server `{server}`)")]
    McpUnavailable {
        /// The server's id.
        server: String,
    },

    /// The policy does not allow what the tool needs.
    #[error("tool `{tool}` was denied: {denied}")]
    Denied {
        /// The tool's id.
        tool: String,
        /// What is missing, and on whose side.
        denied: Denied,
        /// Whether the workspace is one the user has not trusted.
        untrusted: bool,
    },
    /// The tool reached for something no guest is given.
    #[error("tool `{tool}` asked for {capability}, which the policy does not grant")]
    Reached {
        /// The tool's id.
        tool: String,
        /// What it reached for.
        capability: String,
    },
    /// A person would have to agree, and there is nobody to ask.
    #[error("tool `{tool}` needs your approval, and there is no terminal to ask on")]
    NotApproved {
        /// The tool's id.
        tool: String,
    },
    /// The system cannot confine a command, and the policy does not allow running it bare.
    #[error("tool `{tool}` was refused: {reason}")]
    Unconfinable {
        /// The tool's id.
        tool: String,
        /// What the system lacks.
        reason: String,
    },
    /// The tool used all of something it had a limit on.
    #[error("tool `{tool}` ran out of {limit} (limit: {allowed})")]
    LimitReached {
        /// The tool's id.
        tool: String,
        /// Of what.
        limit: Limit,
        /// How much it had.
        allowed: String,
        /// What it printed until then.
        printed: Box<Printed>,
    },
    /// The tool asked more questions than anybody would answer.
    #[error(
        "tool `{tool}` asked more than {} questions, or one that was answered before",
        crate::MAX_QUESTIONS
    )]
    TooManyQuestions {
        /// The tool's id.
        tool: String,
    },
    /// This host failed; the tool is not to blame.
    #[error("the host failed while running `{tool}`: {reason}")]
    Host {
        /// The tool's id.
        tool: String,
        /// What failed.
        reason: String,
    },
}

/// The worlds of errors that fronts tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// There is no such tool.
    NotFound,
    /// The configuration is wrong.
    Configuration,
    /// It was not allowed.
    Denied,
    /// The time limit was reached.
    Time,
    /// Another limit was reached, or the guest trapped.
    Stopped,
    /// This host failed.
    Host,
}

impl ToolError {
    /// Returns which world the error belongs to.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::NotFound { .. } | Self::UnknownBuiltin(_) => ErrorKind::NotFound,
            Self::Disabled
            | Self::CommandMissing
            | Self::Shadowed { .. }
            | Self::WasmCompilation(_)
            | Self::WasmInstantiation(_)
            | Self::WasmNotFound { .. }
            | Self::WasmRefused { .. }
            | Self::Template(_)
            | Self::McpUnavailable { .. } => ErrorKind::Configuration,
            Self::Denied { .. }
            | Self::Reached { .. }
            | Self::NotApproved { .. }
            | Self::WasmChanged { .. }
            | Self::Unconfinable { .. } => ErrorKind::Denied,
            Self::LimitReached {
                limit: Limit::Time, ..
            } => ErrorKind::Time,
            Self::LimitReached { .. } | Self::WasmTrap(_) | Self::TooManyQuestions { .. } => {
                ErrorKind::Stopped
            }
            Self::Spawn { .. } | Self::Host { .. } => ErrorKind::Host,
        }
    }

    /// Returns what to do about it: the line to add or the command to type.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotFound { .. } => Some("`jp tool list` shows the tools there are".to_owned()),
            Self::Disabled => Some("set `enable = true` for the tool".to_owned()),
            Self::CommandMissing => Some(
                "add `wasm = \".jp/tools/NAME.wasm\"` or `command = \"…\"` to the tool".to_owned(),
            ),
            Self::Shadowed { name, path } => Some(format!(
                "say which one is meant: `source = \"builtin\"` under `[conversation.tools.{name}]`, or \
                 `source = \"local\"` and `wasm = \"{path}\"`"
            )),
            Self::Denied { untrusted: true, denied: Denied::ByApp { .. }, .. } => {
                Some("if you know what this workspace does, run `jp trust` in it".to_owned())
            }
            Self::Denied { denied, .. } => denied
                .setting()
                .map(|line| format!("add `{line}` under `[policy]` in your own configuration")),
            Self::NotApproved { tool } => Some(format!(
                "run it in a terminal, approve this call with `jp tool run --yes {tool} …`, or set \
                 `run = \"unattended\"` for it in a workspace you trust"
            )),
            Self::Unconfinable { .. } => Some(
                "`unconfined = true` under `[policy]` in your own configuration runs commands with \
                 the full authority of your user"
                    .to_owned(),
            ),
            Self::LimitReached { limit: Limit::OpenFiles, .. } => None,
            Self::LimitReached { tool, limit, .. } => Some(format!(
                "raise it with `limits.{}` under `[conversation.tools.{tool}]`",
                limit.key()
            )),
            Self::WasmNotFound { .. } => Some("build the tool, or correct its `wasm` path".to_owned()),
            Self::WasmChanged { .. } => {
                Some("look at the change, then run `jp trust` in the workspace again".to_owned())
            }
            Self::WasmInstantiation(_) | Self::WasmCompilation(_) => {
                Some("`jp tool check FILE.wasm` says what the file is and what it lacks".to_owned())
            }
            _ => None,
        }
    }
}
