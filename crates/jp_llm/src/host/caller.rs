//! Who makes calls, and how they are reached.

use std::sync::Arc;

use jp_policy::Policy;

use crate::{Approver, Asker, Events, NobodyToAsk, Selection};

/// Who makes calls: a person at a terminal, a client of a server.
#[derive(Clone)]
pub struct Caller {
    /// The name that stands in the audit log.
    pub principal: String,
    /// What the user allows this caller, where that is less than what they allow at all.
    pub policy: Option<Policy>,
    /// Which tools the caller is offered, beside what `enable` says of each.
    pub selection: Selection,
    /// Asks a person whether calls may run.
    pub approver: Arc<dyn Approver>,
    /// Asks what tools must know.
    pub asker: Arc<dyn Asker>,
    /// Hears what calls are doing.
    pub events: Option<Arc<dyn Events>>,
}

/// A caller without a name, who cannot be asked anything.
impl Default for Caller {
    fn default() -> Self {
        Self {
            principal: String::new(),
            policy: None,
            selection: Selection::default(),
            approver: Arc::new(NobodyToAsk),
            asker: Arc::new(NobodyToAsk),
            events: None,
        }
    }
}
