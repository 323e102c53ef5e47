//! From a name to a verified manifest: of the lock file, or of the workspace itself.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use jp_config::{CustomTool, SignatureSource, ToolingConfig};
use jp_registry::{
    Expected, ExpectedDigest, Fetched, FormatError, InstallError, LockedTool, Purpose,
    ToolManifest, Verified, VerifiedManifest, VerifyError,
};

use super::{RegistryTools, SignedProblem, Stored, pins};

/// A signed tool that was found, and verified.
pub(crate) struct Found {
    /// What it is.
    pub(crate) manifest: ToolManifest,
    /// Where its bytes are.
    pub(crate) stored: Stored,
}

impl RegistryTools {
    /// Finds a tool of the lock file, and verifies its manifest.
    pub(crate) fn locked(
        self: &Arc<Self>,
        name: &str,
        wanted: Option<&ToolingConfig>,
    ) -> Result<Found, SignedProblem> {
        let locked = self.lock.get(name).ok_or(SignedProblem::NotLocked)?;
        fits(name, locked, wanted)?;
        self.check(locked)?;
        let kept = self.places.kept_manifest(&locked.manifest);
        let kept = kept.map_err(|error| SignedProblem::Unreadable {
            source: error.into(),
        })?;
        let expected = Expected {
            id: locked.id.clone(),
            version: Some(locked.version.clone()),
            digest: Some(ExpectedDigest::Lock(locked.manifest)),
            registry: Some(locked.registry.clone()),
            purpose: Purpose::Installed,
        };
        let fetched = kept.ok_or(SignedProblem::NotInstalled)?;
        let (verified, manifest) = self.verified(fetched, &expected)?;
        let same = [
            (
                "artifact",
                locked.sha256 == verified.manifest.artifact.sha256,
            ),
            ("key", locked.key == verified.key),
            (
                "description or schema",
                locked.shown == manifest.shown_digest,
            ),
            (
                "request for capabilities",
                locked.capabilities == manifest.capabilities_digest,
            ),
            (
                "list of models",
                locked.models == manifest.model_dependencies,
            ),
        ];
        if let Some((what, _)) = same.iter().find(|(_, same)| !same) {
            return Err(SignedProblem::LockChanged {
                source: format!("the {what} differs").into(),
            });
        }
        let stored = Stored::of_registry(Arc::clone(self), verified, Box::new(locked.clone()));
        Ok(Found { manifest, stored })
    }

    /// Finds a tool that comes with the workspace, verifies its manifest, and compares it with what the
    /// lock file has.
    pub(crate) fn custom(
        self: &Arc<Self>,
        name: &str,
        custom: &CustomTool,
        root: &Path,
    ) -> Result<Found, SignedProblem> {
        let verified = self.verify_custom(name, custom, root)?;
        pins::check_custom(name, &verified, &self.lock, &self.places)?;
        let manifest = verified.manifest.clone();
        let verified = VerifiedManifest::clone(&verified);
        let stored = Stored::of_workspace(Arc::clone(self), verified, custom.path.clone());
        Ok(Found { manifest, stored })
    }

    /// Verifies a tool that comes with the workspace.
    pub(super) fn verify_custom(
        &self,
        name: &str,
        custom: &CustomTool,
        root: &Path,
    ) -> Result<Verified, SignedProblem> {
        let brought = brought(name, custom);
        let brought = brought.map_err(|error| SignedProblem::Refused {
            source: error.into(),
        })?;
        let verified = jp_registry::verify_custom(root, &brought, &self.known);
        verified.map_err(|error| match error {
            InstallError::Verify(error) => problem(error),
            InstallError::Brought { path, source } if is_absent(&source) => SignedProblem::NoFile {
                name: name.to_owned(),
                path: path.display().to_string(),
            },
            other => SignedProblem::Refused {
                source: other.into(),
            },
        })
    }

    fn verified(
        &self,
        fetched: Fetched,
        expected: &Expected,
    ) -> Result<(VerifiedManifest, ToolManifest), SignedProblem> {
        let verified =
            jp_registry::verify(fetched, &self.known.roots, &self.known.revoked, expected);
        let verified = verified.map_err(problem)?;
        let manifest = verified.manifest.clone();
        Ok((verified, manifest))
    }
}

/// Tells whether a file could not be read because something else, or nothing, is in its place.
fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | IsADirectory)
}

/// Says in the words of the registry which tool comes with the workspace under a name.
///
/// # Errors
///
/// When the name is invalid.
pub fn brought(name: &str, custom: &CustomTool) -> Result<jp_registry::CustomTool, FormatError> {
    let signature = match &custom.signature {
        SignatureSource::Inline(text) => text.clone(),
        SignatureSource::File(path) => path.to_string(),
    };
    Ok(jp_registry::CustomTool {
        name: name.parse()?,
        path: PathBuf::from(custom.path.as_str()),
        manifest: PathBuf::from(custom.manifest.as_str()),
        signature,
    })
}

/// Refuses a locked tool that is not the one the configuration asks for.
fn fits(
    name: &str,
    locked: &LockedTool,
    wanted: Option<&ToolingConfig>,
) -> Result<(), SignedProblem> {
    let Some(ToolingConfig::Registry(wanted)) = wanted else {
        return Ok(());
    };
    let id = wanted.id.as_deref().unwrap_or(name);
    let registry = wanted.registry.as_ref();
    let reason = if id != locked.id.as_str() {
        format!("it asks for `{id}`, but the lock file has `{}`", locked.id)
    } else if !wanted.version.matches(&locked.version) {
        format!(
            "it asks for version {}, but the lock file has {}",
            wanted.version, locked.version
        )
    } else if registry.is_some_and(|registry| *registry != locked.registry) {
        "it asks for a different registry".to_owned()
    } else {
        return Ok(());
    };
    Err(SignedProblem::Unfit { reason })
}

/// Says what is wrong in the words of the pipeline.
pub(super) fn problem(error: VerifyError) -> SignedProblem {
    match &error {
        VerifyError::ArtifactRevoked { .. }
        | VerifyError::VersionRevoked { .. }
        | VerifyError::KeyRevoked { .. } => SignedProblem::Revoked {
            source: error.into(),
        },
        VerifyError::RevocationsLost { .. } => SignedProblem::RevocationsLost {
            source: error.into(),
        },
        VerifyError::WrongDigest { .. } | VerifyError::WrongVersion { .. } => {
            let source = error.into();
            SignedProblem::LockChanged { source }
        }
        VerifyError::UnknownKey { id, key } => SignedProblem::Key {
            id: id.to_string(),
            key: key.to_string(),
            standing: "you do not trust".to_owned(),
        },
        VerifyError::WrongKey { id, key, .. } => SignedProblem::Key {
            id: id.to_string(),
            key: key.to_string(),
            standing: "you trust for other tools".to_owned(),
        },
        VerifyError::NeverVerified { .. } => SignedProblem::NotInstalled,
        VerifyError::LockDiffers { field, .. } => SignedProblem::LockChanged {
            source: format!("the {field} differs").into(),
        },
        VerifyError::NotTrusted { id, key } => SignedProblem::Key {
            id: id.to_string(),
            key: key.to_string(),
            standing: "you do not trust to sign it".to_owned(),
        },
        VerifyError::Revoked { reason, .. } => SignedProblem::Revoked {
            source: jp_text::inline(reason).to_string().into(),
        },
        _ => SignedProblem::Refused {
            source: error.into(),
        },
    }
}
