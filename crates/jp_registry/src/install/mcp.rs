//! Tools of MCP servers: what a person accepted of what they show to models.
//!
//! The lock file holds a digest of each; the texts themselves are kept here, so that a change can be
//! shown as one. Who talks to servers is not known here.

use std::path::PathBuf;

use serde_json::Value;

use super::{Change, Decision, InstallError, Installer, Mode, Places};
use crate::{
    Digest,
    diff::Diff,
    disk, document,
    lock::{Lock, McpPin},
};

/// Longer texts are pinned, but not kept to be compared with.
const MAX_BYTES: u64 = 1024 * 1024;

/// A tool as its server describes it.
#[derive(Debug, Clone, Copy)]
pub struct McpTool<'a> {
    /// Its name.
    pub name: &'a str,
    /// What a model would see of it.
    pub shown: &'a Value,
}

impl Places {
    /// Compares what a server's tool shows with what was accepted. Without the text that was
    /// accepted (on another machine, say) all of the new one shows as new.
    #[must_use]
    pub fn mcp_diff(&self, lock: &Lock, server: &str, tool: &McpTool<'_>) -> Diff {
        let pinned = lock.mcp(server, tool.name);
        let old = pinned.and_then(|digest| self.mcp_text(&digest));
        let nothing = || Value::Object(serde_json::Map::new());
        Diff::of_shown(&old.unwrap_or_else(nothing), tool.shown)
    }

    fn mcp_place(&self, digest: &Digest) -> PathBuf {
        self.data.join("mcp").join(format!("{digest}.json"))
    }

    fn mcp_text(&self, digest: &Digest) -> Option<Value> {
        let bytes = disk::read(&self.mcp_place(digest), MAX_BYTES).ok()??;
        let max = usize::try_from(MAX_BYTES).unwrap_or_default();
        let value = document::parse(&bytes, max).ok()?;
        (document::digest(&value).ok()? == *digest).then_some(value)
    }
}

impl Installer<'_> {
    /// Pins what the tools of a server show, after a person accepted each one that changed. Tools
    /// that the server does not have any more are forgotten. Returns how each one stood before.
    ///
    /// # Errors
    ///
    /// When a change is not accepted or the lock file may not be changed; then nothing is.
    pub fn accept_mcp(
        &self,
        server: &str,
        tools: &[McpTool<'_>],
    ) -> Result<Vec<McpPin>, InstallError> {
        let lock = Lock::open(&self.places.lock)?;
        let pin = |tool: &McpTool<'_>| lock.check_mcp(server, tool.name, tool.shown);
        let pins: Vec<McpPin> = tools.iter().map(pin).collect();
        let gone = lock.mcp_tools(server).count()
            != pins.iter().filter(|p| **p != McpPin::Unknown).count();
        if !gone && pins.iter().all(|pin| *pin == McpPin::Same) {
            return Ok(pins);
        }
        if self.mode == Mode::Locked {
            let change = format!(
                "tools of `{}` would be pinned anew",
                jp_text::escape_line(server)
            );
            return Err(InstallError::Locked { change });
        }
        let changed = tools
            .iter()
            .zip(&pins)
            .filter(|(_, pin)| **pin == McpPin::Changed);
        for (tool, _) in changed {
            let diff = self.places.mcp_diff(&lock, server, tool);
            let change = Change::Mcp {
                server,
                tool: tool.name,
                diff: &diff,
            };
            if (self.decide)(&change) == Decision::Refuse {
                let name = format!("{server}.{}", tool.name);
                return Err(InstallError::StoppedPin {
                    name,
                    diff: Box::new(diff),
                });
            }
        }
        for tool in tools {
            self.keep_mcp(tool)?;
        }
        self.change_lock(|lock| {
            lock.forget_mcp(server);
            for tool in tools {
                lock.accept_mcp(server, tool.name, tool.shown)?;
            }
            Ok(())
        })?;
        Ok(pins)
    }

    fn keep_mcp(&self, tool: &McpTool<'_>) -> Result<(), InstallError> {
        // One without a canonical form is refused by the lock file, which says why.
        let Ok(bytes) = document::canonical(tool.shown) else {
            return Ok(());
        };
        let path = self.places.mcp_place(&Digest::of(&bytes));
        let small = u64::try_from(bytes.len()).is_ok_and(|size| size <= MAX_BYTES);
        if !small || path.exists() {
            return Ok(());
        }
        let failed = Self::io(&path);
        let lock = self.places.data.join("mcp.lock");
        let _held = self.disk.lock(&lock).map_err(Self::io(&lock))?;
        let dir = self.places.data.join("mcp");
        self.disk.create_dir(&dir).map_err(&failed)?;
        self.disk
            .replace(&path, &bytes, disk::PRIVATE)
            .map_err(failed)
    }
}
