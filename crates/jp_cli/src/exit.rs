//! Exit codes: the one list of them.

use std::process::ExitCode;

use jp_llm::tool::ErrorKind;

/// How the command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// The tool said no, or a check found something.
    SaidNo = 1,
    /// The command line or the configuration is wrong.
    Usage = 2,
    /// The tool asked a question nobody has answered.
    NeedsInput = 3,
    /// The time limit was reached.
    TimeLimit = 124,
    /// This program failed.
    HostFailure = 125,
    /// It was not allowed.
    Denied = 126,
    /// There is no such tool.
    NotFound = 127,
    /// The person at the keyboard stopped it.
    Cancelled = 130,
    /// The tool trapped or reached another limit.
    Stopped = 134,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl From<ErrorKind> for Exit {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::NotFound => Self::NotFound,
            ErrorKind::Configuration => Self::Usage,
            ErrorKind::Denied => Self::Denied,
            ErrorKind::Time => Self::TimeLimit,
            ErrorKind::Stopped => Self::Stopped,
            ErrorKind::Host => Self::HostFailure,
        }
    }
}
