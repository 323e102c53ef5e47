//! JSON that two readers cannot read differently: one value for each text, one text for each value.
//!
//! [`parse`] takes JSON with comments and refuses what readers disagree about (keys that are there
//! twice, numbers that lose digits, half characters). [`canonical`] writes the one form of RFC 8785
//! that is hashed and signed. It knows nothing of what the documents say.

mod canonical;
mod number;
mod scan;
mod strict;
#[cfg(test)]
mod tests;

use serde_json::Value;

pub(crate) use canonical::canonical;

use crate::Digest;

/// Documents nested deeper are refused.
pub(crate) const MAX_DEPTH: usize = 64;

/// Why bytes are not a document, or a value has no canonical form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DocumentError {
    /// There are more bytes than such a document may have.
    #[error("it has {size} bytes, and at most {max} are read")]
    TooLarge {
        /// How many it has.
        size: usize,
        /// How many are read.
        max: usize,
    },
    /// It is not UTF-8.
    #[error("byte {at} is not UTF-8")]
    Encoding {
        /// Where the first wrong byte is, from 0.
        at: usize,
    },
    /// It is not JSON.
    #[error("line {line}, column {column}: {reason}")]
    Syntax {
        /// From 1.
        line: usize,
        /// In bytes, from 1.
        column: usize,
        /// What is wrong.
        reason: String,
    },
    /// An object has a key twice: one reader takes the first, another the last.
    #[error(
        "line {line}, column {column}: the key `{}` is there twice",
        jp_text::inline(key)
    )]
    Duplicate {
        /// Which key, or its beginning.
        key: String,
        /// From 1.
        line: usize,
        /// In bytes, from 1.
        column: usize,
    },
    /// Lists and objects are nested too deeply.
    #[error("nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
    /// A number that readers do not agree about.
    #[error("the number {text} has more digits than some readers keep")]
    Number {
        /// The number, or its beginning.
        text: String,
    },
}

impl DocumentError {
    /// Says what to do about it, where there is something.
    #[must_use]
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Duplicate { key, .. } => {
                Some(format!("remove one of the two `{}`", jp_text::inline(key)))
            }
            Self::Number { .. } => Some(
                "write it as a string, or as a whole number between -(2^53)+1 and (2^53)-1"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

/// Reads JSON with comments, of at most `max` bytes.
///
/// Numbers that are the same are the same value however they are written: `1.0` is `1`, `-0` is `0`.
///
/// # Errors
///
/// What makes it no document, with line and column where there is one.
pub(crate) fn parse(bytes: &[u8], max: usize) -> Result<Value, DocumentError> {
    if bytes.len() > max {
        let size = bytes.len();
        return Err(DocumentError::TooLarge { size, max });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| DocumentError::Encoding {
        at: error.valid_up_to(),
    })?;
    strict::read(&scan::plain(text)?)
}

/// Hashes the canonical form of a value.
///
/// # Errors
///
/// When the value has no canonical form; one that was [`parse`]d always has.
pub(crate) fn digest(value: &Value) -> Result<Digest, DocumentError> {
    canonical(value).map(|bytes| Digest::of(&bytes))
}

/// What serde says of a value; it repeats keys as they were written.
pub(crate) fn said(error: &serde_json::Error) -> String {
    jp_text::mask(&error.to_string(), 300)
}
