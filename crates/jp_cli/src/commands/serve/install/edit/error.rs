//! Why a text was not edited.

use std::fmt;

use crate::text;

/// A line and a column of a text, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Place {
    line: usize,
    column: usize,
}

impl Place {
    /// Finds the place of a byte.
    pub(super) fn of(text: &str, at: usize) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before.get(start..).map_or(0, |line| line.chars().count()) + 1,
        }
    }

    /// Makes the place of a line, counted from 0.
    pub(super) const fn line(index: usize) -> Self {
        Self {
            line: index + 1,
            column: 1,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}, column {}", self.line, self.column)
    }
}

/// Why a text was not edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in super::super) enum EditError {
    /// It is not in the format it should be in.
    #[error("{place}: expected {expected}, found {}", text::escape_line(.found))]
    Syntax {
        place: Place,
        expected: &'static str,
        found: String,
    },
    /// A reader of TOML says what is wrong.
    #[error("{place}: {}", text::escape_line(.message))]
    Toml { place: Place, message: String },
    /// Two values have the same key, and readers disagree which one counts.
    #[error("{place}: duplicate key `{}`", text::start(.key, 60))]
    Duplicate { place: Place, key: String },
    /// Its values are nested too deep.
    #[error("{place}: values nested deeper than 128 levels")]
    Deep { place: Place },
    /// It has more values than any configuration.
    #[error("{place}: more than 500000 values")]
    Many { place: Place },
    /// Something on the way to the entry is not what holds one.
    #[error("invalid `{}`: expected an object, found {found}", text::start(.key, 60))]
    Kind { key: String, found: &'static str },
    /// It is written in a way that is not edited.
    #[error("{place}: cannot edit {what} in place")]
    Unusual { place: Place, what: &'static str },
    /// Somebody else's entry has the name.
    #[error("there is an entry `{}` already that does not start jp", text::start(.name, 60))]
    Taken { name: String },
    /// What was made of it does not say what was meant.
    #[error("cannot edit the file in place: the result would not read back as meant")]
    Unverified,
}
