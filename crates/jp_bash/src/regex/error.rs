//! What can be wrong with a pattern, in glibc's words, and why a search gave up.

use jp_bash_system::{Limit, Stop};

/// Why a pattern was refused. The texts are those of `regerror`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RegexError {
    #[error("Invalid regular expression")]
    Invalid,
    #[error("Invalid collation character")]
    Collation,
    #[error("Invalid character class name")]
    ClassName,
    #[error("Trailing backslash")]
    TrailingBackslash,
    #[error("Invalid back reference")]
    BackReference,
    #[error("Unmatched [, [^, [:, [., or [=")]
    UnmatchedBracket,
    #[error("Unmatched ( or \\(")]
    UnmatchedOpen,
    #[error("Unmatched ) or \\)")]
    UnmatchedClose,
    #[error("Unmatched \\{{")]
    UnmatchedBrace,
    #[error("Invalid content of \\{{\\}}")]
    Interval,
    #[error("Invalid range end")]
    RangeEnd,
    #[error("Invalid preceding regular expression")]
    Preceding,
    #[error("Regular expression too big")]
    TooBig,
    #[error("character class syntax is [[:space:]], not [:space:]")]
    ClassSyntax,
    /// A Perl pattern: the text is ours.
    #[error("{0}")]
    Perl(String),
    /// The run ends while the pattern is compiled.
    #[error(transparent)]
    Stop(#[from] Stop),
}

/// Why a search gave no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MatchError {
    /// The pattern needs more steps or memory for this text than one search may take.
    #[error("the regular expression takes too many steps on this text")]
    TooManySteps,
    /// The run ends.
    #[error(transparent)]
    Stop(#[from] Stop),
}

impl MatchError {
    /// Returns how the run ends, for callers that cannot go on without an answer.
    pub(crate) fn into_stop(self) -> Stop {
        match self {
            Self::TooManySteps => Stop::Limit(Limit::Loops),
            Self::Stop(stop) => stop,
        }
    }
}
