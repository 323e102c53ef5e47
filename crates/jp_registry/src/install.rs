//! Installing tools: from a name to verified bytes, a receipt and a line in the lock file.
//!
//! Everything is handed in: places, keys, registries, policies, the clock and who decides. A
//! change becomes real with one rename, that of the lock file, and before it everything it needs is
//! in place: a crash leaves the old version or the new one. What is installed here is not run here.

use std::{
    io,
    path::{Path, PathBuf},
};

use jp_policy::{BrokeredName, Form, Policy};
use semver::Version;

use crate::{
    ToolId,
    diff::Diff,
    disk::Disk,
    key::KeyId,
    lock::{LOCK_FILE, Lock, LockedCustom, LockedTool},
    receipt::Receipts,
    source::Source,
    store::Store,
    trust::NamePattern,
};

use asked::Asked;

mod asked;
mod brought;
mod candidate;
mod choose;
mod commit;
mod custom;
mod ensure;
mod error;
mod kept;
mod known;
mod mcp;
mod names;
mod search;
mod spec;
mod unmet;
mod update;
mod versions;
mod warning;

pub use custom::{CustomTool, verify_custom};
pub use ensure::Ready;
pub use error::InstallError;
pub use known::Known;
pub use mcp::McpTool;
pub use search::{Hit, Outdated};
pub use spec::Spec;
pub(crate) use spec::VersionsError;
pub use unmet::Unmet;
pub use versions::Versions;
pub use warning::Warning;

/// Where things are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The lock file of the workspace.
    pub lock: PathBuf,
    /// What registries said and what was verified; of the user, for all workspaces.
    pub data: PathBuf,
    /// The trust file of the user.
    pub keys: PathBuf,
}

/// A registry by the name that the configuration and the trust file give it.
pub struct Registry {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub source: Box<dyn Source>,
}

/// What may be changed and reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Registries are asked and the lock file may change.
    #[default]
    Normal,
    /// The lock file stays as it is (`--locked`); what it names may be fetched.
    Locked,
    /// Nothing is fetched: what is kept here must do.
    Offline,
}

/// What a person says to a [`Change`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It is wanted.
    Accept,
    /// Everything stays as it is.
    Refuse,
}

/// A change that a person must accept.
#[derive(Debug)]
pub enum Change<'a> {
    /// Another version of a tool shows or asks for something else.
    Tool {
        /// The version that is there.
        from: &'a LockedTool,
        /// The version that would be.
        to: &'a LockedTool,
        /// What differs, and why it must be accepted.
        diff: &'a Diff,
        /// Which versions are asked for and by whom, if it goes back for their sake.
        back: Option<&'a str>,
    },
    /// A tool that comes with the workspace is something else than what was accepted.
    Custom {
        /// What was accepted.
        from: &'a LockedCustom,
        /// What is there now.
        to: &'a LockedCustom,
        /// What differs, and why it must be accepted.
        diff: &'a Diff,
    },
    /// A tool of an MCP server shows something else than what was accepted.
    Mcp {
        /// The server.
        server: &'a str,
        /// The tool, as the server names it: escape it before it is shown.
        tool: &'a str,
        /// What differs.
        diff: &'a Diff,
    },
    /// A trusted key gives its names to another.
    Key {
        /// The registry that passed the statement on.
        registry: &'a str,
        /// The key that is trusted.
        old: KeyId,
        /// The key that would be.
        new: KeyId,
        /// For these names.
        names: &'a [NamePattern],
    },
}

/// Called with a change that must be accepted; never answered by a model.
type Decide<'a> = Box<dyn Fn(&Change<'_>) -> Decision + 'a>;

/// Called with what is fetched, how many bytes are there, and of how many if that is known.
type Report<'a> = Box<dyn Fn(&str, u64, Option<u64>) + 'a>;

/// Installs, updates and removes the tools of one workspace.
pub struct Installer<'a> {
    /// Where things are kept.
    pub places: Places,
    /// How files are changed.
    pub disk: Disk,
    /// The artifacts of all workspaces.
    pub store: Store,
    /// The registries, in the order in which they are asked.
    pub registries: Vec<Registry>,
    /// What the user allows.
    pub host: Policy,
    /// What the workspace allows.
    pub app: Policy,
    /// Names that are taken.
    pub builtins: Vec<String>,
    /// Tells whether a name stands for anything that the host does on tools' behalf.
    pub is_known: fn(&BrokeredName) -> bool,
    /// Returns from the bytes of an artifact how it runs, as far as that decides what it can be given.
    pub form: fn(&[u8]) -> Form,
    /// What the workspace asks for in `[tooling]`.
    pub wanted: Vec<Spec>,
    /// Seconds since 1970.
    pub now: u64,
    /// What may be changed and reached.
    pub mode: Mode,
    /// Who decides.
    pub decide: Decide<'a>,
    /// Called while something is fetched.
    pub progress: Report<'a>,
}

