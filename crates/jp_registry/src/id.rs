//! Names, digests and what joins the two. Each has one spelling only, so that two names are the same
//! tool exactly if they are the same bytes.

use std::{fmt, str::FromStr};

use jp_text::shorten;
use semver::VersionReq;
use serde::{Deserialize, Serialize};

use crate::FormatError;

/// Longer names are refused.
const MAX_ID: usize = 64;

/// Why a text is not an id, digest or pin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum IdError {
    /// Not the name of a tool.
    #[error(
        "invalid tool name `{}`: expected words of a-z and 0-9, joined by `-` or `.`, such as `pdf.extract-text`",
        text.escape_default()
    )]
    Tool {
        /// The beginning of the text.
        text: String,
    },
    /// Not the name of a model.
    #[error(
        "invalid model name `{}`: expected words of a-z, 0-9, `.` and `_` joined by `-`, such as `glm-ocr-1.5-q8`",
        text.escape_default()
    )]
    Model {
        /// The beginning of the text.
        text: String,
    },
    /// Not a sha256.
    #[error(transparent)]
    Digest(jp_disk::Sha256Error),
    /// Not a tool and version.
    #[error(
        "invalid tool and version `{}`: expected `ocr`, or `ocr@1.2.0`",
        jp_text::inline(text)
    )]
    Ref {
        /// The beginning of the text.
        text: String,
    },
    /// Not a pin.
    #[error(
        "invalid pinned model `{}`: expected `<id>@sha256:<64 digits>`",
        jp_text::inline(text)
    )]
    Pin {
        /// The beginning of the text.
        text: String,
    },
}

/// The name of a tool in a registry: `ocr`, `pdf.extract-text`.
///
/// ASCII in lower case only: there is no second spelling, no look-alike and nothing that could be
/// a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolId(String);

/// The name of a model: `glm-ocr-1.5-q8`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ModelId(String);

pub use jp_disk::Sha256 as Digest;

/// A model and the bytes it must be: `glm-ocr-1.5-q8@sha256:…`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pinned {
    /// Which model.
    pub id: ModelId,
    /// Which bytes.
    pub sha256: Digest,
}

/// A tool, and maybe which versions of it: `ocr`, `ocr@1.2.0`, `ocr@^2`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct ToolRef {
    /// Which tool.
    id: ToolId,
    /// Which versions; every one if `None`.
    version: Option<VersionReq>,
}

impl ToolId {
    /// Returns the name as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Tells whether all words of a text, split at `at`, are there and made of such letters only.
fn words(text: &str, at: &[char], letter: impl Fn(u8) -> bool) -> bool {
    let mut parts = text.split(at);
    text.len() <= MAX_ID && parts.all(|word| !word.is_empty() && word.bytes().all(&letter))
}

impl FromStr for ToolId {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        if words(text, &['.', '-'], letter) {
            return Ok(Self(text.to_owned()));
        }
        let text = shorten(text, 80).into_owned();
        Err(IdError::Tool { text }.into())
    }
}

impl FromStr for ModelId {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._".contains(&b);
        // A name becomes a directory: `..` is made of dots too.
        if words(text, &['-'], letter) && !text.starts_with('.') && !text.contains("..") {
            return Ok(Self(text.to_owned()));
        }
        let text = shorten(text, 80).into_owned();
        Err(IdError::Model { text }.into())
    }
}

impl FromStr for Pinned {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once("@sha256:");
        let (id, sha256) = parts.ok_or_else(|| IdError::Pin {
            text: shorten(text, 80).into_owned(),
        })?;
        Ok(Self {
            id: id.parse()?,
            sha256: sha256.parse().map_err(IdError::Digest)?,
        })
    }
}

impl FromStr for ToolRef {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (id, version) = match text.split_once('@') {
            None => (text, None),
            Some((id, version)) => {
                let version = Some(version).filter(|version| version.len() <= MAX_ID);
                let version = version.and_then(|version| VersionReq::parse(version).ok());
                let fail = || IdError::Ref {
                    text: shorten(text, 80).into_owned(),
                };
                (id, Some(version.ok_or_else(fail)?))
            }
        };
        let id = id.parse()?;
        Ok(Self { id, version })
    }
}

impl fmt::Display for ToolRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.id, f)?;
        let version = self.version.as_ref();
        version.map_or(Ok(()), |version| write!(f, "@{version}"))
    }
}

impl fmt::Display for Pinned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@sha256:{}", self.id, self.sha256)
    }
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Reads and writes a type as the text it displays.
macro_rules! as_text {
    ($($name:ident),+) => {$(
        impl TryFrom<String> for $name {
            type Error = FormatError;

            fn try_from(text: String) -> Result<Self, FormatError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }
    )+};
}
as_text!(ToolId, ToolRef, ModelId, Pinned);

#[cfg(test)]
#[path = "id_tests.rs"]
mod tests;
