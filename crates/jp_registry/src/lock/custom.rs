//! Tools that come with the workspace, as a lock file has them: they are in no registry, and their bytes
//! lie beside the lock file, where anybody who changes the workspace can put others.

use std::fmt;

use semver::Version;
use serde::Deserialize;

use super::{Lock, LockError, text};
use crate::{Digest, ToolId, key::KeyId, verify::VerifiedManifest};

/// One tool that comes with the workspace, to the byte.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedCustom {
    /// Its name, in the workspace and in its manifest.
    pub name: ToolId,
    /// Its version.
    pub version: Version,
    /// The bytes of the tool.
    pub sha256: Digest,
    /// Its manifest, in canonical form.
    pub manifest: Digest,
    /// The id of the publisher's key.
    pub key: KeyId,
    /// What the model sees: name, description and schemas.
    pub shown: Digest,
    /// What the tool asks for.
    pub capabilities: Digest,
}

impl LockedCustom {
    /// Returns what a lock file has of a verified tool.
    #[must_use]
    pub fn of(verified: &VerifiedManifest) -> Self {
        let manifest = &verified.manifest;
        Self {
            name: manifest.id.clone(),
            version: manifest.version.clone(),
            sha256: manifest.artifact.sha256,
            manifest: verified.digest,
            key: verified.key,
            shown: manifest.shown_digest,
            capabilities: manifest.capabilities_digest,
        }
    }
}

impl Lock {
    /// Returns the tool of a name that comes with the workspace.
    #[must_use]
    pub fn custom(&self, name: &str) -> Option<&LockedCustom> {
        let name: ToolId = name.parse().ok()?;
        self.custom.get(&name)
    }

    /// Returns all tools that come with the workspace, by name.
    pub fn customs(&self) -> impl ExactSizeIterator<Item = &LockedCustom> {
        self.custom.values()
    }

    /// Puts a tool that comes with the workspace under its name; returns what stood there.
    ///
    /// # Errors
    ///
    /// When a text in it would not be read again.
    pub(crate) fn set_custom(
        &mut self,
        tool: LockedCustom,
    ) -> Result<Option<LockedCustom>, LockError> {
        text::check_version(&tool.version)?;
        Ok(self.custom.insert(tool.name.clone(), tool))
    }

    /// Takes away a tool that came with the workspace.
    pub(crate) fn remove_custom(&mut self, name: &ToolId) -> Option<LockedCustom> {
        self.custom.remove(name)
    }

    /// Adds a tool that was read; two of one name are refused, wherever they come from.
    pub(super) fn add_custom(&mut self, tool: LockedCustom) -> Result<(), LockError> {
        let name = tool.name.to_string();
        let taken = self.tools.contains_key(&tool.name);
        match self.set_custom(tool)? {
            None if !taken => Ok(()),
            _ => Err(LockError::Duplicate { name }),
        }
    }
}

impl fmt::Display for LockedCustom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "name = \"{}\"", self.name)?;
        writeln!(f, "version = \"{}\"", self.version)?;
        writeln!(f, "sha256 = \"{}\"", self.sha256)?;
        writeln!(f, "manifest = \"{}\"", self.manifest)?;
        writeln!(f, "key = \"{}\"", self.key)?;
        writeln!(f, "shown = \"{}\"", self.shown)?;
        writeln!(f, "capabilities = \"{}\"", self.capabilities)
    }
}
