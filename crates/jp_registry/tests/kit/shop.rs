//! A publisher, a registry that they publish to, and a user who trusts both.

use std::{fs, path::PathBuf};

use jp_disk::Disk;
use jp_publish::{PublishError, Published, Registry, SigningKey, Submission, sign_manifest};
use jp_registry::{
    AllNames, Digest, Expected, Purpose, Revocations, Signatures, Source, StaticSource, Store,
    ToolId, TrustRoots, TrustedRegistry, VerifiedManifest, verify,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Everything in one temporary directory.
pub(crate) struct Shop {
    pub(crate) temp: TempDir,
    pub(crate) registry_key: SigningKey,
    pub(crate) publisher: SigningKey,
}

/// Makes the manifest of `ocr` in a version, with an artifact of these bytes.
pub(crate) fn manifest(version: &str, artifact: &[u8]) -> Value {
    json!({
        "id": "ocr",
        "version": version,
        "displayName": "Recognition",
        "description": "Reads text.",
        "license": "Apache-2.0",
        "artifact": {"sha256": Digest::of(artifact).to_string(), "size_bytes": artifact.len()},
        "model_dependencies": [],
        "capability_requirements": [],
        "wasi_imports": {},
        "input_schema": {"type": "object"},
        "output_schema": {"type": "object"},
    })
}

/// Hears nothing.
pub(crate) fn no_progress() -> impl FnMut(u64, Option<u64>) {
    |_, _| ()
}

impl Shop {
    /// Makes a registry with nothing in it.
    pub(crate) fn new() -> Self {
        let shop = Self {
            temp: tempfile::tempdir().unwrap(),
            registry_key: SigningKey::generate().unwrap(),
            publisher: SigningKey::generate().unwrap(),
        };
        drop(Registry::init(&shop.dir(), "local", &shop.registry_key, 1000).unwrap());
        shop
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.temp.path().join("registry")
    }

    pub(crate) fn source(&self) -> StaticSource {
        StaticSource::in_dir(&self.dir())
    }

    pub(crate) fn open(&self) -> Registry<'_> {
        self.open_on(Disk::real()).unwrap()
    }

    pub(crate) fn open_on(&self, disk: Disk) -> Result<Registry<'_>, PublishError> {
        Registry::open_on(&self.dir(), &self.registry_key, 2000, disk)
    }

    /// Writes bytes to a file that is to be published.
    pub(crate) fn file(&self, bytes: &[u8]) -> PathBuf {
        let path = self.temp.path().join(Digest::of(bytes).to_string());
        fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn signed(&self, manifest: &Value) -> Signatures {
        let mut signatures = Signatures::default();
        signatures
            .add(sign_manifest(manifest, &self.publisher).unwrap())
            .unwrap();
        signatures
    }

    pub(crate) fn publish(&self, version: &str, artifact: &[u8]) -> Published {
        let manifest = manifest(version, artifact);
        self.publish_on(Disk::real(), &manifest, artifact).unwrap()
    }

    pub(crate) fn publish_on(
        &self,
        disk: Disk,
        manifest: &Value,
        artifact: &[u8],
    ) -> Result<Published, PublishError> {
        self.open_on(disk)?.publish(&Submission {
            manifest,
            signatures: &self.signed(manifest),
            artifact: &self.file(artifact),
            publisher: Some(self.publisher.public()),
            validated: Some(("us", "2026-04-01")),
        })
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(&self.store_dir()).unwrap()
    }

    pub(crate) fn store_dir(&self) -> PathBuf {
        self.temp.path().join("store")
    }

    pub(crate) fn roots(&self) -> TrustRoots {
        let mut roots = TrustRoots::default();
        let names = ["ocr".parse().unwrap()];
        roots
            .trust(self.publisher.public(), &names, AllNames::Refused)
            .unwrap();
        let registry = TrustedRegistry {
            key: self.registry_key.public().clone(),
            validates: true,
        };
        roots.trust_registry("local", registry).unwrap();
        roots
    }

    /// Fetches and verifies the manifest of a version of `ocr`.
    pub(crate) fn verified(&self, source: &dyn Source, version: &str) -> VerifiedManifest {
        let id: ToolId = "ocr".parse().unwrap();
        let version = version.parse().unwrap();
        let fetched = source.manifest(&id, Some(&version)).unwrap();
        let expected = Expected {
            id,
            version: Some(version),
            digest: None,
            registry: Some("local".to_owned()),
            purpose: Purpose::Install,
        };
        let (roots, revoked) = (self.roots(), Revocations::default());
        verify(fetched, &roots, &revoked, &expected).unwrap()
    }
}