/// What was done about one tool, of a registry unless it says otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct Installed<T = LockedTool> {
    /// What is locked now.
    pub tool: T,
    /// What was locked before.
    pub before: Option<T>,
    /// What the tool asks for, one line each.
    pub asks: Vec<String>,
    /// What the person should know.
    pub warnings: Vec<Warning>,
}

impl<T: PartialEq> Installed<T> {
    /// Tells whether the lock file was changed.
    #[must_use]
    pub fn is_change(&self) -> bool {
        self.before.as_ref() != Some(&self.tool)
    }
}

impl Places {
    /// Returns the usual places of a workspace and of a user.
    #[must_use]
    pub fn new(workspace: &Path, data_dir: &Path) -> Self {
        Self {
            lock: workspace.join(LOCK_FILE),
            data: data_dir.join("registry"),
            keys: data_dir.join("keys.json"),
        }
    }

    /// Returns the file of receipts.
    #[must_use]
    pub fn receipts(&self) -> PathBuf {
        self.data.join("receipts.json")
    }

    /// Returns the file of known revocations.
    #[must_use]
    pub fn revocations(&self) -> PathBuf {
        self.data.join("revocations.json")
    }

    /// Returns where a registry's last index is kept.
    fn index(&self, registry: &ToolId) -> PathBuf {
        let dir = self.data.join("registries").join(registry.as_str());
        dir.join("index.json")
    }
}

impl Installer<'_> {
    /// Installs a tool, or checks the one that is locked under its name. What the workspace asks for
    /// counts beside what the spec says.
    ///
    /// # Errors
    ///
    /// When it cannot be found, fetched or verified, could never run, is revoked, has a name that is
    /// taken, or changes something that nobody accepted. The lock file is then as it was.
    pub fn install(&self, spec: &Spec) -> Result<Installed, InstallError> {
        self.install_asked(&self.typed(spec))
    }

    fn install_asked(&self, asked: &Asked<'_>) -> Result<Installed, InstallError> {
        let lock = Lock::open(&self.places.lock)?;
        let locked = lock.get(asked.name.as_str()).cloned();
        let same = |tool: &&LockedTool| {
            let registry = asked.registry;
            tool.id == *asked.id
                && asked.fits(&tool.version)
                && registry.is_none_or(|registry| *registry == tool.registry)
        };
        if let Some(tool) = locked.as_ref().filter(same) {
            return self.check(tool);
        }
        if let Some(tool) = &locked {
            self.refuse_unfit(tool, asked)?;
        }
        self.refuse_taken(asked.name, asked.id, &lock)?;
        let known = self.known()?;
        let (candidate, known) = self.find(asked, known)?;
        self.put(asked, locked, candidate, &known, &lock)
    }

    /// Takes a tool out of the lock file, and returns its version. Its bytes stay, for other
    /// workspaces.
    ///
    /// # Errors
    ///
    /// When it is not there, or the lock file may not be changed.
    pub fn remove(&self, name: &ToolId) -> Result<Version, InstallError> {
        if self.mode == Mode::Locked {
            let change = format!("`{name}` would be removed");
            return Err(InstallError::Locked { change });
        }
        self.change_lock(|lock| {
            let gone = lock.remove(name).map(|tool| tool.version);
            let gone = gone.or_else(|| lock.remove_custom(name).map(|tool| tool.version));
            gone.ok_or_else(|| InstallError::NotLocked { name: name.clone() })
        })
    }

    /// Opens the receipts.
    pub(crate) fn receipts(&self) -> Result<Receipts, InstallError> {
        Receipts::open(&self.places.receipts())
    }

    fn io(path: &Path) -> impl Fn(io::Error) -> InstallError {
        move |source| InstallError::Io {
            path: path.to_owned(),
            source,
        }
    }
}

/// A name, and what was done about the tool.
pub(crate) type Outcome<T = LockedTool> = (ToolId, Result<Installed<T>, InstallError>);
