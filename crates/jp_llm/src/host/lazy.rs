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
