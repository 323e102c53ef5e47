//! Why something is not verified, one reason at a time.

use std::{fmt, io, path::PathBuf};

use semver::Version;

use super::ExpectedDigest;
use crate::{Digest, FormatError, ToolId, key::KeyId, trust::NamePattern};

/// Why a manifest or an artifact is refused.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The manifest is too large.
    #[error("the manifest from {from} has {size} bytes, and at most {max} are read")]
    TooLarge {
        /// Where it came from.
        from: String,
        /// How many it has.
        size: usize,
        /// How many are read.
        max: usize,
    },
    /// The manifest is not a document.
    #[error("the manifest from {from} cannot be read: {source}")]
    Document {
        /// Where it came from.
        from: String,
        /// What is wrong.
        source: FormatError,
    },
    /// It is a document, but not the manifest of a tool.
    #[error("invalid manifest from {from}: {reason}")]
    NoManifest {
        /// Where it came from.
        from: String,
        /// What is wrong.
        reason: String,
    },
    /// It is signed, but invalid.
    #[error("the manifest from {from} is refused: {source}")]
    Manifest {
        /// Where it came from.
        from: String,
        /// What is wrong.
        source: FormatError,
    },
    /// It is the manifest of another tool.
    #[error("{from} gave the manifest of `{found}` for `{expected}`")]
    WrongId {
        /// Where it came from.
        from: String,
        /// Which tool it is.
        found: ToolId,
        /// Which was asked for.
        expected: ToolId,
    },
    /// It is the manifest of another version.
    #[error("{from} gave version {found} of `{id}` for {expected}")]
    WrongVersion {
        /// Where it came from.
        from: String,
        /// Which tool.
        id: ToolId,
        /// Which version it is.
        found: Version,
        /// Which was asked for.
        expected: Version,
    },
    /// It is another manifest of the same version.
    #[error("the manifest of `{id}` {version} is {found}, and {expected}")]
    WrongDigest {
        /// Which tool.
        id: ToolId,
        /// Which version.
        version: Version,
        /// What it is.
        found: Digest,
        /// What it must be, and who says so.
        expected: ExpectedDigest,
    },
    /// The signature file cannot be read.
    #[error("the signatures of `{id}` cannot be read: {source}")]
    Signatures {
        /// Which tool.
        id: ToolId,
        /// What is wrong.
        source: FormatError,
    },
    /// No publisher signed it.
    #[error("no publisher signed `{id}`")]
    Unsigned {
        /// Which tool.
        id: ToolId,
    },
    /// A key signed it that nobody trusts.
    #[error("`{id}` is signed by the key {key}, which is not trusted")]
    UnknownKey {
        /// Which tool.
        id: ToolId,
        /// Which key.
        key: KeyId,
    },
    /// A key signed it that speaks for other names.
    #[error(
        "`{id}` is signed by the key {key}, which is trusted for {} only",
        list(names)
    )]
    WrongKey {
        /// Which tool.
        id: ToolId,
        /// Which key.
        key: KeyId,
        /// What the key speaks for.
        names: Vec<NamePattern>,
    },
    /// A key signed it that gave its names away.
    #[error("`{id}` is signed by the key {key}, which was replaced by {to}")]
    RotatedAway {
        /// Which tool.
        id: ToolId,
        /// Which key.
        key: KeyId,
        /// Which one has its names.
        to: KeyId,
    },
    /// The signature is not one of this manifest.
    #[error("the signature of `{id}` by the key {key} is wrong")]
    BadSignature {
        /// Which tool.
        id: ToolId,
        /// Which key.
        key: KeyId,
    },
    /// The key was revoked.
    #[error("the key {key}, which signed `{id}`, was revoked by {by}: {reason}")]
    KeyRevoked {
        /// Which tool.
        id: ToolId,
        /// Which key.
        key: KeyId,
        /// Who revoked it.
        by: String,
        /// Why.
        reason: String,
    },
    /// The artifact was revoked.
    #[error("the artifact {sha256} of `{id}` {version} was revoked by {by}: {reason}")]
    ArtifactRevoked {
        /// Which tool.
        id: ToolId,
        /// Which version.
        version: Version,
        /// Which artifact.
        sha256: Digest,
        /// Who revoked it.
        by: String,
        /// Why.
        reason: String,
    },
    /// The version was revoked.
    #[error("`{id}` {version} was revoked by {by}: {reason}")]
    VersionRevoked {
        /// Which tool.
        id: ToolId,
        /// Which version.
        version: Version,
        /// Who revoked it.
        by: String,
        /// Why.
        reason: String,
    },
    /// What was revoked is not known here any more.
    #[error("the revocations of `{registry}` were seen here and are gone (list {number})")]
    RevocationsLost {
        /// Whose.
        registry: String,
        /// The number of the last list that was seen.
        number: u64,
    },
    /// It is locked, and was never verified on this machine.
    #[error("`{name}` was not verified on this machine yet: run `jp tool lock`")]
    NeverVerified {
        /// The name in the workspace.
        name: ToolId,
    },
    /// The lock file differs from what was verified on this machine.
    #[error("`jp.lock` has a different {field} for `{name}` than the version that was verified")]
    LockDiffers {
        /// The name in the workspace.
        name: ToolId,
        /// What differs.
        field: &'static str,
    },
    /// It was verified on this machine, and its key is not trusted any more, or not for this tool.
    #[error("the key {key} is not trusted to sign `{id}`: see `jp trust key`")]
    NotTrusted {
        /// The tool.
        id: ToolId,
        /// The key.
        key: KeyId,
    },
    /// It was verified on this machine, and was revoked since.
    #[error("`{id}` {version} was revoked: {}", jp_text::escape_line(reason))]
    Revoked {
        /// The tool.
        id: ToolId,
        /// Its version.
        version: Version,
        /// What the revocation says.
        reason: String,
    },
    /// It must be validated, and the key of its registry does not say it is.
    #[error("{}", not_validated(id, version, registry, *claimed))]
    NotValidated {
        /// Which tool.
        id: ToolId,
        /// Which version.
        version: Version,
        /// Which registry had to sign that.
        registry: String,
        /// Whether its manifest says that it was validated.
        claimed: bool,
    },
    /// The artifact has another size.
    #[error("the artifact of `{id}` has {size} bytes, and its manifest says {expected}")]
    ArtifactSize {
        /// Which tool.
        id: ToolId,
        /// How many it has.
        size: u64,
        /// How many it must have.
        expected: u64,
    },
    /// The artifact is another one.
    #[error("the artifact of `{id}` is {sha256}, and its manifest says {expected}")]
    ArtifactDigest {
        /// Which tool.
        id: ToolId,
        /// What it is.
        sha256: Digest,
        /// What it must be.
        expected: Digest,
    },
    /// The artifact cannot be read.
    #[error("cannot read the artifact {}: {source}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

