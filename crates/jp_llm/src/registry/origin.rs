//! Where a signed tool comes from and how it stands, for people: nothing of it is run, and nobody is
//! asked.

use std::path::Path;

use jp_config::{Loaded, ToolingConfig};
use jp_registry::{Digest, KeyId, ToolId};
use semver::Version;

use super::{RegistryTools, SignedProblem, pins};

/// Where a signed tool comes from, and whether it may be used.
#[derive(Debug)]
pub struct Origin {
    /// The name it was published under.
    pub id: ToolId,
    /// Its version.
    pub version: Version,
    /// The registry it came from; `None` for a tool that comes with the workspace.
    pub registry: Option<String>,
    /// The key that signed it.
    pub key: KeyId,
    /// The bytes of its Wasm file.
    pub sha256: Digest,
    /// Why it should not be used any more, if its registry says so.
    pub deprecated: Option<String>,
    /// When this machine verified it, in seconds since 1970; `None` when it does so at every call.
    pub verified_at: Option<u64>,
    /// Whether the lock file has it, as it is or otherwise.
    pub is_locked: bool,
    /// Why it cannot be used, if it cannot.
    pub problem: Option<SignedProblem>,
}

impl RegistryTools {
    /// Says where a signed tool comes from; `None` for one that is neither locked nor a verified one of
    /// the workspace.
    #[must_use]
    pub fn origin(&self, name: &str, loaded: &Loaded, root: &Path) -> Option<Origin> {
        if let Some(ToolingConfig::Custom(custom)) = loaded.config.tooling.get(name) {
            let verified = self.verify_custom(name, custom, root).ok()?;
            let (manifest, lock) = (&verified.manifest, &self.lock);
            let found = &verified;
            let pinned = pins::check_custom(name, found, lock, &self.places);
            let deprecated = manifest.deprecated.as_ref();
            return Some(Origin {
                id: manifest.id.clone(),
                version: manifest.version.clone(),
                registry: None,
                key: verified.key,
                sha256: verified.manifest.artifact.sha256,
                deprecated: deprecated.map(|deprecated| deprecated.reason.clone()),
                verified_at: None,
                is_locked: lock.custom(name).is_some(),
                problem: pinned.err(),
            });
        }
        let locked = self.lock.get(name)?;
        let receipts = self.receipts();
        let receipt = receipts.get(&locked.manifest);
        Some(Origin {
            id: locked.id.clone(),
            version: locked.version.clone(),
            registry: Some(locked.registry.clone()),
            key: locked.key,
            sha256: locked.sha256,
            deprecated: receipt.and_then(|receipt| receipt.deprecated.clone()),
            verified_at: receipt.map(|receipt| receipt.verified_at),
            is_locked: true,
            problem: self.check(locked).err(),
        })
    }
}
