//! Receipts: what was verified on this machine, and under which key.
//!
//! They make a listing quick: a receipt stands for a manifest that was fetched, checked and kept. It
//! counts only while the key is trusted for the name and nothing about the tool is revoked, and what
//! is run is verified again from its own bytes: a receipt lets nothing run.

mod error;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use semver::Version;
use serde::{Deserialize, Serialize};

pub(crate) use error::ReceiptError;

use crate::{
    Digest, InstallError, ToolId,
    disk::{self, Disk},
    key::KeyId,
    lock::LockedTool,
    revocation::Revocations,
    trust::{Standing, TrustRoots},
    verify::VerifyError,
};

/// A larger file is refused.
const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// The oldest beyond these are dropped; their tools are verified again when they are used.
const MAX_RECEIPTS: usize = 4096;

/// A longer summary is cut, and ends in an ellipsis.
const MAX_SUMMARY: usize = 300;

/// The format that is read and written.
const VERSION: u32 = 1;

/// What was verified on this machine, by the digest of the manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipts {
    path: PathBuf,
    receipts: BTreeMap<Digest, Receipt>,
}

/// One manifest that was verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// The tool.
    pub id: ToolId,
    /// Its version.
    pub version: Version,
    /// The key that signed it.
    pub key: KeyId,
    /// The bytes of the tool.
    pub sha256: Digest,
    /// What the model sees.
    pub shown: Digest,
    /// What the tool asks for.
    pub capabilities: Digest,
    /// The registry it came from.
    pub registry: String,
    /// What the tool does, in a line.
    pub summary: String,
    /// Why it should not be used any more, as its registry said when last asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
    /// When it was verified, in seconds since 1970.
    pub verified_at: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    receipts: BTreeMap<Digest, Receipt>,
}

impl Receipts {
    /// Reads the receipts in a file; one that is not there has none.
    ///
    /// # Errors
    ///
    /// When the file cannot be read or does not hold receipts.
    pub fn open(path: &Path) -> Result<Self, InstallError> {
        Ok(Self::load(path)?)
    }

    fn load(path: &Path) -> Result<Self, ReceiptError> {
        let bytes = disk::read(path, MAX_BYTES).map_err(|source| ReceiptError::Io {
            path: path.to_owned(),
            source,
        })?;
        let mut all = Self {
            path: path.to_owned(),
            receipts: BTreeMap::new(),
        };
        let Some(bytes) = bytes else { return Ok(all) };
        let file: File =
            serde_json::from_slice(&bytes).map_err(|e| all.malformed(&e.to_string()))?;
        if file.version != VERSION {
            return Err(all.malformed(&format!("version {}", file.version)));
        }
        all.receipts = file.receipts;
        Ok(all)
    }

    /// Returns the receipt of a manifest.
    #[must_use]
    pub fn get(&self, manifest: &Digest) -> Option<&Receipt> {
        self.receipts.get(manifest)
    }

    /// Returns the receipt of a locked tool, if it still counts.
    ///
    /// # Errors
    ///
    /// When there is none, the lock file differs from it, the key is not trusted for the tool
    /// any more, or a revocation is known.
    pub fn valid(
        &self,
        tool: &LockedTool,
        roots: &TrustRoots,
        revoked: &Revocations,
    ) -> Result<&Receipt, VerifyError> {
        let name = || tool.name.clone();
        let receipt = self.get(&tool.manifest);
        let receipt = receipt.ok_or_else(|| VerifyError::NeverVerified { name: name() })?;
        let same = [
            ("id", receipt.id == tool.id),
            ("version", receipt.version == tool.version),
            ("key", receipt.key == tool.key),
            ("sha256", receipt.sha256 == tool.sha256),
            ("digest of what the model sees", receipt.shown == tool.shown),
            (
                "digest of the capabilities",
                receipt.capabilities == tool.capabilities,
            ),
        ];
        let differs = |field| VerifyError::LockDiffers {
            name: name(),
            field,
        };
        if let Some((field, _)) = same.into_iter().find(|(_, same)| !same) {
            return Err(differs(field));
        }
        if !may_be_of(receipt, &tool.registry, roots) {
            return Err(differs("registry"));
        }
        if let Some(reason) = revocation(tool, roots, revoked) {
            return Err(VerifyError::Revoked {
                id: tool.id.clone(),
                version: tool.version.clone(),
                reason,
            });
        }
        match roots.standing(&tool.key, &tool.id) {
            // What was installed under a key goes on working when the key gives its names away.
            Standing::Trusted(_) | Standing::RotatedAway { .. } => Ok(receipt),
            Standing::OtherNames { .. } | Standing::Unknown | Standing::Revoked { .. } => {
                Err(VerifyError::NotTrusted {
                    id: tool.id.clone(),
                    key: tool.key,
                })
            }
        }
    }