fn list(names: &[NamePattern]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

impl VerifyError {
    /// Says what to do about it, where there is something.
    #[must_use]
    pub(crate) fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Document { source, .. } => return source.hint(),
            Self::WrongDigest {
                expected: ExpectedDigest::Lock(_),
                id,
                ..
            } => format!(
                "the registry changed a version after it was locked; if you know why, accept it with `jp tool update {id}`"
            ),
            Self::Unsigned { id } => {
                format!("ask the publisher of `{id}` to sign it with `jp registry sign`")
            }
            Self::UnknownKey { id, key } => format!(
                "check the key {key} with the publisher of `{id}`, then trust it with `jp trust key PUBLIC-KEY --for {id}`"
            ),
            Self::WrongKey { id, .. } => format!(
                "another publisher signed it; if this one now makes `{id}` too, trust its key with `jp trust key PUBLIC-KEY --for {id}`"
            ),
            Self::RotatedAway { to, .. } => {
                format!("ask the publisher for a version that its key {to} signed")
            }
            Self::BadSignature { .. } | Self::WrongDigest { .. } => {
                "it was changed after it was signed; try another source, and tell the publisher"
                    .to_owned()
            }
            Self::KeyRevoked { id, .. }
            | Self::ArtifactRevoked { id, .. }
            | Self::VersionRevoked { id, .. } => format!(
                "take another version with `jp tool update {id}`, or remove it with `jp tool remove {id}`"
            ),
            Self::RevocationsLost { .. } => "run `jp tool outdated` to fetch them again".to_owned(),
            Self::NotValidated { registry, .. } => {
                format!(
                    "ask the operator of `{registry}` to publish it again with `jp registry publish`, \
                     which signs it"
                )
            }
            Self::ArtifactSize { .. } | Self::ArtifactDigest { .. } => {
                "fetch it again; if that does not help, the source serves something else".to_owned()
            }
            _ => return None,
        })
    }
}

impl fmt::Display for ExpectedDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(digest) => write!(f, "the registry's index says {digest}"),
            Self::Lock(digest) => write!(f, "the lock file says {digest}"),
        }
    }
}

fn not_validated(id: &ToolId, version: &Version, registry: &str, claimed: bool) -> String {
    match claimed {
        true => format!(
            "the manifest of `{id}` {version} says that it was validated, and registry `{registry}` has not signed that"
        ),
        false => format!(
            "registry `{registry}` validates every tool it offers, and has not signed `{id}` {version}"
        ),
    }
}
