//! From fetched to verified: the only way in.
//!
//! A [`FetchedManifest`] is a stranger's. [`verify()`] checks it against what was asked for, whom the
//! user trusts and what was taken back, and gives a [`VerifiedManifest`]; the store adds the artifact
//! that the manifest pins, and only the [`Verified`] of both can be loaded. What a manifest asks for
//! stays a request: nothing here grants anything.

mod check;
mod error;
mod publisher;
#[cfg(test)]
mod tests;

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use semver::Version;
use serde_json::Value;

pub use check::verify;
pub use error::{DigestSource, VerifyError};

use crate::{Digest, ToolId, key::KeyId, manifest::ToolManifest};

/// A larger manifest is refused.
pub const MAX_MANIFEST: usize = 1024 * 1024;

/// A manifest and its signatures as they came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedManifest {
    /// The manifest.
    pub manifest: Vec<u8>,
    /// The signature file beside it.
    pub signatures: Vec<u8>,
    /// Where they came from; shown in errors.
    pub from: String,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// Which tool.
    pub id: ToolId,
    /// Which version, when it is known.
    pub version: Option<Version>,
    /// Which manifest exactly, when it is known.
    pub digest: Option<ExpectedDigest>,
    /// The registry it comes from; none for a tool that lies beside an app.
    pub registry: Option<String>,
    /// What it is verified for.
    pub purpose: Purpose,
}

/// The digest a manifest must have, and who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectedDigest {
    /// Of the canonical manifest.
    pub digest: Digest,
    /// Who says so.
    pub source: DigestSource,
}

/// What a manifest is verified for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To be installed: the key must be trusted now.
    Install,
    /// It was verified on this machine before: a key that has since been replaced still counts.
    Installed,
}

/// A manifest that a trusted key signed for its name, and that nobody took back.
#[derive(Debug, Clone, PartialEq)]
pub struct VerifiedManifest {
    document: Value,
    manifest: ToolManifest,
    digest: Digest,
    key: KeyId,
    validated_by: Option<KeyId>,
    from: String,
}

/// A verified manifest and the artifact it pins.
#[derive(Debug, Clone, PartialEq)]
pub struct Verified {
    manifest: VerifiedManifest,
    path: PathBuf,
}

impl VerifiedManifest {
    /// Returns the manifest.
    #[must_use]
    pub const fn manifest(&self) -> &ToolManifest {
        &self.manifest
    }

    /// Returns the manifest as it was written.
    #[must_use]
    pub const fn document(&self) -> &Value {
        &self.document
    }

    /// Returns which tool it is.
    #[must_use]
    pub const fn id(&self) -> &ToolId {
        &self.manifest.id
    }

    /// Returns which version it is.
    #[must_use]
    pub const fn version(&self) -> &Version {
        &self.manifest.version
    }

    /// Returns what the artifact's sha256 must be.
    #[must_use]
    pub const fn artifact_sha256(&self) -> &Digest {
        &self.manifest.artifact.sha256
    }

    /// Returns how many bytes the artifact must have.
    #[must_use]
    pub const fn artifact_size(&self) -> u64 {
        self.manifest.artifact.size_bytes
    }

    /// Returns the digest of the canonical manifest.
    #[must_use]
    pub const fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Returns the publisher's key that signed it.
    #[must_use]
    pub const fn key(&self) -> &KeyId {
        &self.key
    }

    /// Returns the registry's key that validated it, when one did.
    #[must_use]
    pub const fn validated_by(&self) -> Option<&KeyId> {
        self.validated_by.as_ref()
    }

    /// Returns where it came from.
    #[must_use]
    pub fn from(&self) -> &str {
        &self.from
    }

    /// Adds the artifact: a file whose hash and size the store has just computed.
    ///
    /// # Errors
    ///
    /// When it is not the artifact that the manifest pins.
    pub(crate) fn with_artifact(
        self,
        path: PathBuf,
        sha256: Digest,
        size: u64,
    ) -> Result<Verified, VerifyError> {
        let artifact = &self.manifest.artifact;
        if size != artifact.size_bytes {
            return Err(VerifyError::ArtifactSize {
                id: self.manifest.id,
                size,
                expected: artifact.size_bytes,
            });
        }
        if sha256 != artifact.sha256 {
            return Err(VerifyError::ArtifactDigest {
                id: self.manifest.id,
                sha256,
                expected: artifact.sha256,
            });
        }
        let manifest = self;
        Ok(Verified { manifest, path })
    }
}

impl Verified {
    /// Returns the manifest.
    #[must_use]
    pub const fn manifest(&self) -> &ToolManifest {
        &self.manifest.manifest
    }

    /// Returns the manifest with all that is known of its signatures.
    #[must_use]
    pub const fn verified_manifest(&self) -> &VerifiedManifest {
        &self.manifest
    }

    /// Returns the publisher's key that signed the manifest.
    #[must_use]
    pub const fn key(&self) -> &KeyId {
        &self.manifest.key
    }

    /// Returns the sha256 of the artifact.
    #[must_use]
    pub const fn sha256(&self) -> &Digest {
        &self.manifest.manifest.artifact.sha256
    }

    /// Returns where the artifact lies. Whoever loads it takes [`Verified::bytes`].
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the artifact, and hashes it again: what is loaded is what was read, whatever has
    /// happened to the file since.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or is not the artifact any more.
    pub fn bytes(&self) -> Result<Vec<u8>, VerifyError> {
        let manifest = self.manifest();
        let failed = |source| VerifyError::Io {
            path: self.path.clone(),
            source,
        };
        let file = File::open(&self.path).map_err(failed)?;
        let mut bytes = Vec::new();
        let mut limited = file.take(manifest.artifact.size_bytes.saturating_add(1));
        limited.read_to_end(&mut bytes).map_err(failed)?;
        let sha256 = Digest::of(&bytes);
        if sha256 != manifest.artifact.sha256 {
            return Err(VerifyError::ArtifactDigest {
                id: manifest.id.clone(),
                sha256,
                expected: manifest.artifact.sha256,
            });
        }
        Ok(bytes)
    }
}
