//! What a tool says it must be able to do.

use jp_policy::{
    Access, Brokered, BrokeredName, Capabilities, EnvName, FileRule, Files, GuestPath, HostPattern,
    Net,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::PathGrant;
use crate::{policy::rule, scalar::scalar, stage::is_default};

/// What a call must be able to do, where that is not the default of its kind of tool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrantConfig {
    /// What it does with the workspace.
    #[serde(default, skip_serializing_if = "is_default")]
    pub workspace: Option<WorkspaceAccess>,
    /// Further files in the tool's own namespace, such as `/workspace/src:read`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub files: Vec<FileGrant>,
    /// Files and directories of this machine beside the workspace that it reads, at their own paths, such
    /// as `{ path = "~/docs", access = "read" }`. Your policy must allow them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub paths: Vec<PathGrant>,
    /// The hosts it reaches.
    #[serde(default, skip_serializing_if = "is_default")]
    pub net: Option<NetGrant>,
    /// What the host does on its behalf, such as `clock.now_unix` or `kv.sqlite.todo.*`; absent is
    /// the default of the tool, an empty list is nothing.
    #[serde(default, skip_serializing_if = "is_default")]
    pub calls: Option<Vec<CallGrant>>,
    /// What a Wasm tool does with files that a person chooses for one call.
    #[serde(default, skip_serializing_if = "is_default")]
    pub selected: Option<WorkspaceAccess>,
    /// The environment variables that a Wasm tool sees, such as `LANG`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub env: Vec<EnvGrant>,
}

impl GrantConfig {
    /// Returns what the configuration asks for, without what a kind of tool has anyway.
    #[must_use]
    pub fn stated(&self) -> Capabilities {
        let workspace = self.workspace.and_then(WorkspaceAccess::access);
        let workspace = workspace.and_then(|access| rule("/workspace", access));
        let files = self.files.iter().map(|file| file.rule().clone());
        let files = files.chain(self.paths.iter().filter_map(PathGrant::rule));
        let calls = self.calls.iter().flatten();
        Capabilities {
            files: Files::new(workspace.into_iter().chain(files)),
            net: self.net.as_ref().map_or(Net::None, NetGrant::net),
            brokered: Brokered::new(calls.map(|call| call.name().clone())),
            selected: self.selected.and_then(WorkspaceAccess::access),
            env: self.env.iter().map(|env| env.name().clone()).collect(),
            ..Capabilities::default()
        }
    }
}

/// What may be done with the workspace, or with files that a person chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkspaceAccess {
    /// Nothing.
    None,
    /// Look at it.
    Read,
    /// Look at it and change it.
    ReadWrite,
}

impl WorkspaceAccess {
    /// Returns the access, if there is any.
    #[must_use]
    pub const fn access(self) -> Option<Access> {
        match self {
            Self::None => None,
            Self::Read => Some(Access::Read),
            Self::ReadWrite => Some(Access::ReadWrite),
        }
    }
}

/// A directory tree and what may be done in it: `/workspace/src:read`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct FileGrant(FileRule);

impl FileGrant {
    /// Returns the rule.
    #[must_use]
    pub const fn rule(&self) -> &FileRule {
        &self.0
    }
}

scalar! {
    FileGrant: "an absolute path without `..` and its access, such as `/workspace/src:read` or `/workspace/out:read-write`",
    schema { "type": "string", "pattern": "^/.*:(read|read-write)$" },
    read |value| value.as_str().and_then(|text| text.rsplit_once(':')).and_then(|(path, access)| {
        let access = match access {
            "read" => Access::Read,
            "read-write" => Access::ReadWrite,
            _ => return None,
        };
        let path = GuestPath::new(path).ok()?;
        Some(Self(FileRule { path, access }))
    }),
    write |this| Value::String(this.0.to_string()),
}

/// The name of something the host does on a tool's behalf: `clock.now_unix`, `kv.sqlite.todo.*`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct CallGrant(BrokeredName);

impl CallGrant {
    /// Returns the name.
    #[must_use]
    pub const fn name(&self) -> &BrokeredName {
        &self.0
    }
}

impl From<BrokeredName> for CallGrant {
    fn from(name: BrokeredName) -> Self {
        Self(name)
    }
}

scalar! {
    CallGrant: "words of a-z, 0-9, `_` and `-` joined by dots, such as `clock.now_unix` or `kv.sqlite.todo.*`",
    schema { "type": "string", "pattern": r"^(\*|[a-z0-9_-]+(\.[a-z0-9_-]+)*(\.\*)?)$" },
    read |value| value.as_str().and_then(|text| text.parse().ok()).map(Self),
    write |this| Value::String(this.0.to_string()),
}

/// The name of a variable of the environment: `LANG`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct EnvGrant(EnvName);

impl EnvGrant {
    /// Returns the name.
    #[must_use]
    pub const fn name(&self) -> &EnvName {
        &self.0
    }
}

scalar! {
    EnvGrant: "a variable of letters, digits and `_`, such as `LANG`",
    schema { "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" },
    read |value| value.as_str().and_then(|text| text.parse().ok()).map(Self),
    write |this| Value::String(this.0.to_string()),
}

/// The hosts that may be reached: all, none, or a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct NetGrant(Net);

impl NetGrant {
    /// Returns the network that may be used.
    #[must_use]
    pub fn net(&self) -> Net {
        self.0.clone()
    }
}

scalar! {
    NetGrant: "`true`, `false` or a list of hosts such as `api.example.com`, `*.example.com` or `example.com:8443`",
    schema { "anyOf": [{ "type": "boolean" }, { "type": "array", "items": { "type": "string" } }] },
    read |value| match value {
        Value::Bool(true) => Some(Self(Net::Any)),
        Value::Bool(false) => Some(Self(Net::None)),
        Value::Array(hosts) => hosts
            .iter()
            .map(|host| host.as_str()?.parse::<HostPattern>().ok())
            .collect::<Option<std::collections::BTreeSet<_>>>()
            .map(|hosts| Self(if hosts.is_empty() { Net::None } else { Net::Hosts(hosts) })),
        _ => None,
    },
    write |this| match this.0 {
        Net::None => Value::Bool(false),
        Net::Any => Value::Bool(true),
        Net::Hosts(hosts) => hosts.iter().map(ToString::to_string).collect(),
    },
}
