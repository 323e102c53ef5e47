//! What a tool needs beyond its imports, maybe only when an argument is a chosen file.
//!
//! Written as `{"capability": "fs.user-selected", "access": "read", "when": "/source"}`, as
//! `fs.user-selected:read when /source is a file`, or in prose as
//! `fs.user-selected (when source is a file path)`. All three mean, and are shown as, the second.

mod parse;

use alloc::string::{String, ToString};
use core::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{Access, Capabilities};

/// Something a tool needs, always or under a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// What it needs, and nothing else: not even what is there without asking.
    pub needs: Capabilities,
    /// The one way of writing it that is shown and compared.
    pub text: String,
    /// When it needs it; always if `None`.
    pub when: Option<Condition>,
}

/// "The argument is a file that was chosen for this call."
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Condition {
    /// Where the argument is, as a JSON pointer: `/source`.
    pub argument: String,
}

/// Why a text is not a requirement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequirementError {
    /// Nobody knows the capability.
    #[error("unknown capability `{name}`; {hint}")]
    Unknown {
        /// The beginning of its name.
        name: String,
        /// The nearest known one, or all of them.
        hint: String,
    },
    /// The capability is never granted.
    #[error(
        "`process` is never granted; a tool that must run commands asks for tool.exec.subprocess"
    )]
    Process,
    /// What follows the colon does not fit the capability.
    #[error("invalid value `{value}` for `{name}`: write {write}")]
    Value {
        /// The capability.
        name: String,
        /// What was written after it.
        value: String,
        /// What can be written.
        write: String,
    },
    /// The condition is invalid.
    #[error(
        "invalid condition `{text}`: write `when /source is a file`, with the argument as a JSON pointer"
    )]
    Condition {
        /// The beginning of the condition.
        text: String,
    },
    /// The text is longer than any requirement.
    #[error("a requirement has at most {} bytes", parse::MAX_TEXT)]
    TooLong,
}

impl Condition {
    /// Reads where an argument is: a JSON pointer, or the name of an argument.
    ///
    /// # Errors
    ///
    /// When it is neither.
    pub fn new(argument: &str) -> Result<Self, RequirementError> {
        parse::condition(argument)
    }

    /// Returns whether a file chosen for an argument is what this condition waits for: one for the
    /// argument itself, or for a part of it.
    #[must_use]
    pub(crate) fn holds_for(&self, argument: &str) -> bool {
        let rest = argument.strip_prefix(self.argument.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Returns the name of the argument it is about, without the parts below it.
    #[must_use]
    pub fn top_level(&self) -> String {
        let first = self.argument.split('/').nth(1).unwrap_or_default();
        first.replace("~1", "/").replace("~0", "~")
    }
}

impl Requirement {
    /// Reads a requirement from its parts.
    ///
    /// # Errors
    ///
    /// When the capability is unknown, cannot have that access, or the condition is invalid.
    pub fn new(
        capability: &str,
        access: Option<Access>,
        when: Option<&str>,
    ) -> Result<Self, RequirementError> {
        let (needs, name) = parse::capability(capability, access)?;
        let when = when.map(Condition::new).transpose()?;
        let text = match &when {
            None => name,
            Some(condition) => alloc::format!("{name} {condition}"),
        };
        Ok(Self { needs, text, when })
    }
}

impl FromStr for Requirement {
    type Err = RequirementError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (capability, when) = parse::split(text)?;
        Self::new(capability, None, when)
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "when {} is a file", self.argument)
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Requirement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

/// A requirement as an object.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    capability: String,
    #[serde(default)]
    access: Option<crate::DeclaredAccess>,
    #[serde(default)]
    when: Option<String>,
}

impl<'de> Deserialize<'de> for Requirement {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RequirementVisitor)
    }
}

struct RequirementVisitor;

impl<'de> de::Visitor<'de> for RequirementVisitor {
    type Value = Requirement;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text such as \"fs.user-selected:read when /source is a file\", or {\"capability\": ..., \"access\": ..., \"when\": ...}")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Requirement, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Requirement, A::Error> {
        let table = Table::deserialize(de::value::MapAccessDeserializer::new(map))?;
        let access = match table.access {
            None => None,
            Some(crate::DeclaredAccess(Some(access))) => Some(access),
            Some(crate::DeclaredAccess(None)) => {
                return Err(de::Error::custom(RequirementError::Value {
                    name: crate::declared::start_of(&table.capability),
                    value: "false".to_string(),
                    write: "\"read\" or \"read-write\"".to_string(),
                }));
            }
        };
        Requirement::new(&table.capability, access, table.when.as_deref())
            .map_err(de::Error::custom)
    }
}

#[cfg(test)]
#[path = "requirement_tests.rs"]
mod tests;
