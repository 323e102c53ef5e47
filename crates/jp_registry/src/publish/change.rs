//! What else changes in a registry: deprecations, revocations, rotated keys, models.

use std::{fs::File, path::Path};

use jp_disk::Sha256Hasher;
use semver::VersionReq;
use serde_json::Value;

use super::{PublishError, Registry, commit::Change, pretty};
use crate::{
    document,
    id::{Digest, ToolId},
    index::IndexModel,
    model::ModelManifest,
    revocation::{Revocation, RevocationList, RevokedThing},
    signature::{self, ListKind, Signatures},
    source::{DirSource, Source as _, layout},
    store::hash_into,
    trust::{Rotations, SignedRotation},
};

impl Registry<'_> {
    /// Says that versions of a tool should not be used any more, or with no reason that they may.
    /// Returns how many versions that are.
    ///
    /// # Errors
    /// [`PublishError::Unknown`] if no published version matches.
    pub fn deprecate(
        &self,
        id: &ToolId,
        versions: &VersionReq,
        reason: Option<&str>,
    ) -> Result<usize, PublishError> {
        let mut index = self.index()?;
        let tool = index.tools.get_mut(id);
        let mut count = 0;
        for (version, entry) in tool.into_iter().flat_map(|tool| &mut tool.versions) {
            if versions.matches(version) || *versions == VersionReq::STAR {
                entry.deprecated = reason.map(ToOwned::to_owned);
                count += 1;
            }
        }
        if count == 0 {
            let what = format!("{id}@{versions}");
            return Err(PublishError::Unknown { what });
        }
        let mut change = Change::default();
        self.sign_index(&mut change, index)?;
        self.commit(change)?;
        Ok(count)
    }

    /// Takes something back for good.
    ///
    /// # Errors
    /// [`PublishError::Unknown`] if no published version matches, or if the list cannot be read or
    /// written.
    pub fn revoke(&self, revocation: Revocation) -> Result<(), PublishError> {
        if let RevokedThing::Versions { id, versions } = &revocation.thing {
            let index = self.index()?;
            let mut offered = index
                .tools
                .get(id)
                .into_iter()
                .flat_map(|t| t.versions.keys());
            // A misspelt name would revoke nothing, and nobody would notice.
            if !offered.any(|version| revocation.thing.is_version(id, version)) {
                let what = format!("{id}@{versions}");
                return Err(PublishError::Unknown { what });
            }
        }
        let mut list = self.revocations()?;
        if !list.revoked.contains(&revocation) {
            list.revoked.push(revocation);
        }
        let mut change = Change::default();
        self.sign_revocations(&mut change, list)?;
        self.commit(change)
    }

    /// Signs the index and the revocations anew, with today's date, so that whoever gets them can tell
    /// them from old ones. With `holds`, in seconds, they say from now on until when they hold, and
    /// so do all that follow.
    ///
    /// # Errors
    /// If the lists cannot be read or written.
    pub fn renew(&self, holds: Option<u64>) -> Result<(), PublishError> {
        let mut index = self.index()?;
        let mut list = self.revocations()?;
        if let Some(holds) = holds {
            index.expires_at = Some(index.issued_at.saturating_add(holds));
            list.expires_at = Some(list.issued_at.saturating_add(holds));
        }
        let mut change = Change::default();
        self.sign_index(&mut change, index)?;
        self.sign_revocations(&mut change, list)?;
        self.commit(change)
    }

    /// Reads the revocations, which must be signed by this very key.
    fn revocations(&self) -> Result<RevocationList, PublishError> {
        let fetched = DirSource::new(&self.dir).revocations()?;
        self.own(ListKind::Revocations, fetched)
    }

    /// Passes on a statement that one key takes the place of another.
    ///
    /// # Errors
    /// If the list cannot be read or written.
    pub fn add_rotation(&self, rotation: SignedRotation) -> Result<(), PublishError> {
        let mut rotations = match DirSource::new(&self.dir).rotations()? {
            Some(bytes) => Rotations::read(&bytes)?,
            None => Rotations::default(),
        };
        rotations.add(rotation);
        let mut change = Change::default();
        change.add(layout::ROTATIONS, rotations.to_bytes());
        self.commit(change)
    }

    /// Offers a model. Each form that has no URL of its own must be among the files.
    ///
    /// # Errors
    /// If the manifest is wrong, or a file is missing.
    pub fn add_model(&self, manifest: &Value, files: &[&Path]) -> Result<Digest, PublishError> {
        let read = ModelManifest::read(manifest)?;
        let mut given = Vec::new();
        for path in files {
            given.push((hash(path)?, *path));
        }
        for artifact in read.artifacts.values() {
            let file = given.iter().find(|(sha256, _)| *sha256 == artifact.sha256);
            match file {
                Some((sha256, path)) => {
                    let place = format!("artifacts/{sha256}");
                    self.copy_in(path, &place, (*sha256, artifact.size_bytes))?;
                }
                None if artifact.url.is_some() => {}
                None => {
                    return Err(PublishError::ModelFile {
                        id: read.id,
                        sha256: artifact.sha256,
                    });
                }
            }
        }
        let mut index = self.index()?;
        let digest = document::digest(manifest)?;
        let entry = IndexModel { manifest: digest };
        let place = layout::model(&read.id);
        index.models.insert(read.id, entry);
        let mut signatures = Signatures::default();
        signatures.add(signature::countersign(manifest, self.key)?)?;
        let mut change = Change::default();
        change.add(&layout::signatures(&place), signatures.to_bytes());
        change.add(&place, pretty(manifest));
        self.sign_index(&mut change, index)?;
        self.commit(change)?;
        Ok(digest)
    }
}

fn hash(path: &Path) -> Result<Digest, PublishError> {
    let failed = |source| PublishError::Io {
        action: format!("read {}", path.display()),
        source,
    };
    let mut hash = Sha256Hasher::default();
    let file = File::open(path).map_err(failed)?;
    hash_into(&mut hash, file).map_err(failed)?;
    Ok(hash.finish())
}
