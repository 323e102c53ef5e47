//! Capabilities: what a tool can ask for and a policy can allow.

use alloc::string::String;
use core::fmt;

use crate::{Access, Brokered, BrokeredName, FileRule, Files, GuestPath, Net};

/// A set of things a call may do. Used as a request, as a policy and inside a grant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// Files, in the guest's namespace.
    pub files: Files,
    /// Network hosts.
    pub net: Net,
    /// Running a command of the host (`tool.exec.subprocess`).
    pub subprocess: bool,
    /// What the host does on the tool's behalf, by name.
    pub brokered: Brokered,
}

/// One thing that can be missing from a set of capabilities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Capability {
    /// A directory tree.
    Files(FileRule),
    /// A host, or `*` for all of them.
    Net(String),
    /// Running a command of the host.
    Subprocess,
    /// Something the host does on the tool's behalf.
    Brokered(BrokeredName),
}

impl Capabilities {
    /// Returns what both sets allow.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        Self {
            files: self.files.intersect(&other.files),
            net: self.net.intersect(&other.net),
            subprocess: self.subprocess && other.subprocess,
            brokered: self.brokered.intersect(&other.brokered),
        }
    }

    /// Returns the first thing `other` allows and this set does not.
    #[must_use]
    pub fn missing(&self, other: &Self) -> Option<Capability> {
        if other.subprocess && !self.subprocess {
            return Some(Capability::Subprocess);
        }
        if let Some(host) = self.net.missing(&other.net) {
            return Some(Capability::Net(host));
        }
        if let Some(name) = self.brokered.missing(&other.brokered) {
            return Some(Capability::Brokered(name.clone()));
        }
        self.files
            .missing(&other.files)
            .cloned()
            .map(Capability::Files)
    }

    /// Tells whether nothing can be changed and nothing outside this machine can be reached.
    ///
    /// Of what is brokered, the clock, the log and the user's own rows count as local.
    #[must_use]
    pub fn is_read_only_and_local(&self) -> bool {
        let reads = self
            .files
            .rules()
            .iter()
            .all(|rule| rule.access == Access::Read);
        let local = |name: &BrokeredName| {
            let families = ["clock.", "log.", "kv."];
            families
                .iter()
                .any(|family| name.as_str().starts_with(family))
        };
        let brokered = self.brokered.names().all(local);
        reads && brokered && self.net.is_none() && !self.subprocess
    }

    /// Adds a directory tree.
    #[must_use]
    pub fn with_files(mut self, path: GuestPath, access: Access) -> Self {
        let more = FileRule { path, access };
        self.files = Files::new(self.files.rules().iter().cloned().chain([more]));
        self
    }
}

impl Capability {
    /// Returns the key and value that grant this, as they are written in a configuration.
    #[must_use]
    pub fn setting(&self) -> String {
        match self {
            Self::Files(rule) => alloc::format!("files = [\"{rule}\"]"),
            Self::Net(host) if host == "*" => "net = true".into(),
            Self::Net(host) => alloc::format!("net = [\"{host}\"]"),
            Self::Subprocess => "subprocess = true".into(),
            // A list replaces the default, which is everything but secrets.
            Self::Brokered(name) => alloc::format!("calls = [\"*\", \"{name}\"]"),
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Files(FileRule {
                path,
                access: Access::Read,
            }) => write!(f, "fs.read of {}", path.escaped()),
            Self::Files(FileRule {
                path,
                access: Access::ReadWrite,
            }) => {
                write!(f, "fs.write of {}", path.escaped())
            }
            Self::Net(host) if host == "*" => f.write_str("net to any host"),
            Self::Net(host) => write!(f, "net to {host}"),
            Self::Subprocess => f.write_str("tool.exec.subprocess"),
            Self::Brokered(name) => fmt::Display::fmt(name, f),
        }
    }
}

/// The compact form that audit records carry: `fs=/workspace:read net=none subprocess`.
impl fmt::Display for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("fs=")?;
        for (at, rule) in self.files.rules().iter().enumerate() {
            f.write_str(if at == 0 { "" } else { "," })?;
            // Quotes, so that no path can pass for a second rule or for another field.
            if rule.path.as_str().contains([',', ' ']) {
                write!(f, "\"{rule}\"")?;
            } else {
                write!(f, "{rule}")?;
            }
        }
        if self.files.rules().is_empty() {
            f.write_str("none")?;
        }
        write!(f, " net={}", self.net)?;
        if self.subprocess {
            f.write_str(" subprocess")?;
        }
        if self.brokered.is_none() {
            return Ok(());
        }
        write!(f, " calls={}", self.brokered)
    }
}

#[cfg(test)]
#[path = "capabilities_tests.rs"]
mod tests;
