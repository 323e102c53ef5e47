//! How the host runs Wasm tools: memory, code cache, instances made ahead of time. In a jp without Wasm
//! `no_engine.rs` stands in its place, so that nothing else in this crate needs to know.

use std::{sync::Arc, time::Duration};

use jp_llm::{Allocation, HostBuilder, LazyRuntime, RuntimeOptions};

use crate::{Places, open::Warn};

/// How old what is known of a file may be when one of many calls begins.
const FRESH: Duration = Duration::from_millis(4);

/// How Wasm tools get their memory, and how many instances are made ahead of time.
#[derive(Clone, Copy)]
pub(crate) struct Engine {
    allocation: Allocation,
    spares: usize,
    fresh: Duration,
}

impl Engine {
    /// For a few calls.
    pub(crate) const fn on_demand() -> Self {
        Self {
            allocation: Allocation::OnDemand,
            spares: 0,
            fresh: Duration::ZERO,
        }
    }

    /// For many calls.
    pub(crate) const fn pooled(spares: usize) -> Self {
        Self {
            allocation: Allocation::Pooling,
            spares,
            fresh: FRESH,
        }
    }

    /// Gives the engine to a host.
    pub(crate) fn put_into(
        self,
        host: HostBuilder,
        places: &Places,
        warn: &Arc<Warn>,
    ) -> HostBuilder {
        let runtime = LazyRuntime::new(RuntimeOptions {
            allocation: self.allocation,
            cache_dir: places.code_dir(),
            spares: self.spares,
            fresh: self.fresh,
        });
        let warn = Arc::clone(warn);
        host.wasm(runtime.warning(move |problem| {
            warn(&format!("{problem}; tools are compiled anew each time"));
        }))
    }
}
