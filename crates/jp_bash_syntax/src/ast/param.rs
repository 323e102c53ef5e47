//! `$x` and `${…}`: which parameter is meant, and what is made of its value.

use super::{Arith, Subscript, Text, Word};
use crate::names::Name;

/// `$x`, `${…}`.
#[derive(Debug, Clone)]
pub struct Param {
    /// Which parameter.
    pub target: ParamTarget,
    /// Which element of it.
    pub subscript: Option<Subscript>,
    /// `${!x}`: the value names the parameter.
    pub indirect: bool,
    /// What is made of its value.
    pub op: ParamOp,
    /// The inside of the braces as written, for "bad substitution" and printing; empty for `$x`.
    pub text: Text,
}

/// Which parameter is meant.
#[derive(Debug, Clone)]
pub enum ParamTarget {
    /// A variable.
    Name(Name),
    /// `$1`, `${10}`
    Position(u32),
    /// `@ * # ? - $ ! _`(`_` is a Name) and `0` is `Position(0)`.
    Special(u8),
}

/// What `${…}` makes of a value.
#[derive(Debug, Clone)]
pub enum ParamOp {
    /// Nothing.
    None,
    /// `${#x}`
    Length,
    /// `${!prefix*}` (`false`) and `${!prefix@}` (`true`); the prefix is the target's name.
    Prefix {
        /// It is `@`.
        at: bool,
    },
    /// `${!a[@]}`, `${!a[*]}`
    Keys,
    /// `:-` and `-`; `colon` also counts an empty value.
    Default {
        /// An empty value counts as unset.
        colon: bool,
        /// What stands in for it.
        word: Word,
    },
    /// `:=` and `=`
    AssignDefault {
        /// An empty value counts as unset.
        colon: bool,
        /// What is assigned.
        word: Word,
    },
    /// `:?` and `?`; `None` when nothing was written.
    Error {
        /// An empty value counts as unset.
        colon: bool,
        /// The message.
        word: Option<Word>,
    },
    /// `:+` and `+`
    Alternative {
        /// An empty value counts as unset.
        colon: bool,
        /// What is put in its place.
        word: Word,
    },
    /// `${x:offset:length}`
    Substring {
        /// Where it starts.
        offset: Arith,
        /// How long it is.
        length: Option<Arith>,
    },
    /// `#` `##`
    RemovePrefix {
        /// As much as matches is removed.
        longest: bool,
        /// What is removed.
        pattern: Word,
    },
    /// `%` `%%`
    RemoveSuffix {
        /// As much as matches is removed.
        longest: bool,
        /// What is removed.
        pattern: Word,
    },
    /// `/` `//` `/#` `/%`
    Replace {
        /// Which matches.
        how: Replace,
        /// What is replaced.
        pattern: Word,
        /// What is put there.
        with: Word,
    },
    /// `^` `^^` `,` `,,` `~` `~~`
    Case {
        /// Which case.
        how: CaseOp,
        /// All characters, and not only the first.
        all: bool,
        /// The characters that are changed; `None` means any.
        pattern: Option<Word>,
    },
    /// `@Q @E @P @A @a @K @k @U @u @L`
    Transform(u8),
    /// Not a valid expansion: an error when it runs ("bad substitution"), as in bash.
    Bad,
}

/// Which matches are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replace {
    /// `/`
    First,
    /// `//`
    All,
    /// `/#`
    Start,
    /// `/%`
    End,
}

/// How letters are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseOp {
    /// `^`
    Upper,
    /// `,`
    Lower,
    /// `~`
    Toggle,
}
