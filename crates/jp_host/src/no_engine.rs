//! Stands in the place of `engine.rs` in a jp without Wasm, where there is nothing to set up.

use std::sync::Arc;

use jp_llm::HostBuilder;

use crate::{Places, open::Warn};

/// No engine: only commands and native tools run.
#[derive(Clone, Copy)]
pub(crate) struct Engine;

impl Engine {
    /// For a few calls.
    pub(crate) const fn on_demand() -> Self {
        Self
    }

    /// For many calls.
    pub(crate) const fn pooled(_: usize) -> Self {
        Self
    }

    /// Leaves the host as it is.
    pub(crate) fn put_into(self, host: HostBuilder, _: &Places, _: &Arc<Warn>) -> HostBuilder {
        host
    }
}
