//! Why a manifest is refused. Every text of a stranger is shortened and escaped before it is in here.

use jp_policy::{DeclaredError, LimitError};

/// Why a manifest is refused, and where in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ManifestError {
    /// The manifest is too large to be checked.
    #[error("the manifest has more than {most} {what}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much is allowed.
        most: usize,
    },
    /// A key is unknown.
    #[error("at `{path}`: unknown key; {hint}")]
    UnknownKey {
        /// Where the key is.
        path: String,
        /// The nearest known key, or all of them.
        hint: String,
    },
    /// Something is missing or of the wrong kind.
    #[error("at `{path}`: {problem}")]
    Shape {
        /// Where it is.
        path: String,
        /// What is wrong.
        problem: String,
    },
    /// A value is of the right kind, but invalid.
    #[error("at `{path}`: {problem}")]
    Value {
        /// Where the value is.
        path: String,
        /// What is wrong with it, and what to write.
        problem: String,
    },
    /// A text is too long, or holds invisible characters.
    #[error("at `{path}`: {problem}")]
    Text {
        /// Where the text is.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The capabilities are invalid.
    #[error("at `/wasi_imports`: {source}")]
    Capabilities {
        /// Which one and why.
        source: DeclaredError,
    },
    /// The limits are invalid.
    #[error("at `/limits`: {source}")]
    Limits {
        /// Which one and why.
        source: LimitError,
    },
    /// A schema is invalid, or cannot be checked safely.
    #[error("at `{path}`: {problem}")]
    Schema {
        /// Where in the manifest.
        path: String,
        /// What is wrong.
        problem: String,
    },
}

impl ManifestError {
    /// Returns the error for an invalid value.
    pub(crate) fn value(path: &str, problem: impl ToString) -> Self {
        Self::Value {
            path: path.to_owned(),
            problem: problem.to_string(),
        }
    }

    /// Returns the error for a refused schema.
    pub(crate) fn schema(path: &str, problem: impl ToString) -> Self {
        Self::Schema {
            path: path.to_owned(),
            problem: problem.to_string(),
        }
    }
}
