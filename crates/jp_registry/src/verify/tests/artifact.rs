//! The artifact is the one that the manifest pins, when it is stored and when it is loaded.

use std::fs;

use super::{ARTIFACT, World};
use crate::{Digest, verify::VerifyError};

fn size() -> u64 {
    u64::try_from(ARTIFACT.len()).unwrap()
}

#[test]
fn only_the_pinned_artifact_makes_it_verified() {
    let world = World::new();
    let manifest = world.verify(world.fetched()).unwrap();
    assert_eq!(manifest.manifest.artifact.sha256, Digest::of(ARTIFACT));
    assert_eq!(manifest.manifest.artifact.size_bytes, size());
    let path = || "objects/x".into();
    let good = Digest::of(ARTIFACT);
    let refused = manifest.clone().with_artifact(path(), good, size() + 1);
    assert!(matches!(refused, Err(VerifyError::ArtifactSize { .. })));
    let refused = manifest
        .clone()
        .with_artifact(path(), Digest::of(b"other"), size());
    assert!(matches!(refused, Err(VerifyError::ArtifactDigest { .. })));
    let verified = manifest
        .clone()
        .with_artifact(path(), good, size())
        .unwrap();
    assert_eq!(*verified, manifest);
    assert_eq!(
        (verified.key, verified.manifest.artifact.sha256),
        (manifest.key, good)
    );
}

#[test]
fn what_was_swapped_after_it_was_verified_is_not_loaded() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tool.wasm");
    fs::write(&path, ARTIFACT).unwrap();
    let world = World::new();
    let manifest = world.verify(world.fetched()).unwrap();
    let verified = manifest.with_artifact(path.clone(), Digest::of(ARTIFACT), size());
    let verified = verified.unwrap();
    assert_eq!(verified.bytes().unwrap(), ARTIFACT);
    assert_eq!(verified.path(), path);
    let longer = [ARTIFACT, b"x"].concat();
    for swapped in [&b"\0asm and so no"[..], b"", &longer] {
        fs::write(&path, swapped).unwrap();
        let refused = verified.bytes().unwrap_err();
        assert!(matches!(refused, VerifyError::ArtifactDigest { .. }));
        assert!(refused.hint().is_some());
    }
    fs::remove_file(&path).unwrap();
    assert!(matches!(verified.bytes(), Err(VerifyError::Io { .. })));
}
