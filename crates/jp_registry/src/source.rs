//! Where registries are: a directory, an HTTP server, an OCI registry.
//!
//! A source hands out bytes of strangers: size-limited, and nothing else is promised of them. It does
//! not know which keys are trusted.

mod beneath;
mod dir;
mod http;
mod layout;
mod oci;
mod shared;

use std::{io::Write, path::Path, sync::Arc};

use semver::Version;
use serde::Deserialize;

use crate::{
    document,
    id::{Digest, ModelId, ToolId},
    signature::SignedList,
    transport::{FetchError, Transport},
};

pub use beneath::open_served;
pub use layout::{PENDING, Place};
pub use oci::OciSource;

use dir::Dir;
use http::Http;

/// The form of a registry that this crate reads and writes.
pub const SCHEMA: &str = "jp-registry/v1";

/// The most bytes of `registry.json`.
const MAX_ABOUT: u64 = 64 * 1024;
/// The most bytes of an index.
const MAX_INDEX: u64 = 16 * 1024 * 1024;
/// The most bytes of a manifest of a tool or a model.
pub(crate) const MAX_MANIFEST: u64 = 1024 * 1024;
/// The most bytes of a signature file.
pub(crate) const MAX_SIGNATURES: u64 = 64 * 1024;
/// The most bytes of the list of revocations, and of the list of rotations.
const MAX_REVOCATIONS: u64 = 4 * 1024 * 1024;
/// The most bytes of an artifact or a model, whatever a manifest says.
pub(crate) const MAX_ARTIFACT: u64 = 64 * 1024 * 1024 * 1024;

/// A document as it came, with the signatures that came beside it. Nobody has checked anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The document.
    pub bytes: Vec<u8>,
    /// The file of signatures beside it.
    pub signatures: Vec<u8>,
    /// Where it came from, for errors.
    pub from: String,
}

impl From<Fetched> for SignedList {
    fn from(fetched: Fetched) -> Self {
        Self {
            document: fetched.bytes,
            signatures: fetched.signatures,
        }
    }
}

/// What a registry says of itself, unsigned: a person compares the key before trusting it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// The form of the registry, [`SCHEMA`].
    pub schema: String,
    /// The registry's name.
    pub name: String,
    /// Its public key, `ed25519:<base64>`.
    pub key: String,
}

/// Whose artifact it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner<'a> {
    /// A tool's, in one version: a Wasm file.
    Tool(&'a ToolId, &'a Version),
    /// A model's.
    Model(&'a ModelId),
}

/// Which bytes are wanted, as a verified manifest states them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArtifactRef<'a> {
    /// Whose they are.
    pub owner: Owner<'a>,
    /// Their sha256.
    pub sha256: Digest,
    /// How many they are; without it, the sha256 alone decides, below `MAX_ARTIFACT`.
    pub size: Option<u64>,
    /// Where the manifest says they are; without it, the place is the source's own.
    pub url: Option<&'a str>,
}

/// How a source answered a request for the rest of an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// The bytes from the wanted one on went to the sink.
    Sent,
    /// Nothing went to the sink: this source can only start from the first byte.
    FromStartOnly,
}

/// A place that tools can be fetched from.
pub trait Source: Send + Sync {
    /// Returns what people call it: a path, a URL or a reference.
    fn name(&self) -> &str;

    /// Returns what the registry says of itself.
    ///
    /// # Errors
    /// If it cannot be fetched or is not such a document.
    fn about(&self) -> Result<About, FetchError>;

    /// Returns the signed index; nothing for a kind of registry that has none.
    ///
    /// # Errors
    /// If it cannot be fetched. A registry of static files whose index is gone is an error: without
    /// it an old version could be passed off as the newest.
    fn index(&self) -> Result<Option<Fetched>, FetchError>;

    /// Returns the signed list of revocations; nothing for a kind of registry that has none.
    ///
    /// # Errors
    /// If it cannot be fetched.
    fn revocations(&self) -> Result<Option<Fetched>, FetchError>;

    /// Returns the list of signed key rotations, if the registry has one.
    ///
    /// # Errors
    /// If it cannot be fetched.
    fn rotations(&self) -> Result<Option<Vec<u8>>, FetchError>;

    /// Returns a tool's manifest, of the newest version if none is named.
    ///
    /// # Errors
    /// If it cannot be fetched.
    fn manifest(&self, id: &ToolId, version: Option<&Version>) -> Result<Fetched, FetchError>;

    /// Returns a model's manifest.
    ///
    /// # Errors
    /// If it cannot be fetched.
    fn model(&self, id: &ModelId) -> Result<Fetched, FetchError>;

