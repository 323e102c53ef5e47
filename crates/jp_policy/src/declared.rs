//! Capabilities as a manifest writes them: `{"net": false, "fs": {"user-selected": "read"}}`.
//!
//! What is written here is a request or an app's own bounds. Only [`crate::compose`] grants.

mod meaning;
mod read;

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

pub(crate) use self::meaning::{APP_DATA, MCP, rule, start_of, user_path};
use crate::Access;

/// The directories of a person that can be asked for, as the keys of `fs.user-paths`.
pub const USER_PATHS: [&str; 8] = [
    "desktop",
    "documents",
    "downloads",
    "music",
    "pictures",
    "public",
    "templates",
    "videos",
];

/// Capabilities as a manifest declares them. What is left out stays at its default: a temporary
/// directory, clocks, random numbers and stdio, and nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declared {
    /// The network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub net: Option<DeclaredNet>,
    /// Files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fs: Option<DeclaredFs>,
    /// Reading clocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clocks: Option<bool>,
    /// Random numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random: Option<bool>,
    /// Variables of the host's environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<DeclaredEnv>,
    /// Never granted; `false` may be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<bool>,
    /// Standard input and output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdio: Option<DeclaredStdio>,
    /// Running commands of the host.
    #[serde(
        default,
        rename = "tool.exec.subprocess",
        skip_serializing_if = "Option::is_none"
    )]
    pub subprocess: Option<bool>,
    /// Calling tools of MCP servers.
    #[serde(default, rename = "tools.mcp", skip_serializing_if = "Option::is_none")]
    pub mcp: Option<bool>,
    /// What the host does on the tool's behalf, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Vec<String>>,
}

/// `net`: `false`, `true`, a list of hosts, or hosts and ports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum DeclaredNet {
    /// Every host, or none.
    All(bool),
    /// These hosts.
    Hosts(Vec<String>),
    /// These hosts at these ports.
    Table(DeclaredHosts),
}

/// Hosts and ports, as a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredHosts {
    /// Host names, with `*.` for all below one.
    pub allowed_hosts: Vec<String>,
    /// The only ports; every port when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_ports: Option<Vec<u16>>,
}

/// `fs`: `false` for no files at all, not even temporary ones, or a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum DeclaredFs {
    /// No files; `true` is refused, since it says neither which nor what for.
    All(bool),
    /// These files.
    Table(DeclaredFiles),
}

/// Files, as a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredFiles {
    /// `$TOOL_TEMP`, a directory of the call's own, which is there in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Files that a person chooses for a call.
    #[serde(
        default,
        rename = "user-selected",
        skip_serializing_if = "Option::is_none"
    )]
    pub user_selected: Option<DeclaredAccess>,
    /// The app's own directory.
    #[serde(default, rename = "app-data", skip_serializing_if = "Option::is_none")]
    pub app_data: Option<DeclaredAccess>,
    /// Directories of the person, by name.
    #[serde(
        default,
        rename = "user-paths",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub user_paths: BTreeMap<String, DeclaredAccess>,
}

/// `"read"`, `"read-write"` or `false`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeclaredAccess(pub Option<Access>);

/// `env`: `false` or a list of names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum DeclaredEnv {
    /// No variable; `true` is refused, since nobody could say which.
    All(bool),
    /// These variables.
    Names(Vec<String>),
}

/// `stdio`: `"read-write"` or `true`, `"none"` or `false`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeclaredStdio(pub bool);

/// Why a declaration is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}`: {problem}; {write}")]
pub struct DeclaredError {
    /// The key that is wrong, with dots: `fs.user-paths`.
    pub key: &'static str,
    /// What is wrong with it.
    pub problem: String,
    /// What to write instead.
    pub write: String,
}

#[cfg(test)]
#[path = "declared_tests.rs"]
mod tests;
