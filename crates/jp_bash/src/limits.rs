//! The limits of a session as an embedder writes them down.

use std::time::Duration;

use jp_bash_system::Bounds;

/// Bounds of each call, with a setter for every one.
///
/// ```
/// use jp_bash::ExecutionLimits;
/// let limits = ExecutionLimits::new().max_commands(1000).max_function_depth(100);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExecutionLimits {
    bounds: Bounds,
}

impl ExecutionLimits {
    /// Starts with the defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Bounds the simple commands that are started; assignments, `(( ))` and `[[ ]]` start none.
    #[must_use]
    pub const fn max_commands(mut self, count: u64) -> Self {
        self.bounds.commands = count;
        self
    }

    /// Bounds the turns of all loops together, those of awk, sed and jq among them.
    #[must_use]
    pub const fn max_loop_iterations(mut self, count: u64) -> Self {
        self.bounds.loops = count;
        self
    }

    /// Bounds how deeply functions, substitutions and sourced files may nest.
    #[must_use]
    pub const fn max_function_depth(mut self, depth: u64) -> Self {
        self.bounds.depth = depth;
        self
    }

    /// Bounds the bytes of output, both streams together.
    #[must_use]
    pub const fn max_output_bytes(mut self, bytes: u64) -> Self {
        self.bounds.output = bytes;
        self
    }

    /// Bounds the bytes that variables, files in memory, pipes and commands hold at once.
    #[must_use]
    pub const fn max_memory_bytes(mut self, bytes: u64) -> Self {
        self.bounds.memory = bytes;
        self
    }

    /// Bounds the files that are open at once.
    #[must_use]
    pub const fn max_open_files(mut self, count: u64) -> Self {
        self.bounds.files = count;
        self
    }

    /// Bounds the elapsed time.
    #[must_use]
    pub const fn timeout(mut self, time: Duration) -> Self {
        self.bounds.time = time;
        self
    }

    /// Returns the bounds.
    #[must_use]
    pub const fn bounds(&self) -> &Bounds {
        &self.bounds
    }
}

impl From<ExecutionLimits> for Bounds {
    fn from(limits: ExecutionLimits) -> Self {
        limits.bounds
    }
}

impl From<Bounds> for ExecutionLimits {
    fn from(bounds: Bounds) -> Self {
        Self { bounds }
    }
}
