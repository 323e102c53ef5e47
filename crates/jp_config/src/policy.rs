//! `[policy]`: what the user allows tools to do. Only the user's own file may hold it.

use jp_policy::{
    Access, Ambient, Brokered, BrokeredName, Capabilities, Ceilings, FileRule, Files, GuestPath,
    LimitError, Policy,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    conversation::tool::{
        ByteSize, CallGrant, EnvGrant, FileGrant, LimitsConfig, NetGrant, PathGrant,
        WorkspaceAccess,
    },
    stage::is_default,
};

/// What the user allows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyConfig {
    /// What tools may do with the workspace; `read-write` unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub workspace: Option<WorkspaceAccess>,
    /// Further files in a tool's own namespace, such as `/data:read`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub files: Vec<FileGrant>,
    /// Files and directories of this machine beside the workspace that tools may read, such as
    /// `{ path = "~/docs", access = "read" }`; none unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub paths: Vec<PathGrant>,
    /// The hosts tools may reach; none unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub net: Option<NetGrant>,
    /// Whether tools may run commands, confined and in trusted workspaces; `true` unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub subprocess: Option<bool>,
    /// What the host may do on tools' behalf, such as `kv.sqlite.*` or `secrets.get.github_pat`;
    /// everything but secrets unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub calls: Option<Vec<CallGrant>>,
    /// What tools may do with files that a person chooses for one call; `read-write` unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub selected: Option<WorkspaceAccess>,
    /// The environment variables that tools may see; none unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub env: Vec<EnvGrant>,
    /// Whether tools may read clocks; `true` unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub clocks: Option<bool>,
    /// Whether tools may have random numbers; `true` unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub random: Option<bool>,
    /// Whether tools may be handed arguments and results over standard input and output; `true`
    /// unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stdio: Option<bool>,
    /// Whether a command may run with the full authority of the user where the system cannot
    /// confine it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unconfined: bool,
    /// The memory of a command or an MCP server that does not say itself, such as `"4GB"`; the ceiling
    /// on memory (1 GiB) unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub command_memory: Option<ByteSize>,
    /// Ceilings below the built-in ones; nothing can raise those.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limits: LimitsConfig,
}

impl PolicyConfig {
    /// Makes the host policy.
    ///
    /// # Errors
    ///
    /// When a limit is zero or above the built-in ceiling.
    pub fn to_policy(&self) -> Result<Policy, LimitError> {
        let workspace = self.workspace.unwrap_or(WorkspaceAccess::ReadWrite);
        // A tool always has its own scratch directory, its own data, and the subjects and models
        // that the host prepares.
        let always = [
            ("/app-data", Access::ReadWrite),
            ("/models", Access::Read),
            ("/subjects", Access::Read),
            ("/tmp", Access::ReadWrite),
        ];
        let rules = always
            .into_iter()
            .chain(workspace.access().map(|access| ("/workspace", access)))
            .filter_map(|(path, access)| rule(path, access))
            .chain(self.files.iter().map(|grant| grant.rule().clone()))
            .chain(self.paths.iter().filter_map(PathGrant::rule));
        Ok(Policy {
            capabilities: Capabilities {
                files: Files::new(rules),
                net: self.net.as_ref().map(NetGrant::net).unwrap_or_default(),
                subprocess: self.subprocess.unwrap_or(true),
                brokered: self.brokered(),
                // A person who chooses a file for a call has said that the tool may have it.
                selected: self.selected.unwrap_or(WorkspaceAccess::ReadWrite).access(),
                env: self.env.iter().map(|env| env.name().clone()).collect(),
                ambient: Ambient {
                    clocks: self.clocks.unwrap_or(true),
                    random: self.random.unwrap_or(true),
                    stdio: self.stdio.unwrap_or(true),
                },
            },
            ceilings: Ceilings::default().lowered_by(&self.limits.to_request())?,
        })
    }

    fn brokered(&self) -> Brokered {
        let names: Vec<BrokeredName> = match &self.calls {
            Some(calls) => calls.iter().map(|call| call.name().clone()).collect(),
            // Everything but secrets. What leaves the machine needs `net` for its host besides.
            None => "*".parse().into_iter().collect(),
        };
        Brokered::new(names)
    }
}

/// Makes a rule of a path that is written in this crate.
pub(crate) fn rule(path: &str, access: Access) -> Option<FileRule> {
    let path = GuestPath::new(path).ok()?;
    Some(FileRule { path, access })
}
