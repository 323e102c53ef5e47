//! This host failed, and the tool is not to blame.

use std::{error::Error, io, path::PathBuf, sync::Arc};

use jp_audit::AuditError;
use jp_broker::{SecretError, http::HttpError, mcp::McpError};
use jp_confine::ConfineError;
use tokio::task::JoinError;

use crate::{broker::BrokerError, runtime::mcp::UnknownParameter, tool::arguments::SchemaError};

/// An error that is kept where it was made and told to every call that meets it.
pub type SharedError = Arc<dyn Error + Send + Sync>;

/// What failed.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// What happened could not be recorded.
    #[error("cannot record the call: {0}")]
    Unwritten(#[from] AuditError),
    /// What runs Wasm failed: a `jp_wasm::Error`, in programs that run any.
    #[error(transparent)]
    Wasm(SharedError),
    /// What does things on tools' behalf cannot be made.
    #[error(transparent)]
    Broker(Arc<BrokerError>),
    /// The secrets cannot be read.
    #[error(transparent)]
    Secrets(#[from] SecretError),
    /// An MCP server did not answer as it should.
    #[error(transparent)]
    Server(#[from] McpError),
    /// An MCP server was not asked for its tools, or did not answer.
    #[error("MCP server `{server}` has not listed its tools")]
    Untold {
        /// The server's id.
        server: String,
    },
    /// The configuration does not fit the tool of an MCP server.
    #[error(transparent)]
    Described(#[from] UnknownParameter),
    /// A directory of the grant cannot be opened.
    #[error("cannot open {path}: {source}")]
    Open {
        /// The directory, as the tool sees it.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A directory of this machine cannot be used.
    #[error("cannot use {}: {source}", path.display())]
    Use {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A chosen file is not where the arguments say.
    #[error("a chosen file is at {seen}, not where its arguments say")]
    Misplaced {
        /// Where it is.
        seen: String,
    },
    /// The network cannot be used at all.
    #[error(transparent)]
    Network(#[from] HttpError),
    /// A command could not be confined.
    #[error(transparent)]
    Confine(#[from] ConfineError),
    /// The virtual bash failed.
    #[error("{said}")]
    Bash {
        /// What it said.
        said: String,
    },
    /// The thread of a script ended before the script.
    #[error("the script's thread failed")]
    ScriptThread(#[source] JoinError),
    /// A task of the call ended before it was done.
    #[error(transparent)]
    Task(#[from] JoinError),
    /// The task of the call ended before the call.
    #[error("its task ended early")]
    EndedEarly,
    /// The call panicked.
    #[error("it panicked")]
    Panicked,
    /// A schema of the tool is invalid.
    #[error("invalid JSON Schema for its {of}: {source}")]
    Schema {
        /// What it describes.
        of: &'static str,
        /// What is wrong with it.
        source: SchemaError,
    },
}
