//! `[registries.<name>]`: where tools are fetched from. Only the user's own file may hold it:
//! naming a registry and its key decides what runs here.

use std::path::PathBuf;

use jp_policy::HostPattern;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{providers::host_of, value::ValueError};

/// How the text of a key starts.
const KEY: &str = "ed25519:";
/// The longest address of a registry.
const MAX_PLACE: usize = 2_048;

/// One registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct RegistryConfig {
    /// Where it is.
    pub place: RegistryPlace,
    /// The key its index is signed with, `ed25519:…`; the one in the trust file unless set.
    pub key: Option<String>,
    /// Whether it is asked for tools that name no registry.
    pub default: bool,
}

/// Where a registry is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegistryPlace {
    /// Static files behind a URL.
    Url(String),
    /// A directory of this machine.
    Dir(PathBuf),
    /// An OCI registry and the namespace in it, such as `ghcr.io/example/tools`.
    Oci(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    url: Option<String>,
    dir: Option<String>,
    oci: Option<String>,
    key: Option<String>,
    #[serde(default)]
    default: bool,
}

impl TryFrom<Value> for RegistryConfig {
    type Error = ValueError;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        let table = Table::deserialize(&value)?;
        if table.key.as_deref().is_some_and(|key| !is_key(key)) {
            return Err(ValueError::content(
                "a public key: `ed25519:` and 32 bytes in base64 (44 characters)",
            ));
        }
        let place = match (table.url, table.dir, table.oci) {
            (Some(url), None, None) => url_of(url)?,
            (None, Some(dir), None) => dir_of(&dir)?,
            (None, None, Some(oci)) => oci_of(oci)?,
            // The words of an absent key: another layer cannot add it, but the place is found by them.
            (None, None, None) => return Err(ValueError::Missing { field: "url" }),
            _ => {
                return Err(ValueError::content("exactly one of `url`, `dir` and `oci`"));
            }
        };
        Ok(Self {
            place,
            key: table.key,
            default: table.default,
        })
    }
}

fn url_of(url: String) -> Result<RegistryPlace, ValueError> {
    let host = host_of(&url).filter(|_| url.len() <= MAX_PLACE && !url.contains(['?', '#']));
    let host = host.map(|host| host.to_string());
    let host = host.as_deref().and_then(|host| host.rsplit_once(':'));
    let local = |host: &str| matches!(host, "localhost" | "127.0.0.1" | "[::1]");
    // What a registry says is signed; that nobody holds back its news is up to the connection.
    match host {
        Some((host, _)) if url.starts_with("https://") || local(host) => {
            Ok(RegistryPlace::Url(url))
        }
        _ => Err(ValueError::content(
            "`https://HOST[:PORT]/…`, or `http://` to this machine, with the host in lower case and without a user or a query",
        )),
    }
}

fn dir_of(dir: &str) -> Result<RegistryPlace, ValueError> {
    let path = PathBuf::from(dir);
    if !path.is_absolute() || dir.len() > MAX_PLACE || dir.contains('\0') {
        return Err(ValueError::content("an absolute path"));
    }
    Ok(RegistryPlace::Dir(path))
}

fn oci_of(oci: String) -> Result<RegistryPlace, ValueError> {
    let letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let word = |word: &str| !word.is_empty() && word.bytes().all(letter);
    let part = |part: &str| part.split(['.', '_', '-']).all(word);
    let checked = oci.split_once('/').is_some_and(|(host, namespace)| {
        let host = host.parse::<HostPattern>().is_ok() && !host.contains('*');
        host && namespace.split('/').all(part)
    });
    if !checked || oci.len() > MAX_PLACE {
        return Err(ValueError::content(
            "`HOST[:PORT]/NAMESPACE` in lower case, without a tag",
        ));
    }
    Ok(RegistryPlace::Oci(oci))
}

/// Returns whether a text has the form of a key; the code that uses it parses it again.
fn is_key(text: &str) -> bool {
    let Some(base64) = text.strip_prefix(KEY).and_then(|key| key.strip_suffix('=')) else {
        return false;
    };
    let letter = |b: u8| b.is_ascii_alphanumeric() || b == b'+' || b == b'/';
    base64.len() == 43 && base64.bytes().all(letter)
}

impl From<RegistryConfig> for Value {
    fn from(config: RegistryConfig) -> Self {
        let (key, place) = match config.place {
            RegistryPlace::Url(url) => ("url", url),
            RegistryPlace::Dir(dir) => ("dir", dir.to_string_lossy().into_owned()),
            RegistryPlace::Oci(oci) => ("oci", oci),
        };
        let mut table = serde_json::Map::from_iter([(key.to_owned(), place.into())]);
        if let Some(key) = config.key {
            table.insert("key".to_owned(), key.into());
        }
        if config.default {
            table.insert("default".to_owned(), true.into());
        }
        Self::Object(table)
    }
}

impl JsonSchema for RegistryConfig {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RegistryConfig".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let text = |description: &str| json!({ "type": "string", "description": description });
        schemars::json_schema!({
            "type": "object",
            "properties": {
                "url": text("Where its files are served, such as `https://tools.example.com/v1/`."),
                "dir": text("A directory of this machine that holds it."),
                "oci": text("An OCI registry and the namespace in it."),
                "key": text("The key its index is signed with, `ed25519:…`; that of the trust file unless set."),
                "default": {
                    "type": "boolean",
                    "description": "Whether it is asked for tools that name no registry.",
                },
            },
            "additionalProperties": false,
        })
    }
}
