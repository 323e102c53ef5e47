//! Capabilities: what a tool can ask for and a policy can allow.

use alloc::{collections::BTreeSet, string::String};
use core::fmt;

use crate::{Access, Ambient, Brokered, BrokeredName, EnvName, FileRule, Files, GuestPath, Net};

/// A directory of the call's own that is wiped afterwards: writing there changes nothing.
const SCRATCH: &str = "/tmp";

/// A set of things a call may do. Used as a request, as a policy and inside a grant.
///
/// The default is what every tool has without asking: nothing but what is [`Ambient`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// Files, in the guest's namespace.
    pub files: Files,
    /// Files that a person chooses for one call (`fs.user-selected`), wherever they lie.
    pub selected: Option<Access>,
    /// Network hosts.
    pub net: Net,
    /// Running a command of the host (`tool.exec.subprocess`).
    pub subprocess: bool,
    /// What the host does on the tool's behalf, by name.
    pub brokered: Brokered,
    /// Variables of the host's environment, by name.
    pub env: BTreeSet<EnvName>,
    /// What is there without asking, unless somebody takes it away.
    pub ambient: Ambient,
}

/// One thing that can be missing from a set of capabilities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Capability {
    /// A directory tree.
    Files(FileRule),
    /// Files that a person chooses for one call.
    Selected(Access),
    /// A host, or `*` for all of them.
    Net(String),
    /// Running a command of the host.
    Subprocess,
    /// Something the host does on the tool's behalf.
    Brokered(BrokeredName),
    /// A variable of the host's environment.
    Env(EnvName),
    /// Something that is there without asking, by the name of its setting.
    Ambient(&'static str),
}

impl Capabilities {
    /// Returns the set that a policy must cover to allow this one thing.
    #[must_use]
    pub fn only(capability: &Capability) -> Self {
        let mut only = capability.alone();
        if matches!(capability, Capability::Net(_)) && only.net.is_none() {
            // A name that cannot be read is that of no host in particular.
            only.net = Net::Any;
        }
        only
    }

    /// Returns what both sets allow.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        Self {
            files: self.files.intersect(&other.files),
            selected: self.selected.min(other.selected),
            net: self.net.intersect(&other.net),
            subprocess: self.subprocess && other.subprocess,
            brokered: self.brokered.intersect(&other.brokered),
            env: self.env.intersection(&other.env).cloned().collect(),
            ambient: self.ambient.intersect(other.ambient),
        }
    }

    /// Returns what either set allows. Two requests of one tool make one, and what the user granted one
    /// tool adds to their policy; two policies are never added up.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let rules = self.files.rules().iter().chain(other.files.rules());
        let names = self.brokered.names().chain(other.brokered.names());
        Self {
            files: Files::new(rules.cloned()),
            selected: self.selected.max(other.selected),
            net: self.net.union(&other.net),
            subprocess: self.subprocess || other.subprocess,
            brokered: Brokered::new(names.cloned()),
            env: self.env.union(&other.env).cloned().collect(),
            ambient: self.ambient.union(other.ambient),
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
        if let Some(access) = other.selected.filter(|_| self.selected < other.selected) {
            return Some(Capability::Selected(access));
        }
        if let Some(name) = other.env.difference(&self.env).next() {
            return Some(Capability::Env(name.clone()));
        }
        if let Some(name) = self.ambient.missing(other.ambient) {
            return Some(Capability::Ambient(name));
        }
        self.files
            .missing(&other.files)
            .cloned()
            .map(Capability::Files)
    }

    /// Returns whether nothing can be changed and nothing outside this machine can be reached.
    ///
    /// Of what is brokered, the clock, the log and the user's own rows count as local.
    #[must_use]
    pub fn is_read_only_and_local(&self) -> bool {
        let reads = self
            .files
            .rules()
            .iter()
            .filter(|rule| !is_scratch(&rule.path))
            .all(|rule| rule.access == Access::Read)
            && self.selected <= Some(Access::Read);
        let brokered = self.brokered.names().all(BrokeredName::is_local);
        // What a variable holds is the user's own, and often a secret.
        let env = self.env.is_empty();
        reads && brokered && env && self.net.is_none() && !self.subprocess
    }

    /// Returns whether nothing that outlives a call can be changed with it. A request to the network, a
    /// command and rows that are written may all change something.
    #[must_use]
    pub fn changes_nothing(&self) -> bool {
        let rules = self.files.rules().iter();
        let files = rules
            .filter(|rule| !is_scratch(&rule.path))
            .all(|rule| rule.access == Access::Read);
        files
            && self.selected <= Some(Access::Read)
            && self.brokered.names().all(BrokeredName::only_reads)
            && self.net.is_none()
            && !self.subprocess
    }

    /// Returns whether nothing outside of this machine can be reached with it.
    #[must_use]
    pub fn stays_here(&self) -> bool {
        self.net.is_none()
            && !self.subprocess
            && !self.brokered.names().any(BrokeredName::reaches_out)
    }

    /// Adds a directory tree.
    #[must_use]
    pub fn with_files(mut self, path: GuestPath, access: Access) -> Self {
        let more = FileRule { path, access };
        self.files = Files::new(self.files.rules().iter().cloned().chain([more]));
        self
    }
}

