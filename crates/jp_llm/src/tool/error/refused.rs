//! The call is not allowed: by the policy, by a person, or by what is known of the tool.

use std::{error::Error, fmt, os::unix::ffi::OsStrExt, path::PathBuf};

use jp_policy::Denied;

use crate::Unreadable;

/// Why a call was not allowed.
#[derive(Debug)]
pub enum Refused {
    /// The policy does not allow what the tool needs.
    Denied {
        /// What is missing, and on whose side.
        denied: Denied,
        /// Whether the workspace is one the user has not trusted.
        untrusted: bool,
        /// The id under which a person can grant it, where it was put before one.
        proposal: Option<String>,
    },
    /// The tool needs files of the workspace, and the directory is none: jp's own files lie in it.
    NoWorkspace {
        /// The directory.
        root: PathBuf,
    },
    /// The tool reached for something no guest is given.
    Reached {
        /// What it reached for.
        capability: String,
    },
    /// A person would have to agree, and there is no person to ask.
    NotApproved,
    /// A person would have to agree, and has not yet.
    Waiting {
        /// The id under which they can.
        id: String,
    },
    /// What the user decided before about such calls cannot be read.
    Unknowable(Unreadable),
    /// A person would have to agree that the result is delivered, and there is no person to ask.
    NotDelivered,
    /// The Wasm binary is not the one the user trusted.
    WasmChanged {
        /// Which file.
        path: String,
    },
    /// The Wasm binary came after the user had trusted the workspace, so the user never trusted it.
    WasmUnseen {
        /// Which file.
        path: String,
    },
    /// The system cannot confine a command, and the policy does not allow running it bare.
    Unconfinable {
        /// What the system lacks.
        reason: String,
    },
    /// A wall could not be built for a command, although the system can confine.
    Unwalled {
        /// What went wrong.
        reason: String,
    },
    /// The MCP server of a tool may not be used.
    McpRefused {
        /// The server's id.
        server: String,
        /// Why, and what to do about it.
        reason: String,
    },
    /// The program of an MCP server is not the one that was configured.
    McpProgram {
        /// The server's id.
        server: String,
        /// The file.
        program: String,
        /// What was configured.
        expected: String,
        /// What the file has.
        found: String,
    },
    /// A tool of an MCP server is not what a person accepted.
    McpChanged {
        /// The server's id.
        server: String,
        /// What is different.
        change: String,
    },
    /// A tool of an MCP server is not what it was when it was offered.
    McpSwapped {
        /// The server's id.
        server: String,
    },
}

impl Refused {
    pub(super) fn tell(&self, tool: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied { denied, .. } => write!(f, "tool `{tool}` was denied: {denied}"),
            Self::NoWorkspace { root } => write!(
                f,
                "tool `{tool}` was denied: it needs the files of a workspace, and {} is not one, since \
                 jp's own files lie in it",
                jp_text::path_word(root.as_os_str().as_bytes())
            ),
            Self::Reached { capability } => write!(
                f,
                "tool `{tool}` asked for {capability}, which the policy does not grant"
            ),
            Self::NotApproved => write!(
                f,
                "tool `{tool}` needs your approval, but there is no terminal to ask on"
            ),
            Self::Waiting { id } => write!(
                f,
                "tool `{tool}` needs the user's approval, and nobody has decided yet (request {id})"
            ),
            Self::Unknowable(error) => write!(f, "tool `{tool}` was refused: {error}"),
            Self::NotDelivered => write!(
                f,
                "tool `{tool}` ran, but its result needs your approval and there is no terminal to ask on"
            ),
            Self::WasmChanged { path } => {
                write!(f, "Wasm binary changed since you trusted it: {path}")
            }
            Self::WasmUnseen { path } => write!(
                f,
                "Wasm binary did not exist when you trusted this workspace: {path}"
            ),
            Self::Unconfinable { reason } => write!(
                f,
                "tool `{tool}` was refused: this system cannot confine commands: {reason}"
            ),
            Self::Unwalled { reason } => write!(
                f,
                "tool `{tool}` was refused: cannot confine this call: {reason}"
            ),
            Self::McpRefused { server, reason } => write!(
                f,
                "tool `{tool}` was refused: MCP server `{server}` may not be used: {reason}"
            ),
            Self::McpProgram {
                server,
                program,
                expected,
                found,
            } => write!(
                f,
                "tool `{tool}` was refused: the program of MCP server `{server}`, {program}, has the checksum {found}, not {expected}"
            ),
            Self::McpChanged { server, change } => write!(
                f,
                "tool `{tool}` of MCP server `{server}` differs from what was accepted: {change}"
            ),
            Self::McpSwapped { server } => write!(
                f,
                "tool `{tool}` was not called: MCP server `{server}` has changed it since it was offered"
            ),
        }
    }

    pub(super) fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Denied { denied, .. } => Some(denied),
            Self::Unknowable(error) => Some(error),
            _ => None,
        }
    }
}
