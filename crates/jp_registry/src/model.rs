//! Models that tools depend on: manifests as a registry holds them, read strictly.

use std::collections::BTreeMap;

use jp_disk::Sha256Error;
use semver::Version;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    Digest, FormatError, ModelId, Pinned,
    manifest::{
        Artifact, Kind, ManifestError, check_filled, check_licence, check_url, check_validation,
        read_strictly, read_version,
    },
};

/// The largest model: 64 GiB.
const MAX_MODEL: u64 = 64 * 1024 * 1024 * 1024;

/// The most forms in which one model is published.
const MAX_ARTIFACTS: usize = 16;

/// A model of a registry.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelManifest {
    /// The name of the model.
    pub id: ModelId,
    /// Its version.
    pub version: Version,
    /// The name that people read.
    pub display_name: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The licence, as an SPDX expression.
    pub license: String,
    /// Where the licence can be read.
    pub license_url: Option<String>,
    /// What it turns into what: `image-to-text`.
    pub modality: Option<String>,
    /// How many tokens it can look at.
    pub context_length: Option<u64>,
    /// Its size, from 1 to `MAX_MODEL`.
    pub size_bytes: u64,
    /// How much memory it needs.
    pub ram_required_gb: Option<f64>,
    /// The forms in which it is published, by the name of what runs them.
    pub artifacts: BTreeMap<String, Artifact>,
    /// What is handed to whatever runs it.
    pub config: Map<String, Value>,
    /// The day on which the registry has looked at it.
    pub validated_at: Option<String>,
    /// Who has looked at it.
    pub validated_by: Option<String>,
}

/// Why a pinned model is not in a manifest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ModelError {
    /// The manifest is of another model.
    #[error("the manifest is of the model `{found}`, not of `{wanted}`")]
    OtherModel {
        /// The model of the manifest.
        found: ModelId,
        /// The model that is needed.
        wanted: ModelId,
    },
    /// No form of the model has these bytes.
    #[error("no artifact of the model `{id}` {version} has the sha256 {sha256}")]
    NoArtifact {
        /// The model.
        id: ModelId,
        /// The version that the manifest is of.
        version: Version,
        /// The bytes that are needed.
        sha256: Digest,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawModel {
    id: String,
    version: String,
    #[serde(default, rename = "displayName")]
    display_name: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    license: String,
    #[serde(default)]
    license_url: Option<String>,
    #[serde(default)]
    modality: Option<String>,
    #[serde(default)]
    context_length: Option<u64>,
    size_bytes: u64,
    #[serde(default)]
    ram_required_gb: Option<f64>,
    artifacts: BTreeMap<String, RawArtifact>,
    #[serde(default)]
    config: Map<String, Value>,
    #[serde(default)]
    validated_at: Option<String>,
    #[serde(default)]
    validated_by: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawArtifact {
    format: String,
    #[serde(default)]
    url: Option<String>,
    sha256: String,
    #[serde(default)]
    size_bytes: Option<u64>,
}

impl ModelManifest {
    /// Reads a manifest strictly.
    ///
    /// # Errors
    ///
    /// When a key is unknown or missing, or a value means nothing or hides text.
    pub fn read(value: &Value) -> Result<Self, FormatError> {
        let raw: RawModel = read_strictly(value)?;
        let id = |error: FormatError| ManifestError::value("/id", error);
        check_words(&raw)?;
        check_licence(&raw.license).map_err(|problem| ManifestError::value("/license", problem))?;
        check_validation(raw.validated_at.as_deref(), raw.validated_by.as_deref())?;
        let size_bytes = size("/size_bytes", raw.size_bytes)?;
        Ok(Self {
            id: raw.id.parse().map_err(id)?,
            version: read_version("/version", &raw.version)?,
            display_name: raw.display_name,
            description: raw.description,
            tags: raw.tags,
            license: raw.license,
            license_url: raw.license_url,
            modality: raw.modality,
            context_length: raw.context_length,
            size_bytes,
            ram_required_gb: raw.ram_required_gb,
            artifacts: artifacts(raw.artifacts, size_bytes)?,
            config: raw.config,
            validated_at: raw.validated_at,
            validated_by: raw.validated_by,
        })
    }

    /// Returns the one form of the model that a pin means.
    ///
    /// # Errors
    ///
    /// When the manifest is of another model, or none of its forms has the pinned bytes.
    pub(crate) fn resolve(&self, pinned: &Pinned) -> Result<&Artifact, ModelError> {
        if self.id != pinned.id {
            return Err(ModelError::OtherModel {
                found: self.id.clone(),
                wanted: pinned.id.clone(),
            });
        }
        let mut artifacts = self.artifacts.values();
        let found = artifacts.find(|artifact| artifact.sha256 == pinned.sha256);
        found.ok_or_else(|| ModelError::NoArtifact {
            id: self.id.clone(),
            version: self.version.clone(),
            sha256: pinned.sha256,
        })
    }
}

fn check_words(raw: &RawModel) -> Result<(), ManifestError> {
    let lines = [
        ("/displayName", &raw.display_name, 40),
        ("/description", &raw.description, 140),
        ("/modality", &raw.modality, 40),
    ];
    for (path, text, most) in lines {
        if let Some(text) = text {
            check_filled(path, text, Kind::Line(most))?;
        }
    }
    if raw.tags.len() > 10 {
        return Err(ManifestError::value("/tags", "a model has at most 10 tags"));
    }
    for (at, tag) in raw.tags.iter().enumerate() {
        check_filled(&format!("/tags/{at}"), tag, Kind::Line(40))?;
    }
    raw.license_url
        .as_ref()
        .map_or(Ok(()), |url| check_url("/license_url", url))
}

fn size(path: &str, bytes: u64) -> Result<u64, ManifestError> {
    if (1..=MAX_MODEL).contains(&bytes) {
        return Ok(bytes);
    }
    let problem = format!("invalid size of {bytes} bytes: expected 1 to {MAX_MODEL}");
    Err(ManifestError::value(path, problem))
}

fn artifacts(
    raw: BTreeMap<String, RawArtifact>,
    of_all: u64,
) -> Result<BTreeMap<String, Artifact>, ManifestError> {
    if raw.is_empty() || raw.len() > MAX_ARTIFACTS {
        let problem = format!("a model has from 1 to {MAX_ARTIFACTS} artifacts");
        return Err(ManifestError::value("/artifacts", problem));
    }
    let mut artifacts = BTreeMap::new();
    for (name, raw) in raw {
        check_filled("/artifacts", &name, Kind::Line(40))?;
        let path = |key: &str| format!("/artifacts/{name}/{key}");
        check_filled(&path("format"), &raw.format, Kind::Line(40))?;
        if let Some(url) = &raw.url {
            check_url(&path("url"), url)?;
        }
        let sha256 = raw.sha256.parse();
        let sha256 =
            sha256.map_err(|error: Sha256Error| ManifestError::value(&path("sha256"), error))?;
        // A model in one form need not say its size twice.
        let size_bytes = size(&path("size_bytes"), raw.size_bytes.unwrap_or(of_all))?;
        let artifact = Artifact {
            url: raw.url,
            sha256,
            size_bytes,
        };
        artifacts.insert(name, artifact);
    }
    Ok(artifacts)
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
