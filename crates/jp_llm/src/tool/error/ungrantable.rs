//! The tool asks for what cannot be granted, whatever policy and people say.

use jp_policy::Unbacked;

/// What a tool asks for and cannot be granted.
#[derive(Debug, thiserror::Error)]
pub enum Ungrantable {
    /// It asks for what nothing could give a tool of its kind.
    #[error("{0}")]
    Unbacked(Unbacked),
    /// A command was to have single hosts of the network, which no system can grant to a process.
    #[error("a command gets all of the network or none of it, not single hosts")]
    SingleHosts,
    /// A directory that a command was granted cannot be handed to it.
    #[error("cannot grant `{path}`: {reason}")]
    Directory {
        /// The directory.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
}
