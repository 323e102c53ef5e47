//! Where a tool comes from.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::scalar::scalar;

/// Where a tool comes from, and its name there when that differs from its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum ToolSource {
    /// A tool that comes with jp.
    Builtin {
        /// Its name among the builtins.
        tool: Option<String>,
    },
    /// A command or a Wasm binary of this machine.
    Local {
        /// The name it is called by.
        tool: Option<String>,
    },
    /// A tool of an MCP server.
    Mcp {
        /// The server's id under `[providers.mcp]`.
        server: String,
        /// Its name on the server.
        tool: Option<String>,
    },
    /// A tool of a registry, as `[tooling]` and the lock file pin it.
    Registry {
        /// Its id in the registry.
        tool: Option<String>,
    },
}

scalar! {
    ToolSource: "`builtin[.<tool>]`, `local[.<tool>]`, `mcp.<server>[.<tool>]` or `registry[.<id>]`",
    schema { "type": "string", "pattern": r"^(builtin(\..+)?|local(\..+)?|mcp\.[^.]+(\..+)?|registry(\..+)?)$" },
    read |value| value.as_str().and_then(ToolSource::parse),
    write |this| Value::String(this.to_string()),
}

impl ToolSource {
    fn parse(text: &str) -> Option<Self> {
        let (kind, rest) = match text.split_once('.') {
            Some((kind, rest)) => (kind, Some(rest)),
            None => (text, None),
        };
        if rest.is_some_and(|rest| rest.is_empty() || rest.len() > 256) {
            return None;
        }
        let tool = rest.map(ToString::to_string);
        match (kind, rest) {
            ("builtin", _) => Some(Self::Builtin { tool }),
            ("local", _) => Some(Self::Local { tool }),
            ("registry", _) => rest
                .is_none_or(crate::tooling::is_tool_id)
                .then_some(Self::Registry { tool }),
            ("mcp", Some(rest)) => {
                let (server, tool) = match rest.split_once('.') {
                    Some((server, tool)) => (server, Some(tool)),
                    None => (rest, None),
                };
                let named = !server.is_empty() && tool != Some("");
                named.then(|| Self::Mcp {
                    server: server.to_string(),
                    tool: tool.map(ToString::to_string),
                })
            }
            _ => None,
        }
    }

    /// Returns the tool's name at its source, if it is not its id.
    #[must_use]
    pub fn tool_name(&self) -> Option<&str> {
        match self {
            Self::Builtin { tool }
            | Self::Local { tool }
            | Self::Mcp { tool, .. }
            | Self::Registry { tool } => tool.as_deref(),
        }
    }
}

impl core::fmt::Display for ToolSource {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Builtin { .. } => f.write_str("builtin")?,
            Self::Local { .. } => f.write_str("local")?,
            Self::Mcp { server, .. } => write!(f, "mcp.{server}")?,
            Self::Registry { .. } => f.write_str("registry")?,
        }
        self.tool_name().map_or(Ok(()), |tool| write!(f, ".{tool}"))
    }
}