    /// Returns when the newest of them was verified, in seconds since 1970.
    #[must_use]
    pub fn newest(&self) -> Option<u64> {
        self.receipts
            .values()
            .map(|receipt| receipt.verified_at)
            .max()
    }

    /// Adds a receipt to the file, beside those that others added meanwhile.
    ///
    /// # Errors
    ///
    /// When the file cannot be read or written.
    pub(crate) fn add(
        &mut self,
        disk: &Disk,
        manifest: Digest,
        mut receipt: Receipt,
    ) -> Result<(), ReceiptError> {
        if receipt.summary.len() > MAX_SUMMARY {
            let end = receipt.summary.floor_char_boundary(MAX_SUMMARY);
            receipt.summary.truncate(end);
            receipt.summary.push('…');
        }
        self.change(disk, |receipts| {
            receipts.insert(manifest, receipt);
        })
    }

    fn change(
        &mut self,
        disk: &Disk,
        change: impl FnOnce(&mut BTreeMap<Digest, Receipt>),
    ) -> Result<(), ReceiptError> {
        let failed = |source| ReceiptError::Io {
            path: self.path.clone(),
            source,
        };
        let held = disk
            .lock(&self.path.with_extension("lock"))
            .map_err(failed)?;
        // A damaged file is started anew: every receipt in it can be had again.
        let mut receipts = match Self::load(&self.path) {
            Ok(all) => all.receipts,
            Err(ReceiptError::Malformed { .. }) => BTreeMap::new(),
            Err(error) => return Err(error),
        };
        change(&mut receipts);
        drop_oldest(&mut receipts);
        let file = File {
            version: VERSION,
            receipts,
        };
        let mut bytes = serde_json::to_vec(&file).map_err(|e| self.malformed(&e.to_string()))?;
        bytes.push(b'\n');
        disk.replace(&self.path, &bytes, disk::PRIVATE)
            .map_err(failed)?;
        drop(held);
        self.receipts = file.receipts;
        Ok(())
    }

    fn malformed(&self, reason: &str) -> ReceiptError {
        ReceiptError::Malformed {
            path: self.path.clone(),
            reason: jp_text::escape_line(reason).into_owned(),
        }
    }
}

/// Says why a tool was taken back, if it was: its bytes, its version, its key or a model of its.
pub(crate) fn revocation(
    tool: &LockedTool,
    roots: &TrustRoots,
    revoked: &Revocations,
) -> Option<String> {
    let models = tool.models.iter().map(|model| &model.sha256);
    let mut bytes = models.chain([&tool.sha256]);
    let found = bytes
        .find_map(|sha256| revoked.artifact(sha256))
        .or_else(|| revoked.version(&tool.id, &tool.version))
        .or_else(|| revoked.key(&tool.key));
    let by_user = || roots.revoked(&tool.key);
    let reason = found.map(|found| found.reason()).or_else(by_user);
    reason.map(str::to_owned)
}

fn drop_oldest(receipts: &mut BTreeMap<Digest, Receipt>) {
    while receipts.len() > MAX_RECEIPTS {
        let oldest = receipts
            .iter()
            .min_by_key(|(_, receipt)| receipt.verified_at);
        let Some(digest) = oldest.map(|(digest, _)| *digest) else {
            return;
        };
        receipts.remove(&digest);
    }
}

/// Tells whether a lock file may say that a verified tool is of this registry. Two registries may offer
/// the same tool; but naming another one must not get around what the one it came from is trusted for.
fn may_be_of(receipt: &Receipt, registry: &str, roots: &TrustRoots) -> bool {
    if receipt.registry == registry {
        return true;
    }
    let came_from = roots.registry(&receipt.registry);
    let validates = came_from.is_some_and(|registry| registry.validates);
    !validates && roots.registry(registry).is_some()
}

#[cfg(test)]
#[path = "receipt_tests.rs"]
mod tests;
