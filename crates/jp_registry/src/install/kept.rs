//! Manifests that were verified here, kept as they came: so that a tool can be verified again
//! without its registry.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{InstallError, Places};
use crate::{
    Digest,
    disk::{self, Disk},
    source::Fetched,
};

/// A manifest and its signatures, with every character escaped.
const MAX_BYTES: u64 = 8 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    manifest: String,
    signatures: String,
}

fn place(data: &Path, digest: &Digest) -> PathBuf {
    data.join("manifests").join(format!("{digest}.json"))
}

/// Tells whether a manifest was verified here before: only such are kept.
pub(super) fn has(data: &Path, digest: &Digest) -> bool {
    place(data, digest).is_file()
}

/// Keeps a manifest under its digest.
pub(super) fn keep(
    disk: &Disk,
    data: &Path,
    digest: &Digest,
    fetched: &Fetched,
) -> Result<(), InstallError> {
    let path = place(data, digest);
    let failed = |source| InstallError::Io {
        path: path.clone(),
        source,
    };
    if find(data, digest).is_ok_and(|kept| kept.is_some_and(|kept| same(&kept, fetched))) {
        return Ok(());
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let file = File {
        manifest: text(&fetched.bytes),
        signatures: text(&fetched.signatures),
    };
    let bytes = serde_json::to_vec(&file).map_err(|error| failed(error.into()))?;
    let _lock = disk.lock(&data.join("manifests.lock")).map_err(failed)?;
    let dir = data.join("manifests");
    disk.create_dir(&dir).map_err(failed)?;
    disk.replace(&path, &bytes, disk::PRIVATE).map_err(failed)
}

/// Finds a manifest by its digest; whether it is what it should be is for the reader to verify.
pub(super) fn find(data: &Path, digest: &Digest) -> Result<Option<Fetched>, InstallError> {
    let path = place(data, digest);
    let failed = |source| InstallError::Io {
        path: path.clone(),
        source,
    };
    let Some(bytes) = disk::read(&path, MAX_BYTES).map_err(failed)? else {
        return Ok(None);
    };
    // One that cannot be read is treated as missing: it is fetched again.
    let file: Option<File> = serde_json::from_slice(&bytes).ok();
    Ok(file.map(|file| Fetched {
        bytes: file.manifest.into_bytes(),
        signatures: file.signatures.into_bytes(),
        from: path.display().to_string(),
    }))
}

impl Places {
    /// Returns the manifest that was kept under a digest when its tool was installed, with nothing
    /// checked about it.
    ///
    /// # Errors
    ///
    /// When the file is there and cannot be read.
    pub fn kept_manifest(&self, digest: &Digest) -> Result<Option<Fetched>, InstallError> {
        find(&self.data, digest)
    }
}

fn same(a: &Fetched, b: &Fetched) -> bool {
    a.bytes == b.bytes && a.signatures == b.signatures
}
