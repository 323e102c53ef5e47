//! What can be wrong with a pattern, in glibc's words, and why a search gave up.

use jp_bash_system::{Limit, Stop};

/// Why a pattern was refused. The texts are those of `regerror`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegexError {
    /// `REG_BADPAT`
    #[error("Invalid regular expression")]
    Invalid,
    /// `REG_ECOLLATE`
    #[error("Invalid collation character")]
    Collation,
    /// `REG_ECTYPE`
    #[error("Invalid character class name")]
    ClassName,
    /// `REG_EESCAPE`
    #[error("Trailing backslash")]
    TrailingBackslash,
    /// `REG_ESUBREG`
    #[error("Invalid back reference")]
    BackReference,
    /// `REG_EBRACK`
    #[error("Unmatched [, [^, [:, [., or [=")]
    UnmatchedBracket,
    /// `REG_EPAREN`
    #[error("Unmatched ( or \\(")]
    UnmatchedOpen,
    /// `REG_ERPAREN`
    #[error("Unmatched ) or \\)")]
    UnmatchedClose,
    /// `REG_EBRACE`
    #[error("Unmatched \\{{")]
    UnmatchedBrace,
    /// `REG_BADBR`
    #[error("Invalid content of \\{{\\}}")]
    Interval,
    /// `REG_ERANGE`
    #[error("Invalid range end")]
    RangeEnd,
    /// `REG_BADRPT`
    #[error("Invalid preceding regular expression")]
    Preceding,
    /// `REG_ESIZE`
    #[error("Regular expression too big")]
    TooBig,
    /// What GNU `grep` says of a class without its outer brackets.
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
pub enum MatchError {
    /// The pattern needs more steps or memory for this text than one search may take.
    #[error("the regular expression takes too many steps on this text")]
    TooManySteps,
    /// The run ends.
    #[error(transparent)]
    Stop(#[from] Stop),
}

impl MatchError {
    /// Returns how the run ends, for callers that cannot go on without an answer.
    pub fn into_stop(self) -> Stop {
        match self {
            Self::TooManySteps => Stop::Limit(Limit::Loops),
            Self::Stop(stop) => stop,
        }
    }
}
