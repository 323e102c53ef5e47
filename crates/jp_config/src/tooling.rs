//! `[tooling]`: tools of registries and tools that come with the app, and the models it uses.
//!
//! Says what the app wants. What of it is pinned, fetched and verified is the registry's business,
//! which checks names and digests once more.

use relative_path::RelativePathBuf;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use semver::{Version, VersionReq};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{inside::InsidePath, scalar::scalar, value::ValueError};

/// The longest name a registry has.
const MAX_TOOL_ID: usize = 64;
/// The longest text that says which versions will do.
pub(crate) const MAX_VERSIONS: usize = 256;
/// The longest signature that stands in a file itself.
pub(crate) const MAX_SIGNATURE: usize = 16 << 10;

/// One tool of `[tooling]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum ToolingConfig {
    /// A tool of a registry.
    Registry(RegistryTool),
    /// A tool that comes with the app.
    Custom(CustomTool),
}

/// A tool of a registry: `"1.2.0"`, `"^1.2"`, or a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryTool {
    /// Its id in the registry, if that is not its name.
    pub id: Option<String>,
    /// The accepted versions.
    pub version: VersionReq,
    /// Which registry, by its name under `[registries]`; the default one unless set.
    pub registry: Option<String>,
}

/// A tool that comes with the app. Its paths are relative to the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomTool {
    /// The Wasm binary.
    pub path: RelativePathBuf,
    /// The manifest, which pins the binary.
    pub manifest: RelativePathBuf,
    /// The publisher's signature of the manifest.
    pub signature: SignatureSource,
}

/// Where a signature stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignatureSource {
    /// In the configuration itself.
    Inline(String),
    /// In a file of its own.
    File(RelativePathBuf),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    id: Option<String>,
    version: Option<String>,
    registry: Option<String>,
    path: Option<InsidePath>,
    manifest: Option<InsidePath>,
    signature: Option<String>,
    signature_file: Option<InsidePath>,
}

impl ToolingConfig {
    /// Returns the tool's id in its registry: the name it is called by, unless it says otherwise.
    #[must_use]
    pub fn id<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        match self {
            Self::Registry(tool) => Some(tool.id.as_deref().unwrap_or(name)),
            Self::Custom(_) => None,
        }
    }
}

impl TryFrom<Value> for ToolingConfig {
    type Error = ValueError;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        match &value {
            Value::String(text) => Ok(Self::Registry(RegistryTool {
                id: None,
                version: versions(text)?,
                registry: None,
            })),
            Value::Object(_) => Table::deserialize(&value)?.read(),
            _ => Err(ValueError::form(
                "a version such as `1.2.0` or `*`, or a table",
                &value,
            )),
        }
    }
}

impl Table {
    fn read(self) -> Result<ToolingConfig, ValueError> {
        let ours = self.path.is_some() || self.manifest.is_some();
        let signed = self.signature.is_some() || self.signature_file.is_some();
        let of_registry = self.id.is_some() || self.version.is_some() || self.registry.is_some();
        if !ours && !signed {
            if let Some(id) = self.id.as_deref().filter(|id| !is_tool_id(id)) {
                return Err(ValueError::ToolId { id: id.to_owned() });
            }
            let version = self.version.as_deref().map(versions).transpose()?;
            return Ok(ToolingConfig::Registry(RegistryTool {
                id: self.id,
                version: version.unwrap_or(VersionReq::STAR),
                registry: self.registry,
            }));
        }
        if of_registry {
            return Err(ValueError::TwoKinds);
        }
        let plain = |path: InsidePath| path.path().clone();
        let signature = match (self.signature, self.signature_file) {
            (Some(_), Some(_)) => return Err(ValueError::TwoSignatures),
            (Some(text), None) if text.is_empty() || text.len() > MAX_SIGNATURE => {
                return Err(ValueError::SignatureSize);
            }
            (Some(text), None) => SignatureSource::Inline(text),
            (None, Some(file)) => SignatureSource::File(plain(file)),
            (None, None) => return Err(missing("signature")),
        };
        Ok(ToolingConfig::Custom(CustomTool {
            path: plain(self.path.ok_or_else(|| missing("path"))?),
            manifest: plain(self.manifest.ok_or_else(|| missing("manifest"))?),
            signature,
        }))
    }
}

const fn missing(field: &'static str) -> ValueError {
    ValueError::Missing { field }
}

