//! What a person asks for: `ocr`, `ocr@1.2.0`, `ocr-old=ocr@1.2.0`.

use std::{fmt, str::FromStr};

use semver::Version;

use crate::{IdError, ToolId};

/// A tool to install, and under which name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The name in the workspace.
    pub name: ToolId,
    /// The name in the registry.
    pub id: ToolId,
    /// The version; without one, the newest.
    pub version: Option<Version>,
    /// The registry; without one, the only one that has the tool.
    pub registry: Option<String>,
}

/// Why a text names no tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// A name in it is none.
    #[error(transparent)]
    Name(#[from] IdError),
    /// What follows the `@` is no version.
    #[error("`{}` is no version: expected three numbers such as `1.2.0`", text.escape_debug())]
    Version {
        /// The beginning of the text.
        text: String,
    },
}

impl Spec {
    /// Returns the same tool, from a registry of this name.
    #[must_use]
    pub fn from_registry(mut self, registry: impl Into<String>) -> Self {
        self.registry = Some(registry.into());
        self
    }
}

impl FromStr for Spec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let (name, wanted) = match text.split_once('=') {
            Some((name, wanted)) => (Some(name), wanted),
            None => (None, text),
        };
        let (id, version) = match wanted.split_once('@') {
            Some((id, version)) => (id, Some(version)),
            None => (wanted, None),
        };
        let id: ToolId = id.parse()?;
        let version = version.map(|text| {
            text.parse().map_err(|_| SpecError::Version {
                text: text.chars().take(80).collect(),
            })
        });
        Ok(Self {
            name: name.map_or_else(|| Ok(id.clone()), str::parse)?,
            id,
            version: version.transpose()?,
            registry: None,
        })
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name != self.id {
            write!(f, "{}=", self.name)?;
        }
        write!(f, "{}", self.id)?;
        match &self.version {
            Some(version) => write!(f, "@{version}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Spec;

    #[test]
    fn a_spec_names_tool_version_and_alias() {
        for text in ["ocr", "ocr@1.2.0", "ocr-old=ocr@1.2.0", "a=b"] {
            assert_eq!(text.parse::<Spec>().unwrap().to_string(), text);
        }
        let same: Spec = "ocr=ocr@1.0.0-rc.1".parse().unwrap();
        assert_eq!(same.to_string(), "ocr@1.0.0-rc.1");
        for bad in [
            "",
            "OCR",
            "ocr@",
            "ocr@1",
            "ocr@^1",
            "ocr@1.2.0@2",
            "../x@1.0.0",
            "a=b=c",
            "=a",
            "оcr",
        ] {
            assert!(bad.parse::<Spec>().is_err(), "{bad}");
        }
    }
}
