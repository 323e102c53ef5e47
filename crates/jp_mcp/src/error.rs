//! Why a server was not used. Texts of servers in here are bounded and free of control characters.

use std::time::Duration;

use crate::{HttpFailure, Said};

/// Why a server was not used, or a tool of it not called. A tool that says no is not an error.
#[derive(Debug, Clone, thiserror::Error)]
pub enum McpError {
    /// No server has this id.
    #[error("unknown MCP server `{server}`; configured: {known}")]
    UnknownServer {
        /// The id.
        server: String,
        /// Those there are.
        known: String,
    },
    /// The server is configured and may not be used.
    #[error("MCP server `{server}` was refused: {reason}")]
    Refused {
        /// The server.
        server: String,
        /// Why, and what to do about it.
        reason: String,
    },
    /// The program is not the one that was configured.
    #[error(
        "MCP server `{server}` was not started: {program} has the checksum {found}, not {expected}"
    )]
    Checksum {
        /// The server.
        server: String,
        /// The file.
        program: String,
        /// What was configured.
        expected: String,
        /// What the file has.
        found: String,
    },
    /// The server did not get ready.
    #[error("MCP server `{server}` did not start: {reason}{said}")]
    Start {
        /// The server.
        server: String,
        /// Why.
        reason: String,
        /// What it wrote.
        said: Said,
    },
    /// The server did not get ready in time.
    #[error("MCP server `{server}` was not ready within {} s{said}", limit.as_secs_f32())]
    StartTimeout {
        /// The server.
        server: String,
        /// The time it had.
        limit: Duration,
        /// What it wrote.
        said: Said,
    },
    /// The server ended too often to be started again now.
    #[error(
        "MCP server `{server}` ended {times} times within a minute and is not restarted for now{said}"
    )]
    Flapping {
        /// The server.
        server: String,
        /// How often.
        times: usize,
        /// What it wrote last.
        said: Said,
    },
    /// The server ended, or was ended, before it answered.
    #[error("MCP server `{server}` ended before it answered: {reason}{said}")]
    Died {
        /// The server.
        server: String,
        /// Why, as far as it is known.
        reason: String,
        /// What it wrote.
        said: Said,
    },
    /// What the server answered is not what the protocol says.
    #[error("MCP server `{server}` broke the protocol: {reason}")]
    Protocol {
        /// The server.
        server: String,
        /// How.
        reason: String,
    },
    /// The server answered a call with an error of the protocol.
    #[error("MCP server `{server}` refused the request: {message} ({code})")]
    Rejected {
        /// The server.
        server: String,
        /// The number the protocol has for it.
        code: i32,
        /// What the server said.
        message: String,
    },
    /// The server answered the question for its tools with an error of the protocol.
    #[error("MCP server `{server}` refused the request: {message} ({code})")]
    Unlisted {
        /// The server.
        server: String,
        /// The number the protocol has for it.
        code: i32,
        /// What the server said.
        message: String,
    },
    /// The server has no such tool, or one that is not offered.
    #[error("MCP server `{server}` has no tool `{tool}`; {hint}")]
    UnknownTool {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
        /// Why it is not offered, or which tools there are.
        hint: String,
    },
    /// The tool is not what it was when its caller decided to use it.
    #[error(
        "tool `{tool}` of MCP server `{server}` has changed since it was offered; review it again before you use it"
    )]
    Changed {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// The server said more than it may.
    #[error("MCP server `{server}` sent {what} of more than {limit} bytes")]
    TooLarge {
        /// The server.
        server: String,
        /// What was too large.
        what: &'static str,
        /// The most it may be.
        limit: usize,
    },
    /// The server did not answer in time.
    #[error("MCP server `{server}` did not answer within {} ms", limit.as_millis())]
    Timeout {
        /// The server.
        server: String,
        /// The time it had.
        limit: Duration,
    },
    /// A request to a URL got no answer.
    #[error("MCP server `{server}` {}: {source}", source.kind.verdict())]
    Http {
        /// The server.
        server: String,
        /// Why.
        source: HttpFailure,
    },
    /// The caller wanted it to stop.
    #[error("the call was cancelled")]
    Cancelled,
}
