//! Trust: which workspaces the user has looked at and allowed to ask for more.
//!
//! Trust is given to a directory *and* to what its configuration and Wasm files were at that
//! moment: a `git pull` that changes them takes the trust away until the user looks again.

mod pins;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use jp_config::Loaded;
use jp_disk::{Disk, PRIVATE};
use serde::{Deserialize, Serialize};

pub use pins::Unpinned;

/// The largest trust file that is read.
const MAX_FILE: u64 = 16 * 1024 * 1024;

/// How far the user trusts the workspace of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Not at all: a stranger may have written it.
    Untrusted,
    /// It was trusted, and has changed since.
    Stale,
    /// The user has seen it as it is; the Wasm files are pinned by their hash.
    Trusted {
        /// Path of a Wasm file in the workspace, and its sha256.
        pins: BTreeMap<String, String>,
    },
}

impl Trust {
    /// Tells whether the workspace is trusted as it is.
    #[must_use]
    pub const fn is_trusted(&self) -> bool {
        matches!(self, Self::Trusted { .. })
    }
}

/// A workspace the user trusts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustedWorkspace {
    /// The hash of its configuration.
    pub configuration: String,
    /// The hashes of its Wasm files.
    #[serde(default)]
    pub wasm: BTreeMap<String, String>,
}

/// A workspace as it was found, which is what trust is given to.
#[derive(Debug)]
pub struct Looked {
    /// What trust remembers of it.
    pub workspace: TrustedWorkspace,
    /// The Wasm files its tools name that are not among the hashes, by their paths, and why not. They
    /// get nothing that trust gives.
    pub unpinned: BTreeMap<String, Unpinned>,
}

impl Looked {
    /// Looks at a workspace, and trusts nothing.
    #[must_use]
    pub fn at(root: &Path, loaded: &Loaded) -> Self {
        let (wasm, unpinned) = pins::of(root, &loaded.config);
        Self {
            workspace: TrustedWorkspace {
                configuration: digest(loaded),
                wasm,
            },
            unpinned,
        }
    }

    /// Returns the trust of a user who trusts what was found.
    #[must_use]
    pub fn trust(&self) -> Trust {
        Trust::Trusted {
            pins: self.workspace.wasm.clone(),
        }
    }
}

/// Why the trust file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// It could not be read or written.
    #[error("cannot use the trust file {path}: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is not what jp writes.
    #[error("the trust file {path} is damaged ({reason}); remove it to trust nothing")]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

/// The file that remembers which workspaces are trusted. It belongs to the user, never to a
/// workspace.
pub struct TrustStore {
    path: PathBuf,
    workspaces: BTreeMap<String, TrustedWorkspace>,
}

impl TrustStore {
    /// Reads the file; none means that nothing is trusted.
    ///
    /// # Errors
    ///
    /// When the file is there and cannot be read or understood.
    pub fn open(path: &Path) -> Result<Self, TrustError> {
        let failed = |source| TrustError::Io {
            path: path.to_owned(),
            source,
        };
        let damaged = |reason| TrustError::Damaged {
            path: path.to_owned(),
            reason,
        };
        use io::ErrorKind::{FileTooLarge, InvalidInput};
        let workspaces = match jp_disk::read(path, MAX_FILE) {
            Ok(None) => BTreeMap::new(),
            Ok(Some(bytes)) => {
                serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?
            }
            Err(error) if matches!(error.kind(), FileTooLarge | InvalidInput) => {
                return Err(damaged("too large, or not a regular file".to_owned()));
            }
            Err(error) => return Err(failed(error)),
        };
        Ok(Self {
            path: path.to_owned(),
            workspaces,
        })
    }

    /// Says how far a workspace is trusted as it is now.
    #[must_use]
    pub fn check(&self, root: &Path, loaded: &Loaded) -> Trust {
        let Some(known) = self.workspaces.get(&key(root)) else {
            return Trust::Untrusted;
        };
        if known.configuration == digest(loaded) {
            Trust::Trusted {
                pins: known.wasm.clone(),
            }
        } else {
            Trust::Stale
        }
    }

    /// Trusts a workspace as it is now, and returns what was found.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn trust(&mut self, root: &Path, loaded: &Loaded) -> Result<Looked, TrustError> {
        let looked = Looked::at(root, loaded);
        let workspace = looked.workspace.clone();
        self.change(|workspaces| workspaces.insert(key(root), workspace))?;
        Ok(looked)
    }

    /// Takes the trust back; false when there was none.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn forget(&mut self, root: &Path) -> Result<bool, TrustError> {
        let removed = self.change(|workspaces| workspaces.remove(&key(root)))?;
        Ok(removed.is_some())
    }

    /// Changes the file as it is now, not as it was when it was opened: another process may have
    /// changed it meanwhile, and what it revoked must stay revoked.
    fn change<T>(
        &mut self,
        change: impl FnOnce(&mut BTreeMap<String, TrustedWorkspace>) -> T,
    ) -> Result<T, TrustError> {
        let failed = |source| TrustError::Io {
            path: self.path.clone(),
            source,
        };
        let lock = Disk::real().lock(&self.path.with_extension("lock"));
        let _lock = lock.map_err(failed)?;
        self.workspaces = Self::open(&self.path)?.workspaces;
        let changed = change(&mut self.workspaces);
        self.save()?;
        Ok(changed)
    }

    /// Returns the trusted workspaces.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &TrustedWorkspace)> {
        self.workspaces
            .iter()
            .map(|(path, workspace)| (path.as_str(), workspace))
    }

    fn save(&self) -> Result<(), TrustError> {
        let write = || -> io::Result<()> {
            let mut bytes = serde_json::to_vec_pretty(&self.workspaces)?;
            bytes.push(b'\n');
            Disk::real().replace(&self.path, &bytes, PRIVATE)
        };
        write().map_err(|source| TrustError::Io {
            path: self.path.clone(),
            source,
        })
    }
}

fn key(root: &Path) -> String {
    root.to_string_lossy().into_owned()
}

fn digest(loaded: &Loaded) -> String {
    loaded
        .workspace_digest
        .map_or_else(String::new, |bytes| hex(&bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
