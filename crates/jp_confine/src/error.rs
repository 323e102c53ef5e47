//! Why a process was not run confined. It knows nothing of what the process did once it ran.

use std::{io, path::PathBuf};

/// Why a program was not started: it never runs without its walls.
#[derive(Debug, thiserror::Error)]
pub enum ConfineError {
    /// This system cannot confine; the caller refuses the call.
    #[error("this system cannot confine processes: {problem}; hint: {hint}")]
    Unsupported {
        /// What is missing.
        problem: String,
        /// What to do about it.
        hint: String,
    },
    /// A granted path cannot be granted as it stands.
    #[error("cannot grant `{}`: {problem}", path.display())]
    Grant {
        /// The path as it was granted.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The walls stood, but the program could not be started in them.
    #[error("cannot start `{program}`: {problem}")]
    Start {
        /// The program as it was named.
        program: String,
        /// Why it did not start.
        problem: String,
    },
    /// A wall could not be built for this call, although the system can confine.
    #[error("cannot confine this call: {problem}; hint: {hint}")]
    Setup {
        /// The step and what the system said.
        problem: String,
        /// What to do about it.
        hint: String,
    },
    /// An argument, variable or path holds a NUL byte, or all of them together are too long.
    #[error("{what} cannot be passed to a program: {problem}")]
    Unpassable {
        /// What was to be passed.
        what: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The launcher could not be prepared.
    #[error("cannot {action}")]
    Io {
        /// What was being done.
        action: &'static str,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}
