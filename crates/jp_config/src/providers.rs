//! `[providers.mcp.<id>]`: the MCP servers whose tools can be used.
//!
//! Knows nothing of the protocol and starts nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    app::Map,
    stage::{Complete, Stage, is_default},
};

/// Where tools come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(bound = "R: Stage", deny_unknown_fields)]
#[schemars(rename = "ProvidersConfig", bound = "R: Stage")]
pub struct ProvidersConfig<R: Stage = Complete> {
    /// The MCP servers by id.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, McpProviderConfig<R>>")]
    pub mcp: Map<McpProviderConfig<R>>,
}

impl<R: Stage> Default for ProvidersConfig<R> {
    fn default() -> Self {
        Self { mcp: Map::new() }
    }
}

impl<R: Stage> ProvidersConfig<R> {
    /// Tells whether this section says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.mcp.is_empty()
    }
}

/// One MCP server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(bound = "R: Stage", deny_unknown_fields)]
#[schemars(rename = "McpProviderConfig", bound = "R: Stage")]
pub struct McpProviderConfig<R: Stage = Complete> {
    /// How the server is reached.
    #[serde(rename = "type", default, skip_serializing_if = "is_default")]
    pub kind: McpTransport,
    /// The program that is the server. Required.
    pub command: R::Required<String>,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "is_default")]
    pub arguments: Vec<String>,
    /// The names of the environment variables it may see.
    #[serde(default, skip_serializing_if = "is_default")]
    pub variables: Vec<String>,
    /// What the program's bytes must be.
    #[serde(default, skip_serializing_if = "is_default")]
    pub checksum: Option<Checksum>,
    /// Whether jp goes on without the server when it does not start.
    #[serde(default, skip_serializing_if = "is_default")]
    pub optional: bool,
    /// How long the server may take to start; 0 waits for ever.
    #[serde(default = "startup", skip_serializing_if = "is_startup")]
    pub startup_timeout_secs: u64,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum McpTransport {
    /// A program that is started and spoken to on its standard streams.
    #[default]
    Stdio,
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
