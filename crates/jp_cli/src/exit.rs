//! Exit codes: the one list of them.

use std::process::ExitCode;

use jp_llm::tool::ErrorKind;

/// How the command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done,
    /// The tool said no, or a check found something.
    SaidNo,
    /// The command line or the configuration is wrong.
    Usage,
    /// The tool asked a question nobody has answered.
    NeedsInput,
    /// The time limit was reached.
    TimeLimit,
    /// This program failed.
    HostFailure,
    /// It was not allowed.
    Denied,
    /// There is no such tool.
    NotFound,
    /// The person at the keyboard stopped it.
    Cancelled,
    /// The tool trapped or reached another limit.
    Stopped,
    /// What a script of `jp bash` ended with.
    Script(u8),
}

impl Exit {
    /// Returns the number.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::SaidNo => 1,
            Self::Usage => 2,
            Self::NeedsInput => 3,
            Self::TimeLimit => 124,
            Self::HostFailure => 125,
            Self::Denied => 126,
            Self::NotFound => 127,
            Self::Cancelled => 130,
            Self::Stopped => 134,
            Self::Script(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
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
