//! The module of the tool `mcp`.

use jp_tool_brokered::{MCP, module};

module!(|input| MCP.answer(input));
