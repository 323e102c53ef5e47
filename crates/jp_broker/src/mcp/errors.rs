//! The errors that a guest gets of MCP servers.

use jp_mcp::{HttpFailureKind, McpError};

use crate::{CallError, Code};

/// The number JSON-RPC has for arguments that do not fit.
const INVALID_PARAMS: i32 = -32602;

/// Turns the error of a server into the one shape.
pub(super) fn failed(error: &McpError) -> CallError {
    let (code, reason) = match error {
        McpError::UnknownServer { .. } | McpError::UnknownTool { .. } => (Code::NotFound, None),
        McpError::Refused { .. } => (Code::Forbidden, Some("server_refused")),
        McpError::Checksum { .. } => (Code::Forbidden, Some("checksum")),
        McpError::Start { .. } | McpError::StartTimeout { .. } | McpError::Flapping { .. } => {
            (Code::Unavailable, Some("server_start"))
        }
        McpError::Died { .. } => (Code::Upstream, Some("server_died")),
        McpError::Protocol { .. } => (Code::Upstream, Some("protocol")),
        McpError::Rejected {
            code: INVALID_PARAMS,
            ..
        } => (Code::InvalidArgs, None),
        McpError::Rejected { .. } | McpError::Unlisted { .. } => (Code::Upstream, None),
        McpError::Changed { .. } => (Code::Conflict, Some("tool_changed")),
        McpError::TooLarge { .. } => (Code::OutputLimit, None),
        McpError::Timeout { .. } => (Code::Timeout, None),
        McpError::Cancelled => (Code::Timeout, Some("cancelled")),
        McpError::Http { source, .. } => match source.kind {
            HttpFailureKind::Denied => (Code::Forbidden, Some("net")),
            HttpFailureKind::Timeout => (Code::Timeout, None),
            HttpFailureKind::TooLarge => (Code::OutputLimit, None),
            HttpFailureKind::Unauthorized => (Code::Upstream, Some("unauthorized")),
            HttpFailureKind::Answered | HttpFailureKind::Failed => (Code::Upstream, None),
            HttpFailureKind::NoMessage => (Code::Upstream, Some("protocol")),
        },
    };
    CallError {
        reason,
        ..CallError::new(code, error.to_string())
    }
}

/// Makes the error of a list that took longer than the tool has.
pub(super) fn late(server: &str) -> CallError {
    CallError::new(
        Code::Timeout,
        format!("MCP server `{server}` did not list its tools in time"),
    )
}
