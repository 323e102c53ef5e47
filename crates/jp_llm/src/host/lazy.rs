//! What is dear to make, and made when it is first needed.

use std::sync::{Arc, OnceLock};

use jp_broker::Broker;

use crate::ToolError;

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

    pub(super) const fn can_be_made(&self) -> bool {
        self.make.is_some()
    }

    pub(super) fn get(&self) -> Result<Option<&Arc<Broker>>, ToolError> {
        let Some(make) = &self.make else {
            return Ok(None);
        };
        let made = self.made.get_or_init(|| make().map(Arc::new));
        made.as_ref().map(Some).map_err(|reason| ToolError::Host {
            tool: "broker".to_owned(),
            reason: reason.clone(),
        })
    }
}

#[cfg(feature = "wasm-tools")]
pub use runtime::LazyRuntime;

#[cfg(feature = "wasm-tools")]
mod runtime {
    use std::sync::{Arc, OnceLock};

    use jp_wasm::{Runtime, RuntimeOptions};

    use crate::ToolError;

    /// Takes warnings for the person who runs tools.
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

        /// Looks at files anew from now on, if there is anything that remembers them.
        pub(in crate::host) fn look_again(&self) {
            if let Some(Ok(made)) = self.made.get() {
                made.look_again();
            }
        }

        pub(in crate::host) fn get(&self) -> Result<&Arc<Runtime>, ToolError> {
            let make = || {
                let made = Runtime::new(&self.options).map_err(|error| error.to_string())?;
                if let (Some(warn), Some(problem)) = (&self.warn, made.without_cache()) {
                    warn(problem);
                }
                Ok(Arc::new(made))
            };
            let made = self.made.get_or_init(make).as_ref();
            made.map_err(|reason| ToolError::Host {
                tool: "wasm".to_owned(),
                reason: reason.clone(),
            })
        }
    }
}
