//! Tools that an app brings along: `{name, path, manifest, signature}` beside its `locara.json`.
//!
//! They come with the app and are verified like those of a registry: the manifest pins the file, and
//! a key signed it that the user trusts for the name. An app cannot vouch for its own tools.

use std::{
    io,
    path::{Component, Path, PathBuf},
};

use serde_json::json;

use super::{InstallError, Known};
use crate::{
    Digest, ToolId, disk,
    manifest::MAX_ARTIFACT,
    source::{Fetched, MAX_MANIFEST, MAX_SIGNATURES},
    verify::{self, Expected, Purpose, Verified},
};

/// A tool that an app brings along, as the app names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomTool {
    /// Its name, which its manifest has as well.
    pub name: ToolId,
    /// The Wasm file, within the app.
    pub path: PathBuf,
    /// The manifest, within the app.
    pub manifest: PathBuf,
    /// `<key id>:<base64>`, or the signature file within the app.
    pub signature: String,
}

/// Verifies a tool that lies in the directory of an app.
///
/// # Errors
///
/// When a file lies elsewhere, is not what was signed, or the key is not trusted for the name.
pub fn verify_custom(
    root: &Path,
    custom: &CustomTool,
    known: &Known,
) -> Result<Verified, InstallError> {
    verify_kept(root, custom, known).map(|(_, verified)| verified)
}

/// Verifies a tool as [`verify_custom`] does, and returns the manifest as it was read as well.
pub(super) fn verify_kept(
    root: &Path,
    custom: &CustomTool,
    known: &Known,
) -> Result<(Fetched, Verified), InstallError> {
    let (at, manifest) = read_within(root, &custom.manifest, MAX_MANIFEST)?;
    let fetched = Fetched {
        bytes: manifest,
        signatures: signatures(root, &custom.signature)?,
        from: at.display().to_string(),
    };
    let expected = Expected {
        id: custom.name.clone(),
        version: None,
        digest: None,
        registry: None,
        purpose: Purpose::Install,
    };
    let manifest = verify::verify(fetched.clone(), &known.roots, &known.revoked, &expected)?;
    let (path, bytes) = read_within(root, &custom.path, MAX_ARTIFACT)?;
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    let verified = manifest.with_artifact(path, Digest::of(&bytes), size)?;
    Ok((fetched, verified))
}

/// Returns the signature file that an app wrote out, or the one that it names.
fn signatures(root: &Path, signature: &str) -> Result<Vec<u8>, InstallError> {
    match signature.split_once(':') {
        Some((key, value)) => {
            let one = json!({"role": "publisher", "key": key, "value": value});
            Ok(json!({ "signatures": [one] }).to_string().into_bytes())
        }
        None => Ok(read_within(root, Path::new(signature), MAX_SIGNATURES)?.1),
    }
}

/// Reads a file of an app; links that lead out of it are refused like paths that do.
fn read_within(root: &Path, path: &Path, max: u64) -> Result<(PathBuf, Vec<u8>), InstallError> {
    let failed = |source| InstallError::Brought {
        path: path.to_owned(),
        source,
    };
    let outside = || {
        let text = "it is not within the app";
        failed(io::Error::new(io::ErrorKind::InvalidInput, text))
    };
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if path.as_os_str().is_empty() || !path.components().all(plain) {
        return Err(outside());
    }
    let root = root.canonicalize().map_err(failed)?;
    let full = root.join(path).canonicalize().map_err(failed)?;
    if !full.starts_with(&root) {
        return Err(outside());
    }
    let bytes = disk::read(&full, max).map_err(failed)?;
    let missing = || failed(io::Error::from(io::ErrorKind::NotFound));
    Ok((full, bytes.ok_or_else(missing)?))
}
