//! The host of calls: everything they share, handed in by whoever sets it up.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use jp_audit::Log;
use jp_broker::Broker;
use jp_config::KnowledgeBaseConfig;
use jp_confine::Launcher;
use jp_policy::Policy;

use crate::{
    Approver, Events, NobodyToAsk, Selection, ToolError, Trust, registry::RegistryTools,
    runtime::mcp::McpTools,
};

/// Returns the value of a variable of the environment, if there is one.
pub type Variable = dyn Fn(&str) -> Option<OsString> + Send + Sync;

/// What calls run on. Holds no state of a call.
pub struct Host {
    /// The workspace, as a canonical path.
    pub root: PathBuf,
    /// What the user allows.
    pub policy: Policy,
    /// Whether commands may run bare where the system cannot confine them.
    pub unconfined: bool,
    /// Bytes of memory that commands and MCP servers may use which do not say themselves; `None` is the
    /// policy's ceiling.
    pub command_memory: Option<u64>,
    /// Which tools models are offered, beside what `enable` says of each.
    pub selection: Selection,
    /// How far the user trusts the workspace.
    pub trust: Trust,
    /// The topics of `learn`.
    pub knowledge: KnowledgeBaseConfig,
    /// Where every call is written down.
    pub audit: Option<Arc<Log>>,
    /// Asks a person.
    pub approver: Arc<dyn Approver>,
    /// Hears what calls are doing.
    pub events: Option<Arc<dyn Events>>,
    /// Confines commands.
    pub launcher: Option<Arc<Launcher>>,
    /// The MCP servers of the configuration.
    pub mcp: Option<Arc<McpTools>>,
    /// Signed tools: what the workspace's lock file has, and what this machine knows of it.
    pub registry: Option<Arc<RegistryTools>>,
    /// Directories of this machine that tools may be granted beside the workspace, by the paths guests
    /// know them by: `/app-data`, `/user/documents`.
    pub places: BTreeMap<String, PathBuf>,
    /// Where the directories are made that calls have of their own (`/tmp` for the guest).
    pub temp_dir: Option<PathBuf>,
    /// Looks up a variable of the environment; asked only for those that a grant names.
    pub variable: Arc<Variable>,
    /// Does on tools' behalf what they may not do themselves.
    pub broker: LazyBroker,
    /// Runs components.
    #[cfg(feature = "wasm-tools")]
    pub wasm: LazyRuntime,
}

impl Host {
    /// Makes a host for a workspace with the user's policy; nobody to ask, nothing audited, no
    /// commands. The fields are there to be set.
    #[must_use]
    pub fn new(root: PathBuf, policy: Policy) -> Self {
        Self {
            root,
            policy,
            unconfined: false,
            command_memory: None,
            selection: Selection::default(),
            trust: Trust::Untrusted,
            knowledge: KnowledgeBaseConfig::default(),
            audit: None,
            approver: Arc::new(NobodyToAsk),
            events: None,
            launcher: None,
            mcp: None,
            registry: None,
            places: BTreeMap::new(),
            temp_dir: None,
            variable: Arc::new(|_| None),
            broker: LazyBroker::default(),
            #[cfg(feature = "wasm-tools")]
            wasm: LazyRuntime::default(),
        }
    }
}

/// How a broker is made.
type MakeBroker = dyn Fn() -> Result<Broker, String> + Send + Sync;

/// A broker that is made for the first tool that may call it: it opens a database.
#[derive(Default)]
pub struct LazyBroker {
    make: Option<Box<MakeBroker>>,
    made: OnceLock<Result<Arc<Broker>, String>>,
}

impl LazyBroker {
    /// Says how the broker will be made.
    #[must_use]
    pub fn new(make: impl Fn() -> Result<Broker, String> + Send + Sync + 'static) -> Self {
        Self {
            make: Some(Box::new(make)),
            made: OnceLock::new(),
        }
    }
}

impl Host {
    /// Tells whether this host does things on tools' behalf.
    #[must_use]
    pub const fn has_broker(&self) -> bool {
        self.broker.make.is_some()
    }

    /// Returns the broker, if this host has one.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    pub fn broker(&self) -> Result<Option<&Arc<Broker>>, ToolError> {
        let Some(make) = &self.broker.make else {
            return Ok(None);
        };
        let made = self.broker.made.get_or_init(|| make().map(Arc::new));
        made.as_ref().map(Some).map_err(|reason| ToolError::Host {
            tool: "broker".to_owned(),
            reason: reason.clone(),
        })
    }
}

#[cfg(feature = "wasm-tools")]
pub use lazy::LazyRuntime;

#[cfg(feature = "wasm-tools")]
mod lazy {
    use std::sync::{Arc, OnceLock};

    use jp_wasm::{Runtime, RuntimeOptions};

    use super::Host;
    use crate::ToolError;

    /// Hears what whoever runs tools should know.
    type Warn = dyn Fn(&str) + Send + Sync;

    /// A runtime that is made when the first component is called: an engine costs milliseconds.
    #[derive(Default)]
    pub struct LazyRuntime {
        options: RuntimeOptions,
        warn: Option<Box<Warn>>,
        made: OnceLock<Result<Arc<Runtime>, String>>,
    }

    impl LazyRuntime {
        /// Says how the runtime will be made.
        #[must_use]
        pub const fn new(options: RuntimeOptions) -> Self {
            Self {
                options,
                warn: None,
                made: OnceLock::new(),
            }
        }

        /// Says who hears, once, that compiled code cannot be kept.
        #[must_use]
        pub fn warning(mut self, warn: impl Fn(&str) + Send + Sync + 'static) -> Self {
            self.warn = Some(Box::new(warn));
            self
        }

        fn get(&self) -> Result<&Arc<Runtime>, &String> {
            let make = || {
                let made = Runtime::new(&self.options).map_err(|error| error.to_string())?;
                if let (Some(warn), Some(problem)) = (&self.warn, made.without_cache()) {
                    warn(problem);
                }
                Ok(Arc::new(made))
            };
            self.made.get_or_init(make).as_ref()
        }
    }

    impl Host {
        /// Returns the runtime of components.
        ///
        /// # Errors
        ///
        /// When this machine cannot run them.
        pub fn wasm(&self) -> Result<&Arc<Runtime>, ToolError> {
            self.wasm.get().map_err(|reason| ToolError::Host {
                tool: "wasm".to_owned(),
                reason: reason.clone(),
            })
        }
    }
}