    /// Writes an artifact to `sink`, from byte `from` on.
    ///
    /// # Errors
    /// If it cannot be fetched, is longer than stated, or the sink fails.
    fn artifact(
        &self,
        artifact: &ArtifactRef<'_>,
        from: u64,
        sink: &mut dyn Write,
    ) -> Result<Delivery, FetchError>;
}

/// Files of a registry, wherever they are.
trait Files: Send + Sync {
    /// Returns what people call the place.
    fn name(&self) -> &str;

    /// Names a file, for errors.
    fn shown(&self, path: &str) -> String;

    /// Reads a document of at most `max` bytes; nothing if it is not there.
    ///
    /// # Errors
    /// If it cannot be read, or is larger.
    fn read(&self, path: &str, max: u64) -> Result<Option<Vec<u8>>, FetchError>;

    /// Writes an artifact of at most `max` bytes to `sink`, from byte `from` on.
    ///
    /// # Errors
    /// If it cannot be read, is larger, or the sink fails.
    fn send(
        &self,
        artifact: &ArtifactRef<'_>,
        path: &str,
        from: u64,
        max: u64,
        sink: &mut dyn Write,
    ) -> Result<Delivery, FetchError>;
}

/// A registry of static files.
pub struct StaticSource {
    files: Box<dyn Files>,
}

impl StaticSource {
    /// Reads a registry from a directory.
    #[must_use]
    pub fn in_dir(dir: &Path) -> Self {
        Self {
            files: Box::new(Dir::new(dir)),
        }
    }

    /// Reads a registry below a URL, by way of a transport.
    ///
    /// # Errors
    /// [`FetchError::Invalid`] if the URL is not `http` or `https`, or has a user name, a query or a
    /// fragment.
    pub fn at_url(url: &str, transport: Arc<dyn Transport>) -> Result<Self, FetchError> {
        let files = Box::new(Http::new(url, transport)?);
        Ok(Self { files })
    }

    fn read(&self, path: &str, max: u64) -> Result<Vec<u8>, FetchError> {
        let read = self.files.read(path, max)?;
        read.ok_or_else(|| FetchError::NotFound {
            what: self.files.shown(path),
        })
    }

    fn signed(&self, path: &str, max: u64) -> Result<Fetched, FetchError> {
        Ok(Fetched {
            bytes: self.read(path, max)?,
            signatures: self.read(&layout::signatures(path), MAX_SIGNATURES)?,
            from: self.files.shown(path),
        })
    }
}

impl Source for StaticSource {
    fn name(&self) -> &str {
        self.files.name()
    }

    fn about(&self) -> Result<About, FetchError> {
        let bytes = self.read(layout::ABOUT, MAX_ABOUT)?;
        let refused = |why: String| FetchError::invalid(self.files.shown(layout::ABOUT), why);
        let max = usize::try_from(MAX_ABOUT).unwrap_or(usize::MAX);
        let value = document::parse(&bytes, max).map_err(|error| refused(error.to_string()))?;
        let about: About =
            serde_json::from_value(value).map_err(|error| refused(error.to_string()))?;
        match about.schema == SCHEMA {
            true => Ok(about),
            false => Err(refused(format!("its `schema` is not `{SCHEMA}`"))),
        }
    }

    fn index(&self) -> Result<Option<Fetched>, FetchError> {
        self.signed(layout::INDEX, MAX_INDEX).map(Some)
    }

    fn revocations(&self) -> Result<Option<Fetched>, FetchError> {
        self.signed(layout::REVOCATIONS, MAX_REVOCATIONS).map(Some)
    }

    fn rotations(&self) -> Result<Option<Vec<u8>>, FetchError> {
        self.files.read(layout::ROTATIONS, MAX_REVOCATIONS)
    }

    fn manifest(&self, id: &ToolId, version: Option<&Version>) -> Result<Fetched, FetchError> {
        self.signed(&layout::tool(id, version)?, MAX_MANIFEST)
    }

    fn model(&self, id: &ModelId) -> Result<Fetched, FetchError> {
        self.signed(&layout::model(id), MAX_MANIFEST)
    }

    fn artifact(
        &self,
        artifact: &ArtifactRef<'_>,
        from: u64,
        sink: &mut dyn Write,
    ) -> Result<Delivery, FetchError> {
        let max = artifact.size.unwrap_or(MAX_ARTIFACT).min(MAX_ARTIFACT);
        let path = layout::artifact(artifact);
        self.files.send(artifact, &path, from, max, sink)
    }
}
