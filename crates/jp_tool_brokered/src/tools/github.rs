//! `github`: the tools of GitHub's own MCP server.

use super::calls;
use crate::ModuleTool;

/// The tools of GitHub's own MCP server.
pub static GITHUB: ModuleTool = ModuleTool {
    name: "github",
    summary: "Works with GitHub: repositories, issues, pull requests",
    description: "Works with GitHub through its MCP server: repositories, issues, pull requests and \
                  more. list_tools shows what it offers and the arguments it wants; call_tool calls \
                  one of its tools.",
    actions: &[
        calls::GITHUB_LIST_TOOLS.named(&["list_tools"]),
        calls::GITHUB_CALL_TOOL.named(&["call_tool", "call"]),
    ],
};
