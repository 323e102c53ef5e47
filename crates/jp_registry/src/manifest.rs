//! Tool manifests: what a tool is, needs and takes.
//!
//! A manifest is a stranger's until it is verified, and a request afterwards: what it says it needs
//! is never a grant. This module only reads; it knows neither signatures nor where manifests lie.

mod check;
mod error;
mod expand;
mod json_schema;
mod licence;
mod raw;
mod schema;
mod shape;
mod text;

use jp_policy::{
    Access, Capabilities, Declared, GuestPath, Limits, LimitsRequest, Request, Requirement,
};
use semver::Version;
use serde_json::{Value, json};

pub(crate) use self::error::ManifestError;
pub use self::json_schema::json_schema;
pub(crate) use self::{
    check::{check_url, check_validation, version as read_version},
    licence::check as check_licence,
    shape::read as read_strictly,
    text::{Kind, check_filled},
};
use crate::{Digest, FormatError, Pinned, ToolId, document};

/// The largest Wasm file of a tool.
pub(crate) const MAX_ARTIFACT: u64 = 64 * 1024 * 1024;

/// A tool manifest in which everything has a meaning.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolManifest {
    /// The name of the tool.
    pub id: ToolId,
    /// Its version.
    pub version: Version,
    /// The name that people read.
    pub display_name: String,
    /// What the tool does, for people and models.
    pub description: String,
    /// The licence, as an SPDX expression.
    pub license: String,
    /// The Wasm file.
    pub artifact: Artifact,
    /// The models it reads.
    pub model_dependencies: Vec<Pinned>,
    /// What it needs beyond its imports, as written.
    pub capability_requirements: Vec<Requirement>,
    /// What it can reach while it runs, as written.
    pub wasi_imports: Declared,
    /// How much it asks to use.
    pub limits: LimitsRequest,
    /// The export that is called, if not the usual one.
    pub entrypoint: Option<String>,
    /// The version of the calling convention of a module.
    pub abi: Option<u8>,
    /// Why it should not be used any more.
    pub deprecated: Option<Deprecated>,
    /// The day on which the registry has looked at it, `2026-04-01`.
    pub validated_at: Option<String>,
    /// Who has looked at it.
    pub validated_by: Option<String>,
    /// The schema of the arguments, with the host's definitions.
    pub input_schema: Value,
    /// The schema of the result, with the host's definitions.
    pub output_schema: Option<Value>,
    /// The digest of what a model sees.
    pub shown_digest: Digest,
    /// The digest of what the tool asks for. How it is written makes no difference.
    pub capabilities_digest: Digest,
    imports: Capabilities,
}

/// The file of a tool or a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Where it can be downloaded; the registry's own store if `None`.
    pub url: Option<String>,
    /// Its sha256.
    pub sha256: Digest,
    /// Its size, which is checked against the most that such a file may have.
    pub size_bytes: u64,
}

/// Why a tool should not be used any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deprecated {
    /// The reason.
    pub reason: String,
    /// What to use instead: a tool, and maybe which versions of it.
    pub replaced_by: Option<String>,
}

impl ToolManifest {
    /// Reads a manifest strictly.
    ///
    /// # Errors
    ///
    /// When a key is unknown or missing, or a value is of the wrong kind, means nothing, is above a
    /// ceiling, or hides text.
    pub fn read(value: &Value) -> Result<Self, FormatError> {
        Ok(check::check(shape::read(value)?)?)
    }

    /// Returns what the tool asks for: its imports, models and unconditional requirements, and the
    /// conditional ones apart.
    #[must_use]
    pub fn request(&self) -> Request {
        let (conditional, always): (Vec<_>, Vec<_>) = self
            .capability_requirements
            .iter()
            .cloned()
            .partition(|requirement| requirement.when.is_some());
        let capabilities = always
            .iter()
            .fold(self.with_models(self.imports.clone()), |sum, more| {
                sum.union(&more.needs)
            });
        Request {
            capabilities,
            conditional,
            limits: self.limits,
            default_fuel: Some(Limits::REGISTRY_FUEL),
        }
    }

    /// Adds the models that the tool pins, to be read. Nobody has to allow those by name: they are
    /// published beside the tool, and nobody's secret.
    #[must_use]
    pub fn with_models(&self, to: Capabilities) -> Capabilities {
        let paths = self
            .model_dependencies
            .iter()
            .filter_map(|model| GuestPath::new(&format!("/models/{}", model.id)).ok());
        paths.fold(to, |to, path| to.with_files(path, Access::Read))
    }

    /// Returns exactly what a model sees: name, description and schemas.
    #[must_use]
    pub fn shown(&self) -> Value {
        let mut shown = json!({
            "name": self.id.as_str(),
            "description": self.description,
            "input_schema": self.input_schema,
        });
        if let Some(output) = &self.output_schema {
            shown["output_schema"] = output.clone();
        }
        shown
    }

    /// Returns what the tool asks for, one line each, in an order that only depends on what is asked.
    #[must_use]
    pub(crate) fn capability_lines(&self) -> Vec<String> {
        let request = self.request();
        let mut lines: Vec<String> = request.conditional.iter().map(|r| r.text.clone()).collect();
        lines.sort();
        lines.dedup();
        let always = request.capabilities.to_string();
        lines.insert(0, always);
        lines
    }

    /// Works out both digests, once.
    fn with_digests(mut self) -> Result<Self, ManifestError> {
        self.shown_digest = document::digest(&self.shown())
            .map_err(|error| ManifestError::schema("/input_schema", error))?;
        self.capabilities_digest = Digest::of(self.capability_lines().join("\n").as_bytes());
        Ok(self)
    }
}

#[cfg(test)]
mod tests;
