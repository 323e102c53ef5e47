//! The manifests that installing kept, as they came: each is verified again before it is used.

use std::{
    fs,
    io::{self, Read},
};

use jp_registry::{Digest, install::Places, verify::FetchedManifest};
use serde::Deserialize;

/// The most that is read of a manifest and its signatures, with every character escaped.
const MAX_BYTES: u64 = 8 * 1024 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    manifest: String,
    signatures: String,
}

/// Returns the manifest that was kept under a digest, with nothing checked about it.
pub(super) fn get(places: &Places, digest: &Digest) -> io::Result<Option<FetchedManifest>> {
    let path = places.data.join("manifests").join(format!("{digest}.json"));
    let file = match fs::File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes)?;
    let File {
        manifest,
        signatures,
    } = serde_json::from_slice(&bytes)?;
    Ok(Some(FetchedManifest {
        manifest: manifest.into_bytes(),
        signatures: signatures.into_bytes(),
        from: path.display().to_string(),
    }))
}
