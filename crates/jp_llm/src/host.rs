//! The host of calls: everything they share, handed in by whoever sets it up.

use std::{path::PathBuf, sync::Arc};

use jp_audit::Log;
use jp_config::KnowledgeBaseConfig;
use jp_confine::Launcher;
use jp_policy::Policy;

use crate::{Approver, Events, NobodyToAsk, Trust};

/// What calls run on. Holds no state of a call.
pub struct Host {
    /// The workspace, as a canonical path.
    pub root: PathBuf,
    /// What the user allows.
    pub policy: Policy,
    /// Whether commands may run bare where the system cannot confine them.
    pub unconfined: bool,
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
            trust: Trust::Untrusted,
            knowledge: KnowledgeBaseConfig::default(),
            audit: None,
            approver: Arc::new(NobodyToAsk),
            events: None,
            launcher: None,
            #[cfg(feature = "wasm-tools")]
            wasm: LazyRuntime::default(),
        }
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

    /// A runtime that is made when the first component is called: an engine costs milliseconds.
    #[derive(Default)]
    pub struct LazyRuntime {
        options: RuntimeOptions,
        made: OnceLock<Result<Arc<Runtime>, String>>,
    }

    impl LazyRuntime {
        /// Says how the runtime will be made.
        #[must_use]
        pub const fn new(options: RuntimeOptions) -> Self {
            Self {
                options,
                made: OnceLock::new(),
            }
        }

        fn get(&self) -> Result<&Arc<Runtime>, &String> {
            let make = || {
                Runtime::new(&self.options)
                    .map(Arc::new)
                    .map_err(|error| error.to_string())
            };
            self.made.get_or_init(make).as_ref()
        }
    }

    impl Host {
        /// Returns the runtime of components.
        ///
        /// # Errors
        ///
        /// When this machine cannot run them, or the cache directory cannot be used.
        pub fn wasm(&self) -> Result<&Arc<Runtime>, ToolError> {
            self.wasm.get().map_err(|reason| ToolError::Host {
                tool: "wasm".to_owned(),
                reason: reason.clone(),
            })
        }
    }
}
