//! `jp.lock`: which tools a workspace uses, to the byte.
//!
//! The file lies in the workspace and may be a stranger's: it says which bytes are meant, never that
//! they are to be trusted. Where tools come from and who signed them is checked elsewhere.

use std::{collections::BTreeMap, path::Path};

use semver::Version;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    Digest, InstallError, Pinned, ToolId,
    disk::{self, Disk},
    document,
    key::KeyId,
};

mod custom;
mod error;
mod fast;
mod text;

pub use custom::LockedCustom;
pub(crate) use error::LockError;

/// The name of the file in a workspace.
pub const LOCK_FILE: &str = "jp.lock";

/// A larger file is refused.
const MAX_LOCK: u64 = 4 * 1024 * 1024;

/// The format that is written where no tool comes with the workspace, as always.
const VERSION: i64 = 1;

/// The format that has tools which come with the workspace: an older jp is to say that it is too old.
const VERSION_WITH_CUSTOM: i64 = 2;

/// Longer names of registries, servers and their tools are refused.
const MAX_NAME: usize = 256;

/// The tools that a workspace uses, by the names that models see.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lock {
    tools: BTreeMap<ToolId, LockedTool>,
    custom: BTreeMap<ToolId, LockedCustom>,
    mcp: BTreeMap<(String, String), Digest>,
}

/// One tool of a registry, to the byte.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedTool {
    /// The name in this workspace; two versions of one tool have two names.
    pub name: ToolId,
    /// Its name in the registry.
    pub id: ToolId,
    /// Its version.
    pub version: Version,
    /// The registry it came from.
    pub registry: String,
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
    /// The models it needs.
    #[serde(default)]
    pub models: Vec<Pinned>,
}

/// How a tool of an MCP server stands to what was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpPin {
    /// Nobody accepted it yet.
    Unknown,
    /// The model sees what was accepted.
    Same,
    /// The model would see something else than what was accepted.
    Changed,
}

impl Lock {
    /// Reads a lock file; one that is not there is empty.
    ///
    /// # Errors
    ///
    /// When it is not a lock file, too large, of another version or has a merge conflict.
    pub fn open(path: &Path) -> Result<Self, InstallError> {
        Ok(Self::load(path)?)
    }

    pub(crate) fn load(path: &Path) -> Result<Self, LockError> {
        let bytes = disk::read(path, MAX_LOCK).map_err(|source| LockError::Io {
            path: path.to_owned(),
            source,
        })?;
        bytes.map_or_else(|| Ok(Self::default()), |bytes| Self::read(&bytes))
    }

    /// Reads the text of a lock file.
    ///
    /// # Errors
    ///
    /// As [`Lock::open`].
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, LockError> {
        let text = std::str::from_utf8(bytes).map_err(|error| LockError::Malformed {
            reason: format!("invalid UTF-8 at byte {}", error.valid_up_to()),
        })?;
        match fast::read(text) {
            Some(lock) => Ok(lock),
            None => text::read(text),
        }
    }

    /// Writes the lock file; readers see the old one or all of the new one.
    ///
    /// # Errors
    ///
    /// When it would be too large or cannot be written.
    pub fn save(&self, disk: &Disk, path: &Path) -> Result<(), InstallError> {
        Ok(self.write(disk, path)?)
    }

    fn write(&self, disk: &Disk, path: &Path) -> Result<(), LockError> {
        let text = self.to_string();
        if u64::try_from(text.len()).unwrap_or(u64::MAX) > MAX_LOCK {
            let size = text.len();
            return Err(LockError::TooLarge { size });
        }
        disk.replace(path, text.as_bytes(), disk::SHARED)
            .map_err(|source| LockError::Io {
                path: path.to_owned(),
                source,
            })
    }

    /// Returns the tool of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&LockedTool> {
        let name: ToolId = name.parse().ok()?;
        self.tools.get(&name)
    }

    /// Returns all tools, by name.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &LockedTool> {
        self.tools.values()
    }

    /// Puts a tool under its name; returns what stood there.
    ///
    /// # Errors
    ///
    /// When a text in it would not be read again.
    pub fn set(&mut self, tool: LockedTool) -> Result<Option<LockedTool>, InstallError> {
        text::check_tool(&tool)?;
        Ok(self.tools.insert(tool.name.clone(), tool))
    }

    /// Takes a tool away.
    pub(crate) fn remove(&mut self, name: &ToolId) -> Option<LockedTool> {
        self.tools.remove(name)
    }

    /// Compares what a server's tool shows the model with what was accepted.
    #[must_use]
    pub fn check_mcp(&self, server: &str, tool: &str, shown: &Value) -> McpPin {
        let pinned = self.mcp.get(&(server.to_owned(), tool.to_owned()));
        match pinned {
            None => McpPin::Unknown,
            Some(pinned) if Some(*pinned) == shown_digest(shown) => McpPin::Same,
            Some(_) => McpPin::Changed,
        }
    }

    /// Returns the digest that was accepted for a server's tool.
    #[must_use]
    pub(crate) fn mcp(&self, server: &str, tool: &str) -> Option<Digest> {
        let key = (server.to_owned(), tool.to_owned());
        self.mcp.get(&key).copied()
    }

    /// Returns the tools of a server that were accepted, so that one that is gone or renamed shows.
    pub fn mcp_tools<'a>(&'a self, server: &'a str) -> impl Iterator<Item = &'a str> {
        let of_server = self.mcp.keys().filter(move |(name, _)| name == server);
        of_server.map(|(_, tool)| tool.as_str())
    }

    /// Accepts what a server's tool shows the model.
    ///
    /// # Errors
    ///
    /// When a name is too long or has no canonical form.
    pub fn accept_mcp(
        &mut self,
        server: &str,
        tool: &str,
        shown: &Value,
    ) -> Result<(), InstallError> {
        text::check_name("server", server)?;
        text::check_name("tool", tool)?;
        let digest = shown_digest(shown).ok_or_else(|| LockError::Malformed {
            reason: format!(
                "what `{}` shows has no canonical form",
                jp_text::inline(tool)
            ),
        })?;
        let key = (server.to_owned(), tool.to_owned());
        self.mcp.insert(key, digest);
        Ok(())
    }

    /// Takes back what was accepted of a server; returns how many tools that were.
    pub(crate) fn forget_mcp(&mut self, server: &str) -> usize {
        let before = self.mcp.len();
        self.mcp.retain(|(name, _), _| name != server);
        before - self.mcp.len()
    }

    /// Adds a tool that was read; two of one name are refused, wherever they come from.
    fn add(&mut self, tool: LockedTool) -> Result<(), LockError> {
        let name = tool.name.to_string();
        let taken = self.custom.contains_key(&tool.name);
        text::check_tool(&tool)?;
        match self.tools.insert(tool.name.clone(), tool) {
            None if !taken => Ok(()),
            _ => Err(LockError::Duplicate { name }),
        }
    }

    fn add_mcp(&mut self, server: &str, tool: &str, shown: Digest) -> Result<(), LockError> {
        text::check_name("server", server)?;
        text::check_name("tool", tool)?;
        let key = (server.to_owned(), tool.to_owned());
        match self.mcp.insert(key, shown) {
            None => Ok(()),
            Some(_) => Err(LockError::Duplicate {
                name: format!("{}.{}", jp_text::inline(server), jp_text::inline(tool)),
            }),
        }
    }
}

/// Hashes what a model sees. A value without a canonical form has no digest, and is never the same.
fn shown_digest(shown: &Value) -> Option<Digest> {
    document::digest(shown).ok()
}

#[cfg(test)]
#[path = "lock_tests.rs"]
mod tests;
