"""An MCP server on the framework of the Python SDK, for `cargo xtask interop`."""

import asyncio
import os

from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("python")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers. The result is a number too."""
    return a + b


@server.tool()
def read(path: str) -> str:
    """Read a file."""
    with open(path, encoding="utf-8") as file:
        return file.read()


@server.tool()
def environment() -> str:
    """List the names of the variables of the environment."""
    return " ".join(sorted(os.environ))


@server.tool()
async def count(steps: int, seconds: float, ctx: Context) -> str:
    """Count slowly and say how far it is."""
    for step in range(steps):
        await ctx.report_progress(step + 1, steps)
        await asyncio.sleep(seconds)
    return f"counted to {steps}"


if __name__ == "__main__":
    server.run("stdio")
