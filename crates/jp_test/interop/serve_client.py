"""Talks to `jp serve` with the Python SDK: over stdio and HTTP, with and without a handshake.

Arguments: the jp binary, and a workspace that has the tool `test_tool` and a file `notes.txt`.
"""

import asyncio
import os
import subprocess
import sys

from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult

try:
    from mcp.shared.httpx_utils import create_mcp_http_client
except ImportError:  # pragma: no cover
    from mcp.shared._httpx_utils import create_mcp_http_client

JP, WORKSPACE = sys.argv[1], sys.argv[2]
TOKEN = "interop-interop-interop-interop-1"


def check(what, truth, found=""):
    if not truth:
        sys.exit(f"{what}: {found}")
    print(f"  {what}")


async def agree(context, params):
    """Says yes to what a tool asks."""
    schema = params.requested_schema
    properties = schema["properties"] if isinstance(schema, dict) else schema.properties
    return ElicitResult(action="accept", content={name: True for name in properties})


async def talk(server, mode):
    """Uses everything that the SDK has for a server."""
    async with Client(server, mode=mode, elicitation_callback=agree) as client:
        print(f" {client.protocol_version}")
        check("names itself", client.server_info.name == "jp", client.server_info)
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        check("lists tools", {"bash", "test_tool"} <= set(tools), sorted(tools))
        heard = []

        async def progress(done, total, message):
            heard.append(done)

        script = {"commands": "seq 3 | paste -sd+"}
        result = await client.call_tool("bash", script, progress_callback=progress)
        check("calls a tool", not result.is_error and "1+2+3" in result.content[0].text, result)
        asked = await client.call_tool("test_tool", {"path": "notes.txt", "ask": True})
        check("answers a question", not asked.is_error and "second note" in asked.content[0].text, asked)
        large = await client.call_tool("bash", {"commands": "seq 20000"})
        link = next(part for part in large.content if part.type == "resource_link")
        whole = await client.read_resource(link.uri)
        check("reads a large result", "19999" in whole.contents[0].text, link)
        refused = await client.call_tool("test_tool", {"path": "../outside"})
        check("is told of a refusal", refused.is_error, refused)
        try:
            await client.call_tool("bash", {"commands": "sleep 60"}, read_timeout_seconds=1)
            check("gives up on a slow call", False)
        except Exception as error:  # each version of the SDK has its own
            check("gives up on a slow call", "imed out" in str(error), repr(error))
        again = await client.call_tool("bash", {"commands": "echo again"})
        check("goes on after that", not again.is_error, again)


async def over_http(mode):
    env = {**os.environ, "JP_TOKEN": TOKEN}
    line = [JP, "-C", WORKSPACE, "serve", "--http", "127.0.0.1:0"]
    server = subprocess.Popen(line, env=env, stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().strip()
        http = create_mcp_http_client(headers={"Authorization": f"Bearer {TOKEN}"})
        await talk(streamable_http_client(url, http_client=http), mode)
    finally:
        server.terminate()
        check("ends when it is told to", server.wait(20) == 0, server.returncode)


async def main():
    line = ["-C", WORKSPACE, "serve"]
    stdio = StdioServerParameters(command=JP, args=line, env=dict(os.environ))
    for mode in ["legacy", "auto"]:
        print(f"stdio, {mode}")
        await talk(stdio, mode)
        print(f"http, {mode}")
        await over_http(mode)


asyncio.run(main())
