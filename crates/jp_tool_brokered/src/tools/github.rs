//! `github`: the tools of GitHub's own MCP server.

use crate::ModuleTool;
use crate::tool::{Kind, action, optional, required};

/// The tools of GitHub's own MCP server.
pub static GITHUB: ModuleTool = ModuleTool {
    name: "github",
    summary: "Works with GitHub: repositories, issues, pull requests",
    description: "Works with GitHub through its MCP server: repositories, issues, pull requests and \
                  more. list_tools shows what it offers and the arguments it wants; call_tool calls \
                  one of its tools.",
    actions: &[
        action(&["list_tools"], "github.list_tools", &[]),
        action(
            &["call_tool", "call"],
            "github.call_tool",
            &[
                required("tool", Kind::Text, "The tool, as list_tools names it"),
                optional("arguments", Kind::Object, "What the tool takes"),
            ],
        ),
    ],
};
