"""Talks to `jp serve` with the Python SDK: over stdio and HTTP, with and without a handshake.

Arguments: the jp binary, and a workspace that has the tools `test_tool` and `test_tool_with_progress`, a `bash` whose calls
become tasks, and a file `notes.txt`.
"""

import asyncio
import json
import os
import subprocess
import sys
from typing import Literal

from mcp import Client, StdioServerParameters
from mcp.client.extension import ClientExtension, ResultClaim
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, ElicitResult, Request, RequestParams, Result

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


class TaskParams(RequestParams):
    task_id: str


class GetTask(Request[TaskParams, Literal["tasks/get"]]):
    method: Literal["tasks/get"] = "tasks/get"
    name_param = "taskId"


class CancelTask(Request[TaskParams, Literal["tasks/cancel"]]):
    method: Literal["tasks/cancel"] = "tasks/cancel"
    name_param = "taskId"


class Accepted(Result):
    """What a call answers that has become a task."""

    result_type: Literal["task"]
    task_id: str


class Task(Result):
    status: str
    result: dict | None = None


async def ended(session, task_id):
    """Looks at a task until it is over."""
    while True:
        task = await session.send_request(GetTask(params=TaskParams(task_id=task_id)), Task)
        if task.status != "working":
            return task
        await asyncio.sleep(0.02)


class Tasks(ClientExtension):
    """The extension for tasks, which the SDK leaves to its users: a call is over when its task is."""

    identifier = "io.modelcontextprotocol/tasks"

    def __init__(self):
        self.seen = 0

    def claims(self):
        async def resolve(accepted, context):
            self.seen += 1
            task = await ended(context.session, accepted.task_id)
            return CallToolResult.model_validate(task.result)

        return [ResultClaim(result_type="task", model=Accepted, resolve=resolve)]


async def talk_of_tasks(server):
    """Makes calls that become tasks, which revision 2026-07-28 alone has."""
    tasks = Tasks()
    async with Client(server, mode="auto", extensions=[tasks]) as client:
        result = await client.call_tool("bash", {"commands": "seq 3 | paste -sd+"})
        text = result.content[0].text
        check("waits for a task", tasks.seen == 1 and "1+2+3" in text, (tasks.seen, result))
        session = client.session
        accepted = await session.call_tool("bash", {"commands": "sleep 25"}, allow_claimed=True)
        params = TaskParams(task_id=accepted.task_id)
        await session.send_request(CancelTask(params=params), Result)
        task = await ended(session, accepted.task_id)
        check("cancels a task", task.status == "cancelled", task)


async def cancelled(client):
    """Counts the caller's calls that were stopped."""
    records = (await client.read_resource("jp://audit/recent")).contents[0].text
    return sum(record["outcome"] == "cancelled" for record in json.loads(records))


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
        result = await client.call_tool("bash", script)
        check("calls a tool", not result.is_error and "1+2+3" in result.content[0].text, result)
        await client.call_tool("test_tool_with_progress", {}, progress_callback=progress)
        check("hears of progress", len(heard) >= 2 and heard == sorted(heard), heard)
        asked = await client.call_tool("test_tool", {"path": "notes.txt", "ask": True})
        check("answers a question", not asked.is_error and "second note" in asked.content[0].text, asked)
        large = await client.call_tool("bash", {"commands": "seq 20000"})
        link = next(part for part in large.content if part.type == "resource_link")
        whole = await client.read_resource(link.uri)
        check("reads a large result", "19999" in whole.contents[0].text, link)
        refused = await client.call_tool("test_tool", {"path": "../outside"})
        check("is told of a refusal", refused.is_error, refused)
        before = await cancelled(client)
        try:
            await client.call_tool("bash", {"commands": "sleep 25"}, read_timeout_seconds=0.5)
            check("gives up on a slow call", False)
        except Exception as error:  # each version of the SDK has its own
            check("gives up on a slow call", "imed out" in str(error), repr(error))
        while await cancelled(client) == before:
            await asyncio.sleep(0.02)
        check("which stops it", True)
        again = await client.call_tool("bash", {"commands": "echo again"})
        check("goes on after that", not again.is_error, again)


async def over_http(talk):
    env = {**os.environ, "JP_TOKEN": TOKEN}
    line = [JP, "-C", WORKSPACE, "serve", "--http", "127.0.0.1:0"]
    server = subprocess.Popen(line, env=env, stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().strip()
        http = create_mcp_http_client(headers={"Authorization": f"Bearer {TOKEN}"})
        await talk(streamable_http_client(url, http_client=http))
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
        await over_http(lambda server: talk(server, mode))
    print("stdio, tasks")
    await talk_of_tasks(stdio)
    print("http, tasks")
    await over_http(talk_of_tasks)


asyncio.run(main())
