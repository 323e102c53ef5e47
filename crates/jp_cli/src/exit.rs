//! Exit codes: the one list of them. What tools fail with too has the code that the table of `jp_llm`'s
//! worlds of errors gives it.

use std::process::ExitCode;

use jp_llm::tool::{Verdict, World};

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
    /// This program failed.
    HostFailure,
    /// It was not allowed.
    Denied,
    /// There is no such tool.
    NotFound,
    /// The person at the keyboard stopped it.
    Cancelled,
    /// A call of a tool failed: what the table of errors has for its cause.
    Failed(u8),
    /// What a script of `jp bash` ended with.
    Script(u8),
}

impl Exit {
    /// Returns the number.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::SaidNo => 1,
            Self::Usage => World::Misconfigured.verdict().exit,
            Self::NeedsInput => 3,
            Self::HostFailure => World::Host.verdict().exit,
            Self::Denied => World::Refused.verdict().exit,
            Self::NotFound => World::NotFound.verdict().exit,
            Self::Cancelled => 130,
            Self::Failed(code) | Self::Script(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

impl From<Verdict> for Exit {
    fn from(verdict: Verdict) -> Self {
        Self::Failed(verdict.exit)
    }
}
