//! The tools that an open workspace has prepared for calls.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use jp_llm::{Host, PreparedTool};

/// Tools by their names. Only those are kept that could be made, so there are as many as are configured.
#[derive(Default)]
pub(crate) struct Prepared(RwLock<HashMap<String, Arc<PreparedTool>>>);

impl Prepared {
    /// Returns a tool that was prepared before, unless something about it has changed since.
    pub(crate) fn get(&self, name: &str, host: &Host) -> Option<Arc<PreparedTool>> {
        let kept = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let tool = kept.get(name).map(Arc::clone);
        drop(kept);
        tool.filter(|tool| tool.is_current(host))
    }

    /// Keeps a tool, in the place of one that was kept before.
    pub(crate) fn keep(&self, name: &str, tool: Arc<PreparedTool>) {
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        kept.insert(name.to_owned(), tool);
    }
}
