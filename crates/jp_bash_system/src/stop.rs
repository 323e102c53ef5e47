//! Why a run ends before its script does: a limit, a cancel, a signal.

/// A bound that a run reached. The names are those of `jp bash --limit NAME=N`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Limit {
    /// Simple commands that were started.
    Commands,
    /// Turns of loops, of the shell and of the languages inside commands (awk, sed, jq).
    Loops,
    /// Bytes written to the captured standard output and error.
    Output,
    /// Bytes held at once: variables, files in memory, pipes, what commands keep.
    Memory,
    /// Files and descriptors open at once.
    Files,
    /// Nested calls, substitutions, sourced files and syntax.
    Depth,
    /// Elapsed seconds.
    Time,
}

impl Limit {
    /// Returns the name that the command line and messages use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Commands => "commands",
            Self::Loops => "loops",
            Self::Output => "output",
            Self::Memory => "memory",
            Self::Files => "files",
            Self::Depth => "depth",
            Self::Time => "time",
        }
    }
}

/// Ends a run or one process in it; passed up with `?` and never swallowed by a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The whole run ends: a limit of its budget was reached.
    #[error("limit reached: {}", .0.name())]
    Limit(Limit),
    /// The whole run ends: the embedder asked for it.
    #[error("cancelled")]
    Cancelled,
    /// The whole run ends: every process waits for another one.
    #[error("deadlock: every process waits for another one")]
    Deadlock,
    /// This process ends as if killed by the signal of that number (SIGPIPE is 13).
    #[error("killed by signal {0}")]
    Signal(u8),
}
