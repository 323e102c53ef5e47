//! `mcp`: the tools of configured MCP servers.

use super::calls;
use crate::ModuleTool;

/// The tools of configured MCP servers.
pub static MCP: ModuleTool = ModuleTool {
    name: "mcp",
    summary: "Uses the tools of MCP servers",
    description: "Uses the tools of the MCP servers that are configured. list_tools shows what a \
                  server offers and the arguments it wants; call calls one of its tools.",
    actions: &[
        calls::MCP_LIST_TOOLS.named(&["list_tools"]),
        calls::MCP_CALL.named(&["call", "call_tool"]),
    ],
};
