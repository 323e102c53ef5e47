//! From fetched to verified: the only way in.
//!
//! A [`Fetched`](crate::Fetched) is a stranger's. [`verify()`] checks it against what was asked for, whom the
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
    ops::Deref,
    path::{Path, PathBuf},
};

use semver::Version;
use serde_json::Value;

pub use check::verify;
pub use error::VerifyError;

use crate::{Digest, ToolId, key::KeyId, manifest::ToolManifest};

/// A larger manifest is refused.
pub const MAX_MANIFEST: usize = 1024 * 1024;

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

/// The digest that a canonical manifest must have, and who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedDigest {
    /// The registry's index.
    Index(Digest),
    /// The lock file.
    Lock(Digest),
}

impl ExpectedDigest {
    pub(crate) const fn digest(self) -> Digest {
        match self {
            Self::Index(digest) | Self::Lock(digest) => digest,
        }
    }
}

/// What a manifest is verified for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To be installed: the key must be trusted now.
    Install,
    /// It was verified on this machine before: a key that has since been replaced still counts.
    Installed,
}

/// What is known of a manifest that was verified. Anybody can write this down: that it is true, only a
/// [`VerifiedManifest`] says.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// The manifest.
    pub manifest: ToolManifest,
    /// The manifest as it was written.
    pub document: Value,
    /// The digest of the canonical manifest.
    pub digest: Digest,
    /// The publisher's key that signed it.
    pub key: KeyId,
    /// The registry's key that validated it, when one did.
    pub validated_by: Option<KeyId>,
    /// Where it came from.
    pub from: String,
}

/// A manifest that a trusted key signed for its name, and that nobody took back. It can be read as its
/// `Facts`, and changed by nobody.
#[derive(Debug, Clone, PartialEq)]
pub struct VerifiedManifest(Facts);

/// A verified manifest and the artifact it pins.
#[derive(Debug, Clone, PartialEq)]
pub struct Verified {
    of: VerifiedManifest,
    path: PathBuf,
}

impl Deref for VerifiedManifest {
    type Target = Facts;

    fn deref(&self) -> &Facts {
        &self.0
    }
}

impl Deref for Verified {
    type Target = VerifiedManifest;

    fn deref(&self) -> &VerifiedManifest {
        &self.of
    }
}

impl VerifiedManifest {
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
        let ToolManifest { id, artifact, .. } = &self.manifest;
        if size != artifact.size_bytes {
            return Err(VerifyError::ArtifactSize {
                id: id.clone(),
                size,
                expected: artifact.size_bytes,
            });
        }
        if sha256 != artifact.sha256 {
            return Err(VerifyError::ArtifactDigest {
                id: id.clone(),
                sha256,
                expected: artifact.sha256,
            });
        }
        Ok(Verified { of: self, path })
    }
}

impl Verified {
    /// Returns where the artifact lies. Code that loads it takes [`Verified::bytes`].
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
        let manifest = &self.manifest;
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
