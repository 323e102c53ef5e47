//! What else changes in a registry: deprecations, revocations, rotated keys, models.

use std::path::Path;

use jp_registry::{
    Digest, IndexModel, ModelManifest, Place, Revocation, RevokedThing, Rotations, Signatures,
    SignedRotation, Source as _, StaticSource, ToolId, document_digest,
};
use semver::VersionReq;
use serde_json::Value;

use super::{
    PublishError, Registry,
    commit::{Change, hash},
};
use crate::sign::{countersign, pretty};

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

    /// Signs the index and the revocations anew, with today's date, so that readers can tell them
    /// from old ones. With `holds`, in seconds, they say from now on until when they hold, and
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

    /// Passes on a statement that one key takes the place of another.
    ///
    /// # Errors
    /// If the list cannot be read or written.
    pub fn add_rotation(&self, rotation: SignedRotation) -> Result<(), PublishError> {
        let mut rotations = match StaticSource::in_dir(&self.dir).rotations()? {
            Some(bytes) => Rotations::read(&bytes)?,
            None => Rotations::default(),
        };
        if !rotations.rotations.contains(&rotation) {
            rotations.rotations.push(rotation);
        }
        let mut change = Change::default();
        change.add(&Place::Rotations.path()?, pretty(&rotations));
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
                    let place = Place::Blob(sha256).path()?;
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
        let digest = document_digest(manifest)?;
        let entry = IndexModel { manifest: digest };
        let place = Place::Model(&read.id);
        let (place, beside) = (place.path()?, place.signatures()?);
        index.models.insert(read.id, entry);
        let mut signatures = Signatures::default();
        signatures.add(countersign(manifest, self.key)?)?;
        let mut change = Change::default();
        change.add(&beside, signatures.to_bytes());
        change.add(&place, pretty(manifest));
        self.sign_index(&mut change, index)?;
        self.commit(change)?;
        Ok(digest)
    }
}
