//! Why a registry was not changed.

use std::{io, path::PathBuf};

use jp_policy::Unbacked;
use jp_registry::{Digest, FetchError, FormatError, KeyId, ModelId, ToolId};
use semver::Version;

/// Why a registry was not changed. What was there is still there.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// There is a registry already.
    #[error("{} holds a registry already", dir.display())]
    Exists {
        /// Where.
        dir: PathBuf,
    },
    /// There is no registry.
    #[error("{} holds no registry", dir.display())]
    NoRegistry {
        /// Where.
        dir: PathBuf,
    },
    /// The registry has another key.
    #[error("the registry in {} signs with another key, {key}", dir.display())]
    OtherKey {
        /// Where.
        dir: PathBuf,
        /// Its key.
        key: String,
    },
    /// No publisher signed the manifest.
    #[error("no publisher has signed the manifest")]
    Unsigned,
    /// The publisher's signature is missing or wrong.
    #[error("the manifest is not what the key {key} signed")]
    BadSignature {
        /// Which key.
        key: KeyId,
    },
    /// The version is there with other content.
    #[error("{id}@{version} is published already, with other content")]
    VersionTaken {
        /// Which tool.
        id: ToolId,
        /// Which version.
        version: Version,
    },
    /// It asks for what nothing could give it, so nobody could install it.
    #[error("cannot publish {id}@{version}: {unbacked}")]
    Unbacked {
        /// Which tool.
        id: ToolId,
        /// Which version.
        version: Version,
        /// What it asks for.
        unbacked: Box<Unbacked>,
    },
    /// The artifact is not the one of the manifest.
    #[error("{} does not match the manifest: {reason}", path.display())]
    Artifact {
        /// Which file.
        path: PathBuf,
        /// What differs.
        reason: String,
    },
    /// No file has the bytes that a model's manifest states.
    #[error("the model {id} needs a file with the sha256 {sha256}, which was not given")]
    ModelFile {
        /// Which model.
        id: ModelId,
        /// Which bytes.
        sha256: Digest,
    },
    /// It is not in the index.
    #[error("{what} is not published here")]
    Unknown {
        /// Which tool, or which version of it.
        what: String,
    },
    /// The key signed nothing.
    #[error("cannot sign with the key {key}")]
    Sign {
        /// Which key.
        key: KeyId,
    },
    /// What is there is not what this key signed.
    #[error("{from} is not what the registry's key {key} signed")]
    NotOwn {
        /// Which file.
        from: String,
        /// Which key.
        key: KeyId,
    },
    /// The registry cannot have this name.
    #[error(
        "invalid registry name `{}`: expected words of a-z and 0-9, joined by `-` or `.`",
        jp_text::inline(name)
    )]
    Name {
        /// The beginning of the name.
        name: String,
    },
    /// A document is not what it must be, or has no canonical form.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// What is there cannot be read.
    #[error(transparent)]
    Read(#[from] FetchError),
    /// A file could not be read or written.
    #[error("cannot {action}: {source}")]
    Io {
        /// What was tried.
        action: String,
        /// What the system said.
        source: io::Error,
    },
}

impl PublishError {
    /// Says what to do about it, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::VersionTaken { .. } => Some(
                "what is published never changes: raise `version` in the manifest, let it pin the \
                 file that you have now, and sign it again with `jp registry sign`"
                    .to_owned(),
            ),
            Self::Unbacked { unbacked, .. } => Some(unbacked.instead()),
            _ => None,
        }
    }
}
