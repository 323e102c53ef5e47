//! `[providers.mcp.<id>]`: the MCP servers whose tools can be used.
//!
//! Knows nothing of the protocol, starts nothing and reaches nobody.

mod check;

pub(crate) use check::host_of;

use jp_policy::{
    Access, Brokered, Capabilities, FileRule, Files, GuestPath, LimitsRequest, Net, Request,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    app::Map,
    conversation::tool::{GrantConfig, NetGrant, PathGrant},
    stage::is_default,
};

/// Where tools come from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProvidersConfig {
    /// The MCP servers by id.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, McpProviderConfig>")]
    pub mcp: Map<McpProviderConfig>,
}

impl ProvidersConfig {
    /// Returns whether this section says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.mcp.is_empty()
    }
}

/// One MCP server: a program with `command`, or a URL with `url`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct McpProviderConfig {
    /// How the server is reached: `stdio` with a `command`, `http` with a `url`. Follows from them
    /// when it is absent.
    #[serde(rename = "type", default, skip_serializing_if = "is_default")]
    pub kind: Option<McpTransport>,
    /// The program that is the server.
    #[serde(default, skip_serializing_if = "is_default")]
    pub command: Option<String>,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "is_default")]
    pub arguments: Vec<String>,
    /// The names of the environment variables it may see.
    #[serde(default, skip_serializing_if = "is_default")]
    pub variables: Vec<String>,
    /// Further variables of the program's environment, with their values. In your own configuration a
    /// value may hold `{{secret:NAME}}`, which is filled in when the program starts.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, String>")]
    pub environment: Map<String>,
    /// What the program's bytes must be.
    #[serde(default, skip_serializing_if = "is_default")]
    pub checksum: Option<Checksum>,
    /// The URL that is the server.
    #[serde(default, skip_serializing_if = "is_default")]
    pub url: Option<String>,
    /// Headers of every request to the URL. `{{secret:NAME}}` in a value is filled in by jp and
    /// never seen by a tool or a model.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, String>")]
    pub headers: Map<String>,
    /// How jp logs in to the URL, with `jp mcp login`. What is not said is found out.
    #[serde(default, skip_serializing_if = "is_default")]
    pub oauth: Option<OauthConfig>,
    /// What the server may do: files and network of a program, further hosts of a URL.
    #[serde(default, skip_serializing_if = "is_default")]
    pub grant: GrantConfig,
    /// Whether jp goes on without the server when it does not start.
    #[serde(default, skip_serializing_if = "is_default")]
    pub optional: bool,
    /// How long the server may take to start and to list its tools; 0 waits for ever.
    #[serde(default = "startup", skip_serializing_if = "is_startup")]
    pub startup_timeout_secs: u64,
}

impl McpProviderConfig {
    /// Returns what the server needs: to be run, and what `grant` says; of a URL its own host.
    #[must_use]
    pub fn request(&self) -> Request {
        let grant = &self.grant;
        let net = grant.net.as_ref().map(NetGrant::net);
        let own = || self.url.as_deref().and_then(host_of);
        let net = match (net, own()) {
            (Some(Net::Hosts(hosts)), Some(own)) => Net::hosts(hosts.into_iter().chain([own])),
            (Some(net), _) => net,
            (None, Some(own)) => Net::hosts([own]),
            (None, None) => Net::None,
        };
        let workspace = grant.workspace.and_then(|access| access.access());
        let files = workspace
            .and_then(workspace_rule)
            .into_iter()
            .chain(grant.files.iter().map(|file| file.rule().clone()))
            .chain(grant.paths.iter().filter_map(PathGrant::rule));
        Request {
            capabilities: Capabilities {
                files: Files::new(files),
                net,
                subprocess: self.command.is_some(),
                brokered: Brokered::default(),
                ..Capabilities::default()
            },
            limits: LimitsRequest::default(),
            default_fuel: None,
            conditional: Vec::new(),
        }
    }
}

/// How jp logs in to a server.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OauthConfig {
    /// Who logs in: you, in the browser, or the client itself.
    #[serde(default, skip_serializing_if = "is_default")]
    pub grant: OauthGrant,
    /// The id of a client that you registered with the authorization server yourself.
    #[serde(default, skip_serializing_if = "is_default")]
    pub client_id: Option<String>,
    /// The name of the secret that proves jp is that client.
    #[serde(default, skip_serializing_if = "is_default")]
    pub client_secret: Option<String>,
    /// The issuer you registered the client with; the client is shown to no other.
    #[serde(default, skip_serializing_if = "is_default")]
    pub issuer: Option<String>,
    /// Where the description of a client lies, for authorization servers that look for it there.
    #[serde(default, skip_serializing_if = "is_default")]
    pub client_metadata_url: Option<String>,
    /// What a login must allow, besides what the server asks for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub scopes: Vec<String>,
}

/// Who logs in to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OauthGrant {
    /// A person, in the browser.
    #[default]
    AuthorizationCode,
    /// The client of `client_id`, with its secret.
    ClientCredentials,
}

fn workspace_rule(access: Access) -> Option<FileRule> {
    let path = GuestPath::new("/workspace").ok()?;
    Some(FileRule { path, access })
}

const STARTUP_SECS: u64 = 60;

const fn startup() -> u64 {
    STARTUP_SECS
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
const fn is_startup(value: &u64) -> bool {
    *value == STARTUP_SECS
}

/// How an MCP server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum McpTransport {
    /// A program that is started and spoken to on its standard streams.
    Stdio,
    /// A URL that messages are posted to (streamable HTTP).
    Http,
}

/// What a program's bytes must be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Checksum {
    /// The hash function.
    #[serde(default)]
    pub algorithm: ChecksumAlgorithm,
    /// The hash in hexadecimal.
    pub value: String,
}

/// A hash function for a [`Checksum`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChecksumAlgorithm {
    /// SHA-256.
    #[default]
    Sha256,
    /// SHA-1, for servers that publish nothing better.
    Sha1,
}
