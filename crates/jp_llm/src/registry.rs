//! Signed tools in the pipeline: tools of registries, as the workspace's lock file pins them, and tools
//! that come signed with the workspace.
//!
//! What is verified and how is `jp_registry`'s business; nothing here trusts a byte that crate has not
//! handed out as verified.

mod fetch;
mod load;
mod origin;
mod pins;
mod problem;
mod seen;
mod standing;
pub(crate) mod stored;
mod transport;

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, PoisonError, RwLock},
    time::{SystemTime, UNIX_EPOCH},
};

use jp_config::Loaded;
use jp_registry::{InstallError, Known, Lock, Places, Receipts, Source, Store, ToolId};
use semver::Version;

use crate::{ToolError, runtime::mcp::Defined, tool::refuse_undeclared};

pub use crate::tool::declare;
pub(crate) use load::Found;
pub use load::brought;
pub use origin::Origin;
pub use problem::SignedProblem;
pub(crate) use seen::Seen;
pub(crate) use stored::Stored;
pub use transport::{DownloadTransport, Wait, Waiting};

/// What a host knows of signed tools. Holds what it was handed; nothing else is read from the disk until
/// a tool is used.
pub struct RegistryTools {
    /// Which tools the workspace uses.
    pub lock: Lock,
    /// What was verified on this machine; a call may add to it.
    receipts: RwLock<Arc<Receipts>>,
    /// Whose keys count, and what was revoked.
    pub known: Known,
    /// Artifacts and models.
    pub store: Store,
    /// Where what is missing may be fetched from, by the names of registries; none when offline.
    pub sources: BTreeMap<String, Arc<dyn Source>>,
    /// Tells the time, in seconds since 1970.
    pub now: fn() -> u64,
    /// Where all of this is kept.
    pub places: Places,
}

/// A locked tool, as a listing shows it.
#[derive(Debug)]
pub struct Listed {
    /// Its name in the workspace.
    pub name: ToolId,
    /// Its version.
    pub version: Version,
    /// What it does, in a line; empty when this machine has never verified it.
    pub summary: String,
    /// Why it should not be used any more, if its registry says so.
    pub deprecated: Option<String>,
    /// Why it cannot be used, if it cannot.
    pub problem: Option<SignedProblem>,
}

impl RegistryTools {
    /// Reads what is known of a workspace's signed tools, without asking anybody: the lock file, the
    /// receipts, the trusted keys and the revocations. Sources are there to be added.
    ///
    /// # Errors
    ///
    /// When one of these files is there and cannot be used.
    pub fn open(places: &Places, store: Store) -> Result<Self, InstallError> {
        Ok(Self {
            lock: Lock::open(&places.lock)?,
            receipts: RwLock::new(Arc::new(Receipts::open(&places.receipts())?)),
            known: places.known()?,
            store,
            sources: BTreeMap::new(),
            now: || {
                let since = SystemTime::now().duration_since(UNIX_EPOCH);
                since.map_or(0, |since| since.as_secs())
            },
            places: places.clone(),
        })
    }

    /// Lists the locked tools from what is in memory: no manifest is read.
    pub fn list(&self, loaded: &Loaded, root: &Path) -> impl Iterator<Item = Listed> {
        let receipts = self.receipts();
        self.lock.tools().map(move |locked| {
            let declared = refuse_undeclared(locked, loaded, root);
            let receipt = receipts.get(&locked.manifest);
            let summary = receipt.map(|receipt| receipt.summary.clone());
            Listed {
                name: locked.name.clone(),
                version: locked.version.clone(),
                summary: summary.unwrap_or_default(),
                deprecated: receipt.and_then(|receipt| receipt.deprecated.clone()),
                problem: declared.and_then(|()| self.check(locked)).err(),
            }
        })
    }

    fn receipts(&self) -> Arc<Receipts> {
        let held = self.receipts.read();
        Arc::clone(&held.unwrap_or_else(PoisonError::into_inner))
    }

    /// Refuses a tool of an MCP server that is not what a person accepted.
    pub(crate) fn check_server_tool(
        &self,
        name: &str,
        server: &str,
        defined: &Defined,
    ) -> Result<(), ToolError> {
        pins::check(name, server, defined, &self.lock, &self.places)
    }
}
