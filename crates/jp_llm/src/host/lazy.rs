//! What is dear to make, and made when it is first needed.

use std::sync::{Arc, OnceLock};

use jp_broker::Broker;

use crate::{ToolError, broker::BrokerError, tool::HostError};

/// How a broker is made.
type MakeBroker = dyn Fn() -> Result<Broker, BrokerError> + Send + Sync;

/// A broker that is made for the first tool that may call it: it opens a database.
#[derive(Default)]
pub struct LazyBroker {
    make: Option<Box<MakeBroker>>,
    made: OnceLock<Result<Arc<Broker>, Arc<BrokerError>>>,
}

impl LazyBroker {
    /// Says how the broker will be made.
    #[must_use]
    pub fn new(make: impl Fn() -> Result<Broker, BrokerError> + Send + Sync + 'static) -> Self {
        Self {
            make: Some(Box::new(make)),
            made: OnceLock::new(),
        }
    }

    pub(super) const fn can_be_made(&self) -> bool {
        self.make.is_some()
    }

    pub(super) fn get(&self) -> Result<Option<&Arc<Broker>>, ToolError> {
        let Some(make) = &self.make else {
            return Ok(None);
        };
        let made = self
            .made
            .get_or_init(|| make().map(Arc::new).map_err(Arc::new));
        let made = made.as_ref().map(Some);
        made.map_err(|error| ToolError::new("broker", HostError::Broker(Arc::clone(error))))
    }
}

#[cfg(feature = "wasm-tools")]
pub use runtime::LazyRuntime;

#[cfg(feature = "wasm-tools")]
mod runtime {
    use std::sync::{Arc, OnceLock};

    use jp_wasm::{Error, Runtime, RuntimeOptions};

    use crate::{
        ToolError,
        tool::{HostError, SharedError},
    };

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

        /// Says who hears, once, that compiled code cannot be kept.
        #[must_use]
        pub fn warning(mut self, warn: impl Fn(&str) + Send + Sync + 'static) -> Self {
            self.warn = Some(Box::new(warn));
            self
        }

        pub(in crate::host) fn get(&self) -> Result<&Arc<Runtime>, ToolError> {
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
}