/// Reads which versions will do: a whole version means that one, anything else is a range of
/// Cargo's. The same text means the same on the command line and in each file.
pub(crate) fn versions(text: &str) -> Result<VersionReq, ValueError> {
    if text.len() > MAX_VERSIONS {
        return Err(ValueError::LongVersion);
    }
    let read = match text.parse::<Version>() {
        Ok(version) => format!("={version}").parse(),
        Err(_) => text.parse(),
    };
    let read: VersionReq = read.map_err(|source| ValueError::Version {
        text: text.to_owned(),
        source,
    })?;
    // It is written out again with all its operators, and must then be read again.
    match read.to_string().len() > MAX_VERSIONS {
        true => Err(ValueError::LongVersion),
        false => Ok(read),
    }
}

/// Returns whether a text can be the id of a tool in a registry.
pub(crate) fn is_tool_id(text: &str) -> bool {
    let letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let word = |word: &str| !word.is_empty() && word.bytes().all(letter);
    text.len() <= MAX_TOOL_ID && text.split(['.', '-']).all(word)
}

/// Says what an id must be.
pub(crate) fn not_an_id(id: &str) -> String {
    let id = jp_text::start(id, 80);
    format!(
        "invalid tool id `{id}`: expected words of a-z and 0-9, joined by `-` or `.`, such as `pdf.extract-text`"
    )
}

impl From<ToolingConfig> for Value {
    fn from(config: ToolingConfig) -> Self {
        let mut table = serde_json::Map::new();
        let mut put = |key: &str, value: String| {
            table.insert(key.to_owned(), value.into());
        };
        match config {
            ToolingConfig::Registry(tool) => {
                let version = tool.version.to_string();
                if tool.id.is_none() && tool.registry.is_none() {
                    return Self::String(version);
                }
                put("version", version);
                tool.id.into_iter().for_each(|id| put("id", id));
                let registry = tool.registry.into_iter();
                registry.for_each(|registry| put("registry", registry));
            }
            ToolingConfig::Custom(tool) => {
                put("path", tool.path.into_string());
                put("manifest", tool.manifest.into_string());
                match tool.signature {
                    SignatureSource::Inline(text) => put("signature", text),
                    SignatureSource::File(path) => put("signature_file", path.into_string()),
                }
            }
        }
        Self::Object(table)
    }
}

impl JsonSchema for ToolingConfig {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ToolingConfig".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let text = |description: &str| json!({ "type": "string", "description": description });
        schemars::json_schema!({
            "anyOf": [
                text("The accepted versions: `1.2.0` is exactly that one; `1.2`, `^1`, `>=1, <3` and `*` are ranges."),
                {
                    "type": "object",
                    "properties": {
                        "id": text("The id in the registry, if that is not the name."),
                        "version": text("The accepted versions; any unless set."),
                        "registry": text("The registry, by its name; the default one unless set."),
                        "path": text("The Wasm binary of a tool that comes with the app."),
                        "manifest": text("The manifest of such a tool."),
                        "signature": text("The publisher's signature of the manifest."),
                        "signature_file": text("A file with that signature."),
                    },
                    "additionalProperties": false,
                },
            ],
        })
    }
}

/// A model and the bytes it must be: `glm-ocr-1.5-q8@sha256:…`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct ModelPin(String);

impl ModelPin {
    /// Returns the pin as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name of the model.
    #[must_use]
    pub fn id(&self) -> &str {
        self.0.split('@').next().unwrap_or_default()
    }

    fn parse(text: &str) -> Option<Self> {
        let (id, digest) = text.split_once("@sha256:")?;
        let letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._".contains(&b);
        let word = |word: &str| !word.is_empty() && word.bytes().all(letter);
        let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        // The name becomes a directory of the guest: `..` is made of dots too.
        let named = id.len() <= MAX_TOOL_ID && id.split('-').all(word) && !id.contains("..");
        let pinned = digest.len() == 64 && digest.bytes().all(hex);
        (named && !id.starts_with('.') && pinned).then(|| Self(text.to_owned()))
    }
}

scalar! {
    ModelPin: "a model and its sha256, such as `glm-ocr-1.5-q8@sha256:<64 digits of 0-9 and a-f>`",
    schema { "type": "string", "pattern": "^[a-z0-9._-]+@sha256:[0-9a-f]{64}$" },
    read |value| value.as_str().and_then(Self::parse),
    write |this| Value::String(this.0),
}
