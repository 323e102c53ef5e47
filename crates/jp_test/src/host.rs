//! The runtimes that tests call guests on.

use std::sync::LazyLock;

use jp_wasm::{Allocation, Runtime, RuntimeOptions};

/// The runtimes tests share, as calls of one process do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// Each instance for itself.
    OnDemand,
    /// Instances from a pool.
    Pooling,
    /// Instances from a pool, some made ahead of time.
    Spares,
}

impl Host {
    /// All of them, for tests that must hold on each.
    pub const ALL: [Self; 3] = [Self::OnDemand, Self::Pooling, Self::Spares];

    /// Makes a runtime of this kind that nobody else uses.
    ///
    /// # Panics
    ///
    /// When this machine cannot run Wasm.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a test kit fails by panicking")]
    pub fn runtime(self) -> Runtime {
        let options = RuntimeOptions {
            allocation: match self {
                Self::OnDemand => Allocation::OnDemand,
                Self::Pooling | Self::Spares => Allocation::Pooling,
            },
            spares: if self == Self::Spares { 4 } else { 0 },
            ..RuntimeOptions::default()
        };
        Runtime::new(&options).expect("a runtime")
    }

    pub(crate) fn shared(self) -> &'static Runtime {
        static ON_DEMAND: LazyLock<Runtime> = LazyLock::new(|| Host::OnDemand.runtime());
        static POOLING: LazyLock<Runtime> = LazyLock::new(|| Host::Pooling.runtime());
        static SPARES: LazyLock<Runtime> = LazyLock::new(|| Host::Spares.runtime());
        match self {
            Self::OnDemand => &ON_DEMAND,
            Self::Pooling => &POOLING,
            Self::Spares => &SPARES,
        }
    }
}
