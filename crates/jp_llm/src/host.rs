//! The host of calls: what they run on, and who makes them.

mod builder;
mod caller;
mod lazy;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
};

use jp_audit::Log;
use jp_broker::Broker;
use jp_config::KnowledgeBaseConfig;
use jp_confine::Launcher;
use jp_policy::Policy;

use crate::{
    Decisions, LazyRuntime, ToolError, Trust, registry::RegistryTools, runtime::mcp::McpTools,
};

pub use builder::HostBuilder;
pub use caller::Caller;
pub use lazy::LazyBroker;

/// Returns the value of a variable of the environment, if there is one.
pub type Variable = dyn Fn(&str) -> Option<OsString> + Send + Sync;

/// What calls run on, as one caller has it. Clones, also those for other callers, share everything
/// else. Holds no state of a call.
#[derive(Clone)]
pub struct Host {
    shared: Arc<Shared>,
    /// What the user allows, as far as it is allowed to the caller.
    policy: Arc<Policy>,
    caller: Caller,
}

/// What all callers share; [`HostBuilder`] documents the parts.
#[derive(Clone)]
struct Shared {
    root: PathBuf,
    policy: Arc<Policy>,
    unconfined: bool,
    command_memory: Option<u64>,
    trust: Trust,
    knowledge: KnowledgeBaseConfig,
    audit: Option<Arc<Log>>,
    decisions: Option<Arc<dyn Decisions>>,
    launcher: Option<Arc<Launcher>>,
    mcp: Option<Arc<McpTools>>,
    registry: Option<Arc<RegistryTools>>,
    places: BTreeMap<String, PathBuf>,
    no_workspace: bool,
    temp_dir: Option<PathBuf>,
    variable: Arc<Variable>,
    broker: Arc<LazyBroker>,
    wasm: Arc<LazyRuntime>,
}

impl Host {
    /// Starts a host for a workspace, given by its canonical path, with the user's policy.
    #[must_use]
    pub fn builder(root: PathBuf, policy: Policy) -> HostBuilder {
        HostBuilder::new(root, policy)
    }

    /// Returns the same host for another caller, who gets nothing that the user does not allow.
    #[must_use]
    pub fn for_caller(&self, caller: Caller) -> Self {
        let policy = match &caller.policy {
            Some(theirs) => Arc::new(self.shared.policy.intersect(theirs)),
            None => Arc::clone(&self.shared.policy),
        };
        Self {
            shared: Arc::clone(&self.shared),
            policy,
            caller,
        }
    }

    /// Returns who makes the calls.
    #[must_use]
    pub const fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Returns the workspace.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.shared.root
    }

    /// Returns what the caller may be allowed.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the same, to be kept with what was made of it.
    pub(crate) const fn shared_policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// Tells whether two hosts differ in nothing but their callers.
    #[must_use]
    pub fn shares_all_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Tells whether the directory cannot be a workspace, since jp's own files lie in it: no tool gets a file of
    /// it.
    #[must_use]
    pub fn is_no_workspace(&self) -> bool {
        self.shared.no_workspace
    }

    /// Tells whether commands may run bare where the system cannot confine them.
    #[must_use]
    pub fn unconfined(&self) -> bool {
        self.shared.unconfined
    }

    /// Returns how much memory commands and MCP servers may use that do not say themselves.
    #[must_use]
    pub fn command_memory(&self) -> Option<u64> {
        self.shared.command_memory
    }

    /// Returns how far the user trusts the workspace.
    #[must_use]
    pub fn trust(&self) -> &Trust {
        &self.shared.trust
    }

    /// Returns the topics of `learn`.
    #[must_use]
    pub fn knowledge(&self) -> &KnowledgeBaseConfig {
        &self.shared.knowledge
    }

    /// Returns where every call is written down.
    #[must_use]
    pub fn audit(&self) -> Option<&Arc<Log>> {
        self.shared.audit.as_ref()
    }

    /// Returns what the user decided before about calls.
    #[must_use]
    pub fn decisions(&self) -> Option<&dyn Decisions> {
        self.shared.decisions.as_deref()
    }

    /// Returns what confines commands.
    #[must_use]
    pub fn launcher(&self) -> Option<&Arc<Launcher>> {
        self.shared.launcher.as_ref()
    }

    /// Returns the MCP servers of the configuration.
    #[must_use]
    pub fn mcp(&self) -> Option<&Arc<McpTools>> {
        self.shared.mcp.as_ref()
    }

    /// Returns the signed tools that the workspace has.
    #[must_use]
    pub fn registry(&self) -> Option<&Arc<RegistryTools>> {
        self.shared.registry.as_ref()
    }

    /// Returns the directories that tools may be granted beside the workspace.
    pub(crate) fn places(&self) -> &BTreeMap<String, PathBuf> {
        &self.shared.places
    }

    /// Returns where the directories are made that calls have of their own.
    pub(crate) fn temp_dir(&self) -> Option<&Path> {
        self.shared.temp_dir.as_deref()
    }

    /// Looks up a variable of the environment.
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        (self.shared.variable)(name)
    }

    /// Tells whether this host does things on tools' behalf.
    #[must_use]
    pub fn has_broker(&self) -> bool {
        self.shared.broker.can_be_made()
    }

    /// Returns the broker, if this host has one.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    pub fn broker(&self) -> Result<Option<&Arc<Broker>>, ToolError> {
        self.shared.broker.get()
    }

    /// Returns what makes the runtime of components.
    pub(crate) fn lazy_wasm(&self) -> &LazyRuntime {
        &self.shared.wasm
    }

    /// Notes that something outside of Wasm ran, which may have changed the files of Wasm tools.
    pub(crate) fn look_again(&self) {
        self.shared.wasm.look_again();
    }
}
