//! The worlds of errors, and the one table of what is made of each.

use jp_audit::OutcomeKind;

/// The world that a cause belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    /// There is no such tool.
    NotFound,
    /// The configuration, a file of the workspace or the call itself is wrong.
    Misconfigured,
    /// The tool asks for what cannot be granted.
    Ungrantable,
    /// It was not allowed.
    Refused,
    /// The time limit was reached.
    Time,
    /// Another limit was reached.
    Limit,
    /// The guest trapped, or its answer is invalid.
    Trapped,
    /// This host failed.
    Host,
}

/// What is made of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Its kind, as fronts tell errors apart.
    pub kind: ErrorKind,
    /// How the log says that the call ended.
    pub outcome: OutcomeKind,
    /// The exit code of a command that made the call.
    pub exit: u8,
    /// How a client of MCP is answered.
    pub mcp: McpAnswer,
}

/// How a client of MCP is answered: with what a model can read, or with an error of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpAnswer {
    /// A result with `isError: true` and the text of the error.
    Result,
    /// An error of JSON-RPC with this code.
    Protocol(i32),
}

/// The number JSON-RPC has for parameters that do not fit; the protocol wants it for unknown tools.
const INVALID_PARAMS: McpAnswer = McpAnswer::Protocol(-32602);

/// The number JSON-RPC has for a server that failed.
const INTERNAL_ERROR: McpAnswer = McpAnswer::Protocol(-32603);

impl World {
    /// Says what is made of an error of this world: the one table of it.
    #[must_use]
    pub const fn verdict(self) -> Verdict {
        use ErrorKind::{Configuration, Denied, Host, NotFound, Stopped, Time};
        use McpAnswer::Result;
        use OutcomeKind as Log;
        let (kind, outcome, exit, mcp) = match self {
            Self::NotFound => (NotFound, Log::Invalid, 127, INVALID_PARAMS),
            Self::Misconfigured => (Configuration, Log::Invalid, 2, Result),
            Self::Ungrantable => (Configuration, Log::Denied, 2, Result),
            Self::Refused => (Denied, Log::Denied, 126, Result),
            Self::Time => (Time, Log::Limit, 124, Result),
            Self::Limit => (Stopped, Log::Limit, 134, Result),
            Self::Trapped => (Stopped, Log::Trap, 134, Result),
            Self::Host => (Host, Log::HostFailure, 125, INTERNAL_ERROR),
        };
        Verdict {
            kind,
            outcome,
            exit,
            mcp,
        }
    }
}

/// The kinds of errors that fronts tell apart.
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
    /// Another limit was reached, the guest trapped, or its answer is invalid.
    Stopped,
    /// This host failed.
    Host,
}

impl ErrorKind {
    /// Returns the word for it in documents for programs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Configuration => "configuration",
            Self::Denied => "denied",
            Self::Time => "time",
            Self::Stopped => "stopped",
            Self::Host => "host",
        }
    }
}
