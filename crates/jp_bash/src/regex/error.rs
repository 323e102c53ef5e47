//! What can be wrong with a pattern, in glibc's words, and why a search gave up.

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
}

/// Why a search gave no answer: the pattern needs more steps or memory for this text than we spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the regular expression takes too many steps on this text")]
pub(crate) struct MatchError;
