//! Tools from a signed registry: manifests, signatures, sources, the shared store and the lock file.
//!
//! What comes from a registry is a stranger's until it is [`verify::verify`]ed: bytes are `Fetched`,
//! then `Verified`, and only what is verified can be handed to whoever runs tools. This crate runs
//! none, and is handed its paths, clock and connections.

pub mod definitions;
pub mod diff;
pub mod document;
pub mod id;
pub mod index;
pub mod install;
pub mod key;
pub mod lock;
pub mod manifest;
pub mod model;
pub mod publish;
pub mod receipt;
pub mod revocation;
pub mod serve;
pub mod signature;
pub mod source;
pub mod store;
pub mod transport;
pub mod trust;
pub mod verify;

pub use diff::Diff;
pub use id::{Digest, IdError, ModelId, Pinned, ToolId, ToolRef};
pub use install::{InstallError, Installer};
pub use jp_disk::{self as disk, Disk};
pub use lock::{Lock, LockedCustom, LockedTool, McpPin};
pub use manifest::{Artifact, Deprecated, ManifestError, ToolManifest};
pub use model::{ModelArtifact, ModelManifest};
pub use publish::{PublishError, Published, Submission};
pub use receipt::{Receipt, ReceiptProblem, Receipts};
pub use source::{
    ArtifactRef, Delivery, DirSource, Fetched, HttpSource, OciReference, OciSource, Owner, Source,
};
pub use store::{Object, Progress, Store};
pub use transport::{FetchError, Get, Got, Transport};
