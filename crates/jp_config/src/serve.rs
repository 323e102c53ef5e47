//! `[serve.resources.<name>]` and `[serve.prompts.<name>]`: what `jp serve` shows clients beside the
//! tools. A workspace may say it, trusted or not: it shows what the workspace holds, and nothing else.
//! Who may use the server, in [`access`], only the user's own file may say.
//!
//! `serve.trust_prompts` is the user's alone.
//!
//! Reads no file; where a `file` leads is checked when it is read.

mod access;
mod check;
mod template;

use jp_text::is_hidden;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::{
    access::{
        Count, IssuerConfig, KeysPlace, OAuthConfig, PrincipalConfig, ServeLimitsConfig,
        TokenAlgorithm, WebUrl, is_principal_name,
    },
    template::UriTemplate,
};
use crate::{
    app::Map,
    conversation::tool::{ByteSize, Millis},
    inside::InsidePath,
    scalar::scalar,
    stage::is_default,
};

/// The longest address of a resource.
const MAX_URI: usize = 2_048;

/// The scheme of what jp shows by itself.
const OUR_SCHEME: &str = "jp:";

/// What a server shows clients beside the tools.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServeConfig {
    /// The clients that are trusted to show you what a call would do and to pass on what you say, by the
    /// names they give themselves; read from the user's own configuration file only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trust_prompts: Vec<String>,
    /// What clients can read, by name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, ServedResourceConfig>")]
    pub resources: Map<ServedResourceConfig>,
    /// Messages that a person behind a client can start with, by name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, ServedPromptConfig>")]
    pub prompts: Map<ServedPromptConfig>,
    /// The names that clients may know the server by beside those of this machine, such as
    /// `jp.example.com`; read from the user's own configuration file only.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hosts: Vec<String>,
    /// How much of the server its principals may use at once; read from the user's own configuration
    /// file only.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limits: ServeLimitsConfig,
    /// Who is let in with tokens of which authorization servers; read from the user's own configuration
    /// file only.
    #[serde(default, skip_serializing_if = "is_default")]
    pub oauth: Option<OAuthConfig>,
    /// What principals may do that are not the user, by name; read from the user's own configuration
    /// file only.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, PrincipalConfig>")]
    pub principals: Map<PrincipalConfig>,
    /// How long and how much of large results is kept for clients. Read from the user's own files and the
    /// command line only.
    #[serde(default, skip_serializing_if = "is_default")]
    pub results: KeptResultsConfig,
}

/// How long and how much of large results is kept for clients.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeptResultsConfig {
    /// How long a result is kept, such as `"24h"`; 24 hours unless set, 30 days at most.
    #[serde(default, skip_serializing_if = "is_default")]
    pub age: Option<Millis>,
    /// How much is kept for one principal, such as `"256MiB"`; that much unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub quota: Option<ByteSize>,
    /// How much is kept for all together, such as `"1GiB"`; that much unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub total: Option<ByteSize>,
}

/// A resource, or a family of them. It has a `uri` or a `uri_template`, and a `text` or a `file`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServedResourceConfig {
    /// Its address, such as `docs://readme`; the scheme `jp` is taken.
    #[serde(default, skip_serializing_if = "is_default")]
    pub uri: Option<ResourceUri>,
    /// The addresses of a family, such as `docs://page/{id}`. A variable stands for one part without
    /// `/`; other forms of RFC 6570 are errors.
    #[serde(default, skip_serializing_if = "is_default")]
    pub uri_template: Option<UriTemplate>,
    /// The name that people see.
    #[serde(default, skip_serializing_if = "is_default")]
    pub title: Option<String>,
    /// What it holds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub description: Option<String>,
    /// Its media type, such as `text/markdown`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub mime_type: Option<MimeType>,
    /// What is read. In a family, `{id}` stands for what the variable `id` of the address is.
    #[serde(default, skip_serializing_if = "is_default")]
    pub text: Option<String>,
    /// The file that is read, relative to the workspace.
    #[serde(default, skip_serializing_if = "is_default")]
    pub file: Option<InsidePath>,
}

