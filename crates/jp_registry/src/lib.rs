//! Tools from a signed registry: manifests, signatures, sources, the shared store and the lock file.
//!
//! What comes from a registry is a stranger's until it is [`verify`]ed: bytes are [`Fetched`], then
//! [`Verified`], and only what is verified can be handed to code that runs tools. This crate runs
//! none, holds no secret key, and is handed its paths, clock and connections. `jp_publish` writes
//! what it reads.

mod definitions;
mod diff;
mod document;
mod format;
mod id;
mod index;
mod install;
mod key;
mod lock;
mod manifest;
mod model;
mod receipt;
mod revocation;
mod signature;
mod source;
mod store;
#[cfg(test)]
mod testing;
mod transport;
mod trust;
mod verify;

// Names, keys and documents: what a registry consists of.
pub use definitions::schema_for_callers;
pub use format::FormatError;
pub use id::{Digest, ModelId, Pinned, ToolId};
pub use index::{IndexContent, IndexModel, IndexTool, IndexVersion};
pub use key::{KeyId, PublicKey};
pub use manifest::{Artifact, Deprecated, ToolManifest, json_schema};
pub use model::ModelManifest;
pub use revocation::{Revocation, RevocationList, Revocations, RevokedThing};
pub use signature::{Domain, Role, Signature, SignatureBytes, Signatures};
pub use trust::{Rotation, Rotations, SignedRotation};

// Where registries are, and how they are reached.
pub use source::{
    About, ArtifactRef, Delivery, Fetched, OciSource, Owner, PENDING, Place, SCHEMA, Source,
    StaticSource, open_served,
};
pub use transport::{FetchError, Get, Got, Transport};

// Whom the user trusts, and what follows from it.
pub use trust::{AllNames, NamePattern, Publisher, TrustRoots, TrustedRegistry};
pub use verify::{
    Expected, ExpectedDigest, MAX_MANIFEST, Purpose, Verified, VerifiedManifest, VerifyError,
    verify,
};

// What a workspace uses, and how it gets there.
pub use diff::{Diff, Reason};
pub use install::{
    Change, CustomTool, Decision, Hit, InstallError, Installed, Installer, Known, McpTool, Mode,
    Outdated, Places, Ready, Registry, Spec, Unmet, Versions, Warning, verify_custom,
};
pub use lock::{LOCK_FILE, Lock, LockedCustom, LockedTool, McpPin};
pub use receipt::{Receipt, Receipts};
pub use store::{Object, Store};

use jp_disk as disk;
use serde_json::Value;

/// Reads JSON with comments, of at most `max` bytes.
///
/// Numbers that are the same are the same value however they are written: `1.0` is `1`, `-0` is `0`.
///
/// # Errors
///
/// What is wrong with it, with line and column where there is one.
pub fn parse_document(bytes: &[u8], max: usize) -> Result<Value, FormatError> {
    Ok(document::parse(bytes, max)?)
}

/// Hashes the canonical form of a document.
///
/// # Errors
///
/// When the value has no canonical form; one that was parsed always has.
pub fn document_digest(value: &Value) -> Result<Digest, FormatError> {
    Ok(document::digest(value)?)
}
