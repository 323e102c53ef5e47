//! `mcp`: the tools of configured MCP servers.

use crate::ModuleTool;
use crate::tool::{Argument, Kind, action, optional, required};

const SERVER: Argument = optional(
    "server",
    Kind::Text,
    "The configured server; not needed if there is only one",
);

/// The tools of configured MCP servers.
pub static MCP: ModuleTool = ModuleTool {
    name: "mcp",
    summary: "Uses the tools of MCP servers",
    description: "Uses the tools of the MCP servers that are configured. list_tools shows what a \
                  server offers and the arguments it wants; call calls one of its tools.",
    actions: &[
        action(&["list_tools"], "mcp.list_tools", &[SERVER]),
        action(
            &["call", "call_tool"],
            "mcp.call",
            &[
                SERVER,
                required("tool", Kind::Text, "The tool, as list_tools names it").or(&["method"]),
                optional("arguments", Kind::Object, "What the tool takes").or(&["payload"]),
            ],
        ),
    ],
};
