//! A manifest as it is written. From these types comes its JSON Schema too.

use std::fmt;

use jp_policy::{Declared, LimitsRequest, Requirement};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value};

use super::json_schema;

/// A tool of a registry: what it is, needs and takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
#[schemars(title = "Tool manifest", rename = "ToolManifest")]
pub(crate) struct RawManifest {
    /// The JSON Schema of this file, for editors.
    #[serde(default, rename = "$schema")]
    #[schemars(length(max = 256))]
    pub(super) schema: Option<String>,
    /// The name of the tool: words of a-z and 0-9, joined by `-` or `.`.
    #[schemars(length(max = 64), regex(pattern = r"^[a-z0-9]+([.-][a-z0-9]+)*$"))]
    pub(super) id: String,
    /// The version, as semver.
    pub(super) version: String,
    /// The name that people read.
    #[serde(rename = "displayName")]
    #[schemars(length(min = 1, max = 40))]
    pub(super) display_name: String,
    /// What the tool does, for people and models.
    #[schemars(length(min = 1, max = 140))]
    pub(super) description: String,
    /// The licence, as an SPDX expression.
    pub(super) license: String,
    /// The Wasm file.
    pub(super) artifact: RawArtifact,
    /// Models the tool reads at `/models/<id>`, as `<id>@sha256:<64 digits>`.
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub(super) model_dependencies: Vec<String>,
    /// What the tool needs beyond its imports, maybe only when an argument is a chosen file.
    #[serde(default)]
    #[schemars(length(max = 64), schema_with = "json_schema::requirements")]
    pub(super) capability_requirements: Vec<Requirement>,
    /// What the tool can reach while it runs.
    #[serde(default)]
    #[schemars(schema_with = "json_schema::declared")]
    pub(super) wasi_imports: Declared,
    /// The arguments, as JSON Schema 2020-12; `#/definitions/blob_or_path` and its like are supplied.
    pub(super) input_schema: Map<String, Value>,
    /// The result, as JSON Schema 2020-12.
    #[serde(default)]
    pub(super) output_schema: Option<Map<String, Value>>,
    /// How much the tool may use, up to the ceilings; what is left out stays at the default.
    #[serde(default)]
    #[schemars(schema_with = "json_schema::limits")]
    pub(super) limits: LimitsRequest,
    /// The export that is called.
    #[serde(default)]
    #[schemars(length(max = 64), regex(pattern = r"^[A-Za-z_][A-Za-z0-9_-]*$"))]
    pub(super) entrypoint: Option<String>,
    /// The version of the calling convention of a module.
    #[serde(default)]
    #[schemars(range(min = 1, max = 2))]
    pub(super) abi: Option<u8>,
    /// Why the tool should not be used any more.
    #[serde(default)]
    pub(super) deprecated: Option<RawDeprecated>,
    /// The day on which the registry has looked at the tool.
    #[serde(default)]
    #[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}$"))]
    pub(super) validated_at: Option<String>,
    /// Who has looked at the tool.
    #[serde(default)]
    #[schemars(length(min = 1, max = 80))]
    pub(super) validated_by: Option<String>,
}

/// The Wasm file of a tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Artifact")]
pub(crate) struct RawArtifact {
    /// Where it can be downloaded; the registry's own store when left out.
    #[serde(default)]
    #[schemars(length(max = 2048))]
    pub(super) url: Option<String>,
    /// Its sha256: 64 digits in lower case.
    #[schemars(regex(pattern = r"^[0-9a-f]{64}$"))]
    pub(super) sha256: String,
    /// Its size.
    #[schemars(range(min = 1, max = 67_108_864))]
    pub(super) size_bytes: u64,
}

/// Why a tool should not be used any more: a text, or a reason and what to use instead.
#[derive(Debug, JsonSchema)]
#[schemars(untagged, rename = "Deprecated")]
pub(crate) enum RawDeprecated {
    /// The reason.
    Reason(String),
    /// The reason, and what to use instead.
    Table(RawReplaced),
}

/// A reason, and what to use instead.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Replaced")]
pub(crate) struct RawReplaced {
    /// Why the tool should not be used any more.
    #[schemars(length(min = 1, max = 280))]
    pub(super) reason: String,
    /// The tool to use instead: `ocr`, or `ocr@2.0.0`.
    #[serde(default)]
    pub(super) replaced_by: Option<String>,
}

impl<'de> Deserialize<'de> for RawDeprecated {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl<'de> de::Visitor<'de> for Visitor {
            type Value = RawDeprecated;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or {\"reason\": ..., \"replaced_by\": ...}")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<RawDeprecated, E> {
                Ok(RawDeprecated::Reason(text.to_owned()))
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<RawDeprecated, A::Error> {
                RawReplaced::deserialize(de::value::MapAccessDeserializer::new(map))
                    .map(RawDeprecated::Table)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}