/// Messages that a person behind a client can start with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServedPromptConfig {
    /// The name that people see.
    #[serde(default, skip_serializing_if = "is_default")]
    pub title: Option<String>,
    /// What it is good for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub description: Option<String>,
    /// What can be filled in.
    #[serde(default, skip_serializing_if = "is_default")]
    pub arguments: Vec<PromptArgumentConfig>,
    /// The messages. Required.
    pub messages: Vec<PromptMessageConfig>,
}

/// Something that can be filled into a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromptArgumentConfig {
    /// Its name; `{name}` in a message stands for its value.
    pub name: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "is_default")]
    pub description: Option<String>,
    /// Whether the prompt cannot be had without it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub required: bool,
    /// What the person is asked when a required argument is left out and the client can show a form.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ask: Option<String>,
    /// What clients suggest for it; other values are accepted too.
    #[serde(default, skip_serializing_if = "is_default")]
    pub values: Vec<String>,
}

/// A message of a prompt. It has one of `text`, `image` and `resource`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromptMessageConfig {
    /// Who says it.
    pub role: PromptRole,
    /// What is said; `{name}` stands for the argument of that name.
    #[serde(default, skip_serializing_if = "is_default")]
    pub text: Option<String>,
    /// The file of a picture, relative to the workspace.
    #[serde(default, skip_serializing_if = "is_default")]
    pub image: Option<InsidePath>,
    /// The media type of the picture, such as `image/png`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub mime_type: Option<MimeType>,
    /// The address of a resource that is embedded; `{name}` stands for the argument of that name.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resource: Option<String>,
}

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PromptRole {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// The address of a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct ResourceUri(String);

impl ResourceUri {
    /// Returns the address as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn parse(text: &str) -> Option<Self> {
        let plain = |b: u8| b.is_ascii_graphic() && !b"{}<>\"`\\^|".contains(&b);
        let names_something = !text.ends_with(':') || text.matches(':').count() > 1;
        let fits = is_address(text) && names_something && text.bytes().all(plain);
        fits.then(|| Self(text.to_owned()))
    }
}

scalar! {
    ResourceUri: "an address such as `docs://readme`: a scheme other than `jp`, `:` and printable characters without spaces",
    schema { "type": "string", "pattern": "^[a-z][a-z0-9+.-]*:" },
    read |value| value.as_str().and_then(Self::parse),
    write |this| Value::String(this.0),
}

/// Tells whether a text starts with a scheme that is not ours.
fn is_address(text: &str) -> bool {
    let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
    let letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"+.-".contains(&b);
    scheme.starts_with(|c: char| c.is_ascii_lowercase())
        && scheme.bytes().all(letter)
        && !text.starts_with(OUR_SCHEME)
        && text.len() <= MAX_URI
}

/// A media type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct MimeType(String);

impl MimeType {
    /// Returns the type as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn parse(text: &str) -> Option<Self> {
        let (essence, parameters) = text.split_once(';').unwrap_or((text, ""));
        let word = |word: &str| {
            let letter = |b: u8| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b);
            !word.is_empty() && word.bytes().all(letter)
        };
        let (kind, name) = essence.trim_end().split_once('/')?;
        let plain = |c: char| !c.is_control() && c.is_ascii() && !is_hidden(c);
        let fits = word(kind) && word(name) && parameters.chars().all(plain) && text.len() <= 255;
        fits.then(|| Self(text.to_owned()))
    }
}

scalar! {
    MimeType: "a media type such as `text/markdown`",
    schema { "type": "string", "pattern": "^[^/\\s]+/[^/\\s]+" },
    read |value| value.as_str().and_then(Self::parse),
    write |this| Value::String(this.0),
}
