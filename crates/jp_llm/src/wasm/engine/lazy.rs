//! The runtime of Wasm tools, made when it is first needed.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
    time::Duration,
};

use jp_wasm::{Allocation, Error, Runtime, RuntimeOptions};

use crate::{
    Host, ToolError,
    tool::{HostError, SharedError},
};

/// How old what is known of a file may be when one of many calls begins.
const FRESH: Duration = Duration::from_millis(4);

/// Takes warnings for the person who runs tools.
type Warn = dyn Fn(&str) + Send + Sync;

/// A runtime that is made when the first component is called: an engine costs milliseconds.
#[derive(Default)]
pub struct LazyRuntime {
    options: RuntimeOptions,
    warn: Option<Box<Warn>>,
    made: OnceLock<Result<Arc<Runtime>, Arc<Error>>>,
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

    /// For a few calls; compiled code is kept in a directory, if there is one.
    #[must_use]
    pub const fn on_demand(cache_dir: Option<PathBuf>) -> Self {
        Self::new(RuntimeOptions {
            allocation: Allocation::OnDemand,
            cache_dir,
            spares: 0,
            fresh: Duration::ZERO,
        })
    }

    /// For many calls: with memory set aside for them, and instances made ahead of time.
    #[must_use]
    pub const fn pooled(cache_dir: Option<PathBuf>, spares: usize) -> Self {
        Self::new(RuntimeOptions {
            allocation: Allocation::Pooling,
            cache_dir,
            spares,
            fresh: FRESH,
        })
    }

    /// Says who hears, once, that compiled code cannot be kept.
    #[must_use]
    pub fn warning(mut self, warn: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.warn = Some(Box::new(warn));
        self
    }

    /// Looks at files anew from now on, if there is anything that remembers them.
    pub(crate) fn look_again(&self) {
        if let Some(Ok(made)) = self.made.get() {
            made.look_again();
        }
    }

    fn get(&self) -> Result<&Arc<Runtime>, ToolError> {
        let make = || {
            let made = Runtime::new(&self.options).map_err(Arc::new)?;
            if let (Some(warn), Some(problem)) = (&self.warn, made.without_cache()) {
                warn(problem);
            }
            Ok(Arc::new(made))
        };
        let made = self.made.get_or_init(make).as_ref();
        made.map_err(|error| {
            let error: SharedError = Arc::<Error>::clone(error);
            ToolError::new("wasm", HostError::Wasm(error))
        })
    }
}

impl Host {
    /// Returns the runtime of components.
    ///
    /// # Errors
    ///
    /// When this machine cannot run them.
    pub fn wasm(&self) -> Result<&Arc<Runtime>, ToolError> {
        self.lazy_wasm().get()
    }
}
