//! Why a value of a configuration cannot be read, in the words that an error shows behind its key.

use jp_policy::DeclaredError;

use crate::{
    capabilities::{MAX_NAMES, MAX_STATEMENTS},
    tooling::{MAX_SIGNATURE, MAX_VERSIONS, not_an_id},
};

/// Why a value cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ValueError {
    /// It has another form.
    #[error("expected {expected}, found {found}")]
    Form {
        /// What it may be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// It has the right form and another content.
    #[error("expected {expected}")]
    Content {
        /// What it may be.
        expected: &'static str,
    },
    /// A key is missing. The words are those of serde, which the search for the place of an error knows.
    #[error("missing field `{field}`")]
    Missing {
        /// Which key.
        field: &'static str,
    },
    /// It is a table with other keys or values.
    #[error(transparent)]
    Table(#[from] serde_json::Error),
    /// A command opens a quote and does not close it.
    #[error("unclosed quote in the command: {line}")]
    UnclosedQuote {
        /// The command.
        line: String,
    },
    /// A command has no program.
    #[error("empty command")]
    EmptyCommand,
    /// A command has a byte that no program can be given.
    #[error("invalid command: it has a NUL byte")]
    NulInCommand,
    /// A tool's id is not one.
    #[error("{}", not_an_id(id))]
    ToolId {
        /// The id.
        id: String,
    },
    /// A text that says which versions will do is too long.
    #[error("version too long: expected at most {MAX_VERSIONS} bytes")]
    LongVersion,
    /// A text that says which versions will do does not say so.
    #[error(
        "invalid version `{}`: {source}; expected one such as `1.2.0`, or a range such as `1.2`, `^1` or `*`",
        jp_text::inline(text)
    )]
    Version {
        /// The text.
        text: String,
        /// What is wrong with it.
        source: semver::Error,
    },
    /// A tool is of a registry and of the app.
    #[error(
        "a tool of a registry has `id`, `version` and `registry`, one of the app's own has `path`, `manifest` and a signature; this has some of both"
    )]
    TwoKinds,
    /// A tool has two signatures.
    #[error("has a `signature` and a `signature_file`; keep one")]
    TwoSignatures,
    /// A signature is empty or too long.
    #[error("a signature has 1 to {MAX_SIGNATURE} bytes")]
    SignatureSize,
    /// Too many layers say what the app's tools may do.
    #[error(
        "too many files with `[capabilities]`: expected at most {MAX_STATEMENTS}, found {found}"
    )]
    ManyStatements {
        /// How many do.
        found: usize,
    },
    /// Too many names of one kind are allowed.
    #[error("too many names in `{key}`: expected at most {MAX_NAMES}")]
    ManyNames {
        /// Of which kind.
        key: &'static str,
    },
    /// Capabilities are declared that nobody can have.
    #[error(transparent)]
    Capabilities(#[from] DeclaredError),
}

impl ValueError {
    /// Says what a value may be, where it is something else.
    pub(crate) fn form(expected: &'static str, found: &serde_json::Value) -> Self {
        Self::Form {
            expected,
            found: crate::scalar::describe(found),
        }
    }

    /// Says what a value may be, where it is of the right form.
    pub(crate) const fn content(expected: &'static str) -> Self {
        Self::Content { expected }
    }
}
