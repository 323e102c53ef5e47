//! The store for what was verified: a manifest and the artifact it pins, a pinned model.

use serde_json::Value;

use super::{Object, Progress, Store, what};
use crate::{
    document,
    id::Pinned,
    model::ModelManifest,
    source::{ArtifactRef, MAX_MANIFEST, Owner, Source},
    transport::FetchError,
    verify::{Verified, VerifiedManifest},
};

impl Store {
    /// Returns the artifact of a verified manifest, from the store or else from a source.
    ///
    /// # Errors
    /// See [`FetchError`]; nothing is visible in the store unless it is what the manifest pins.
    pub fn artifact(
        &self,
        manifest: &VerifiedManifest,
        source: &dyn Source,
        progress: Progress<'_>,
    ) -> Result<Verified, FetchError> {
        let object = self.fetch(&wanted(manifest), source, progress)?;
        verified(manifest, &object)
    }

    /// Returns the artifact of a verified manifest if it is in the store.
    ///
    /// # Errors
    /// [`FetchError::Io`] if it cannot be read.
    pub(crate) fn cached(
        &self,
        manifest: &VerifiedManifest,
    ) -> Result<Option<Verified>, FetchError> {
        let found = self.find(&manifest.manifest.artifact.sha256)?;
        found.map(|object| verified(manifest, &object)).transpose()
    }

    /// Returns a model that a verified manifest pins, from the store or else from a source.
    ///
    /// The model's own manifest only says where its bytes are; the pin says which bytes they must be.
    ///
    /// # Errors
    /// See [`FetchError`]; nothing is visible in the store unless it is what the pin says.
    pub fn model(
        &self,
        pinned: &Pinned,
        source: &dyn Source,
        progress: Progress<'_>,
    ) -> Result<Object, FetchError> {
        if let Some(object) = self.find(&pinned.sha256)? {
            return Ok(object);
        }
        let fetched = source.model(&pinned.id)?;
        let refused = |reason: String| FetchError::invalid(fetched.from.as_str(), reason);
        let max = usize::try_from(MAX_MANIFEST).unwrap_or(usize::MAX);
        let value = document::parse(&fetched.bytes, max);
        let value = value.map_err(|error| refused(error.to_string()))?;
        let manifest = ModelManifest::read(&value).map_err(|error| refused(error.to_string()))?;
        let artifact = manifest.resolve(pinned);
        let artifact = artifact.map_err(|error| refused(error.to_string()))?;
        let wanted = ArtifactRef {
            owner: Owner::Model(&pinned.id),
            sha256: pinned.sha256,
            size: Some(artifact.size_bytes),
            url: artifact.url.as_deref(),
        };
        self.fetch(&wanted, source, progress)
    }
}

fn wanted(manifest: &VerifiedManifest) -> ArtifactRef<'_> {
    let url = manifest.document.pointer("/artifact/url");
    let tool = &manifest.manifest;
    ArtifactRef {
        owner: Owner::Tool(&tool.id, &tool.version),
        sha256: tool.artifact.sha256,
        size: Some(tool.artifact.size_bytes),
        url: url.and_then(Value::as_str),
    }
}

fn verified(manifest: &VerifiedManifest, object: &Object) -> Result<Verified, FetchError> {
    let path = object.path().to_owned();
    let verified = manifest
        .clone()
        .with_artifact(path, object.sha256(), object.size());
    verified.map_err(|error| FetchError::invalid(what(&wanted(manifest)), error.to_string()))
}
