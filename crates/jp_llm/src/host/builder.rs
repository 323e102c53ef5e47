//! How a host is put together.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf, sync::Arc};

use jp_audit::Log;
use jp_config::KnowledgeBaseConfig;
use jp_confine::Launcher;
use jp_policy::Policy;

use super::{Caller, Host, LazyBroker, Shared};
use crate::{Decisions, LazyRuntime, Trust, registry::RegistryTools, runtime::mcp::McpTools};

/// Puts a host together. What is not set is missing: nobody to ask, no audit log, no commands.
pub struct HostBuilder {
    shared: Shared,
    caller: Caller,
}

impl HostBuilder {
    pub(super) fn new(root: PathBuf, policy: Policy) -> Self {
        let shared = Shared {
            root,
            policy: Arc::new(policy),
            unconfined: false,
            command_memory: None,
            trust: Trust::Untrusted,
            knowledge: KnowledgeBaseConfig::default(),
            audit: None,
            decisions: None,
            launcher: None,
            mcp: None,
            registry: None,
            places: BTreeMap::new(),
            no_workspace: false,
            temp_dir: None,
            variable: Arc::new(|_| None),
            broker: Arc::default(),
            wasm: Arc::default(),
        };
        Self {
            shared,
            caller: Caller::default(),
        }
    }

    /// Says what the user allows, instead of what was said first.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.shared.policy = Arc::new(policy);
        self
    }

    /// Says that the directory cannot be a workspace, since jp's own files lie in it. The policy must not
    /// allow its files; this makes the refusals say why.
    #[must_use]
    pub const fn no_workspace(mut self, no_workspace: bool) -> Self {
        self.shared.no_workspace = no_workspace;
        self
    }

    /// Says whether commands may run bare where the system cannot confine them.
    #[must_use]
    pub const fn unconfined(mut self, unconfined: bool) -> Self {
        self.shared.unconfined = unconfined;
        self
    }

    /// Says how many bytes of memory commands and MCP servers may use that do not say themselves;
    /// `None` is the policy's ceiling.
    #[must_use]
    pub const fn command_memory(mut self, bytes: Option<u64>) -> Self {
        self.shared.command_memory = bytes;
        self
    }

    /// Says how far the user trusts the workspace.
    #[must_use]
    pub fn trust(mut self, trust: Trust) -> Self {
        self.shared.trust = trust;
        self
    }

    /// Gives the topics of `learn`.
    #[must_use]
    pub fn knowledge(mut self, topics: KnowledgeBaseConfig) -> Self {
        self.shared.knowledge = topics;
        self
    }

    /// Says where every call is written down.
    #[must_use]
    pub fn audit(mut self, log: Arc<Log>) -> Self {
        self.shared.audit = Some(log);
        self
    }

    /// Gives what the user decided before about calls.
    #[must_use]
    pub fn decisions(mut self, decisions: Option<Arc<dyn Decisions>>) -> Self {
        self.shared.decisions = decisions;
        self
    }

    /// Gives what confines commands; without it they are refused.
    #[must_use]
    pub fn launcher(mut self, launcher: Option<Arc<Launcher>>) -> Self {
        self.shared.launcher = launcher;
        self
    }

    /// Gives the MCP servers of the configuration.
    #[must_use]
    pub fn mcp(mut self, servers: Arc<McpTools>) -> Self {
        self.shared.mcp = Some(servers);
        self
    }

    /// Gives signed tools: what the workspace's lock file has, and what this machine knows of it.
    #[must_use]
    pub fn registry(mut self, tools: Option<Arc<RegistryTools>>) -> Self {
        self.shared.registry = tools;
        self
    }

    /// Gives directories of this machine that tools may be granted beside the workspace, by the paths
    /// guests know them by: `/app-data`, `/user/documents`.
    #[must_use]
    pub fn places(mut self, places: BTreeMap<String, PathBuf>) -> Self {
        self.shared.places = places;
        self
    }

    /// Says where the directories are made that calls have of their own (`/tmp` for the guest).
    #[must_use]
    pub fn temp_dir(mut self, dir: Option<PathBuf>) -> Self {
        self.shared.temp_dir = dir;
        self
    }

    /// Says how a variable of the environment is looked up; asked only for those that a grant names.
    #[must_use]
    pub fn variable(
        mut self,
        variable: impl Fn(&str) -> Option<OsString> + Send + Sync + 'static,
    ) -> Self {
        self.shared.variable = Arc::new(variable);
        self
    }

    /// Gives what does on tools' behalf what they may not do themselves.
    #[must_use]
    pub fn broker(mut self, broker: LazyBroker) -> Self {
        self.shared.broker = Arc::new(broker);
        self
    }

    /// Gives what runs components.
    #[must_use]
    pub fn wasm(mut self, runtime: LazyRuntime) -> Self {
        self.shared.wasm = Arc::new(runtime);
        self
    }

    /// Says who makes calls; [`Host::for_caller`] adds others.
    #[must_use]
    pub fn caller(mut self, caller: Caller) -> Self {
        self.caller = caller;
        self
    }

    /// Makes the host.
    #[must_use]
    pub fn build(self) -> Host {
        let host = Host {
            policy: Arc::clone(&self.shared.policy),
            shared: Arc::new(self.shared),
            caller: Caller::default(),
        };
        host.for_caller(self.caller)
    }
}

impl Host {
    /// Takes the host apart, to make another like it.
    #[must_use]
    pub fn into_builder(self) -> HostBuilder {
        HostBuilder {
            shared: Arc::unwrap_or_clone(self.shared),
            caller: self.caller,
        }
    }
}
