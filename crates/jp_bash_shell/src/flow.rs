//! How running a command can leave the place it stands in.

use jp_bash_system::Stop;

/// Leaves the current command; passed up with `?` to whoever it is meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// `break N`, with the loops still to leave.
    Break(u32),
    /// `continue N`
    Continue(u32),
    /// `return N`: leaves a function or a sourced file.
    Return(i32),
    /// `exit N`, `set -e`, `${x?}` in a script: leaves the shell or subshell; its EXIT trap runs.
    Exit(i32),
    /// An error that bash answers by giving up the current top-level command line (bad substitution,
    /// assignment to a readonly variable, failed arithmetic in an expansion): goes on with the next line.
    Abandon(i32),
    /// The process or the run ends.
    Stop(Stop),
}

impl From<Stop> for Flow {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}
