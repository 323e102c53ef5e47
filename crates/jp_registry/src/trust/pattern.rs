//! Which names a key speaks for: `ocr`, `pdf.*` or `*`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{FormatError, ToolId};

/// A text that is not a pattern of names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid name pattern `{}`: expected `ocr`, `pdf.*` or `*`",
    jp_text::inline(text)
)]
pub(crate) struct PatternError {
    /// The beginning of the text.
    text: String,
}

/// One name, all below a name, or all there are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum NamePattern {
    /// `ocr`
    One(ToolId),
    /// `pdf.*`: everything that begins with `pdf.`, and not `pdf` itself.
    Below(ToolId),
    /// `*`
    All,
}

impl NamePattern {
    /// Tells whether a tool has such a name.
    #[must_use]
    pub(crate) fn matches(&self, name: &ToolId) -> bool {
        match self {
            Self::One(one) => one == name,
            Self::Below(above) => is_below(above, name),
            Self::All => true,
        }
    }

    /// Returns the names that both speak of, when there are any. Of two patterns that share a name
    /// one always holds the other.
    #[must_use]
    pub(crate) fn meet(&self, other: &Self) -> Option<Self> {
        if self.holds(other) {
            Some(other.clone())
        } else if other.holds(self) {
            Some(self.clone())
        } else {
            None
        }
    }

    fn holds(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::All, _) => true,
            (_, Self::All) | (Self::One(_), Self::Below(_)) => false,
            (_, Self::One(name)) => self.matches(name),
            (Self::Below(above), Self::Below(name)) => above == name || is_below(above, name),
        }
    }
}

fn is_below(above: &ToolId, name: &ToolId) -> bool {
    let rest = name.as_str().strip_prefix(above.as_str());
    rest.is_some_and(|rest| rest.starts_with('.'))
}

impl FromStr for NamePattern {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, FormatError> {
        let read = match text.strip_suffix(".*") {
            _ if text == "*" => Ok(Self::All),
            Some(above) => above.parse().map(Self::Below),
            None => text.parse().map(Self::One),
        };
        read.map_err(|_: FormatError| {
            let text = jp_text::shorten(text, 80).into_owned();
            PatternError { text }.into()
        })
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(name) => name.fmt(f),
            Self::Below(above) => write!(f, "{above}.*"),
            Self::All => f.write_str("*"),
        }
    }
}

impl TryFrom<String> for NamePattern {
    type Error = FormatError;

    fn try_from(text: String) -> Result<Self, FormatError> {
        text.parse()
    }
}

impl From<NamePattern> for String {
    fn from(pattern: NamePattern) -> Self {
        pattern.to_string()
    }
}