/// Returns whether a path lies in the directory that is the call's own.
fn is_scratch(path: &GuestPath) -> bool {
    let rest = path.as_str().strip_prefix(SCRATCH);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl Capability {
    /// Returns the set that allows this and nothing else.
    #[must_use]
    pub fn alone(&self) -> Capabilities {
        let mut alone = Capabilities {
            ambient: Ambient::NONE,
            ..Capabilities::default()
        };
        match self {
            Self::Files(rule) => return alone.with_files(rule.path.clone(), rule.access),
            Self::Selected(access) => alone.selected = Some(*access),
            Self::Net(host) if host == "*" => alone.net = Net::Any,
            Self::Net(host) => {
                // What is no pattern is no host, and allows nothing.
                alone.net = host.parse().map_or(Net::None, |host| Net::hosts([host]));
            }
            Self::Subprocess => alone.subprocess = true,
            Self::Brokered(name) => alone.brokered = Brokered::new([name.clone()]),
            Self::Env(name) => {
                alone.env.insert(name.clone());
            }
            Self::Ambient(name) => alone.ambient = Ambient::only(name),
        }
        alone
    }

    /// Returns the key and value that grant this, as they are written in a configuration.
    #[must_use]
    pub fn setting(&self) -> String {
        match self {
            Self::Files(rule) => match rule.host_path() {
                Some(path) => {
                    let path = jp_text::inline(path);
                    alloc::format!("paths = [{{ path = \"{path}\", access = \"read\" }}]")
                }
                None => alloc::format!("files = [\"{rule}\"]"),
            },
            Self::Net(host) if host == "*" => "net = true".into(),
            Self::Net(host) => alloc::format!("net = [\"{host}\"]"),
            Self::Subprocess => "subprocess = true".into(),
            // A list replaces the default, which is everything but secrets.
            Self::Brokered(name) => alloc::format!("calls = [\"*\", \"{name}\"]"),
            Self::Selected(access) => alloc::format!("selected = \"{access}\""),
            Self::Env(name) => alloc::format!("env = [\"{name}\"]"),
            Self::Ambient(name) => alloc::format!("{name} = true"),
        }
    }
}

impl Capability {
    /// Returns the line that declares this in the `[capabilities]` of an app, as TOML.
    #[must_use]
    pub fn declaration(&self) -> String {
        match self {
            Self::Files(rule) => {
                let path = rule.path.as_str();
                let user = path.strip_prefix("/user/");
                let user = user.filter(|name| crate::USER_PATHS.contains(name));
                match user {
                    Some(name) => alloc::format!("fs.user-paths.{name} = \"{}\"", rule.access),
                    None if path == "/app-data" => {
                        alloc::format!("fs.app-data = \"{}\"", rule.access)
                    }
                    None => self.setting(),
                }
            }
            Self::Selected(access) => alloc::format!("fs.user-selected = \"{access}\""),
            Self::Subprocess => "\"tool.exec.subprocess\" = true".into(),
            Self::Brokered(name) if name.as_str() == "mcp.*" => "\"tools.mcp\" = true".into(),
            Self::Brokered(name) => alloc::format!("calls = [\"{name}\"]"),
            Self::Net(_) | Self::Env(_) | Self::Ambient(_) => self.setting(),
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Files(rule) if rule.host_path().is_some() => {
                let path = rule.host_path().unwrap_or_default();
                write!(f, "fs.read of {}", jp_text::inline(path))
            }
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
            Self::Selected(Access::Read) => f.write_str("fs.user-selected for reading"),
            Self::Selected(Access::ReadWrite) => f.write_str("fs.user-selected for writing"),
            Self::Env(name) => write!(f, "the variable {name}"),
            Self::Ambient(name) => f.write_str(name),
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
        if let Some(access) = self.selected {
            write!(f, " selected={access}")?;
        }
        write!(f, " net={}", self.net)?;
        if self.subprocess {
            f.write_str(" subprocess")?;
        }
        if !self.brokered.is_none() {
            write!(f, " calls={}", self.brokered)?;
        }
        for (at, name) in self.env.iter().enumerate() {
            write!(f, "{}{name}", if at == 0 { " env=" } else { "," })?;
        }
        // The usual goes without saying.
        for name in self.ambient.withheld() {
            write!(f, " no-{name}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "capabilities_tests.rs"]
mod tests;
