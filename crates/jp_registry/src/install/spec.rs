//! What a person asks for: `ocr`, `ocr@1.2.0`, `ocr@^1`, `ocr-old=ocr@1.2.0`.

use std::{fmt, str::FromStr};

use super::Versions;
use crate::{FormatError, ToolId, lock::LockedTool};

/// A tool to install, and under which name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The name in the workspace.
    pub name: ToolId,
    /// The name in the registry.
    pub id: ToolId,
    /// The versions that will do.
    pub versions: Versions,
    /// The registry; without one, the only one that has the tool.
    pub registry: Option<String>,
}

/// A text that is neither a version nor a range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid version `{}`: expected one such as `1.2.0`, or a range such as `1.2`, `^1`, `>=1, <3` or `*`",
    jp_text::inline(text)
)]
pub(crate) struct VersionsError {
    /// The beginning of the text.
    pub(super) text: String,
}

impl Spec {
    /// Returns the same tool, from a registry of this name.
    #[must_use]
    pub fn from_registry(mut self, registry: impl Into<String>) -> Self {
        self.registry = Some(registry.into());
        self
    }

    /// Tells whether a locked tool is one that will do.
    #[must_use]
    pub fn fits(&self, tool: &LockedTool) -> bool {
        let registry = self.registry.as_ref();
        tool.id == self.id
            && self.versions.fits(&tool.version)
            && registry.is_none_or(|registry| *registry == tool.registry)
    }
}

impl FromStr for Spec {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, FormatError> {
        // The `@` first: a range may have a `=` of its own.
        let (names, versions) = match text.split_once('@') {
            Some((names, versions)) => (names, versions.parse()?),
            None => (text, Versions::Newest),
        };
        let (name, id) = match names.split_once('=') {
            Some((name, id)) => (Some(name), id),
            None => (None, names),
        };
        let id: ToolId = id.parse()?;
        Ok(Self {
            name: name.map_or_else(|| Ok(id.clone()), str::parse)?,
            id,
            versions,
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
        match &self.versions {
            Versions::Newest => Ok(()),
            versions => write!(f, "@{versions}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Spec;

    #[test]
    fn a_spec_names_tool_versions_and_alias() {
        let texts = [
            "ocr",
            "ocr@1.2.0",
            "ocr-old=ocr@1.2.0",
            "a=b",
            "ocr@^1",
            "ocr@*",
            "a=b@=1.2",
            "ocr@>=1.2, <3",
        ];
        for text in texts {
            assert_eq!(text.parse::<Spec>().unwrap().to_string(), text);
        }
        let same: Spec = "ocr=ocr@1.0.0-rc.1".parse().unwrap();
        assert_eq!(same.to_string(), "ocr@1.0.0-rc.1");
        let short: Spec = "ocr@1.2".parse().unwrap();
        assert_eq!(short.to_string(), "ocr@^1.2");
        for bad in [
            "",
            "OCR",
            "ocr@",
            "ocr@one",
            "ocr@1.2.0@2",
            "../x@1.0.0",
            "a=b=c",
            "=a",
            "ocr@1=2",
            "оcr",
        ] {
            assert!(bad.parse::<Spec>().is_err(), "{bad}");
        }
    }
}
