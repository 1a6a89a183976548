"""A session with one MCP server, by the SDK: a program of its own, or an address.

Imported when there is a server to speak to: the SDK takes half a second.
"""

import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path

import httpx2
from mcp import Client
from mcp.client._transport import Transport
from mcp.client.client import ConnectMode
from mcp.client.session import IncomingMessage
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import METHOD_NOT_FOUND, REQUEST_TIMEOUT, UNSUPPORTED_PROTOCOL_VERSION, Tool

from andy_cli.errors import ToolError, ToolTimeout
from andy_cli.toolbox.mcp import results
from andy_cli.toolbox.mcp.connection import first_cause
from andy_cli.toolbox.mcp.http_refusals import TellingClient, may_have_worked
from andy_cli.toolbox.mcp.login import sign_requests
from andy_cli.toolbox.mcp.long_lines import CODEC
from andy_cli.toolbox.mcp.mended_answers import mend_transport
from andy_cli.toolbox.mcp.resources import (
    READ_RESOURCE,
    has_resources,
    list_resources,
    read_resource,
)
from andy_cli.toolbox.mcp.servers import McpServer, ServerTool, log_of
from andy_cli.toolbox.terminal.processes import MARK
from andy_cli.toolbox.tool import PROGRESS

MAX_PAGES = 50
"""Of a list of tools; a server whose list never ends is listened to no longer."""
MAX_TOOLS = 1000
NO_HANDSHAKE = (METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION)
"""The answers to `initialize` of a server that speaks without it."""
CALL_TIMEOUT = 120.0
"""Seconds without a sign of life after which a call is given up, unless its entry says more."""


class Session:
    """A session with a server: its tools, and calls of them."""

    def __init__(self, client: Client, server: McpServer) -> None:
        self._client = client
        self._patience = max(CALL_TIMEOUT, server.timeout)
        self._reads_resources = False

    async def tools(self) -> tuple[ServerTool, ...]:
        server_tools: list[ServerTool] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await self._client.list_tools(cursor=cursor, cache_mode="bypass")
            server_tools += [
                ServerTool(
                    name=tool.name,
                    description=tool.description or "",
                    schema=tool.input_schema,
                    title=title_of(tool),
                    only_reads=bool(tool.annotations and tool.annotations.read_only_hint),
                )
                for tool in page.tools
            ]
            cursor = page.next_cursor
            if not cursor or len(server_tools) > MAX_TOOLS:
                break
        has_own = any(tool.name == READ_RESOURCE.name for tool in server_tools)
        self._reads_resources = not has_own and await has_resources(self._client)
        offered = server_tools[:MAX_TOOLS]
        return (*offered, READ_RESOURCE) if self._reads_resources else tuple(offered)

    async def call(self, name: str, arguments: Mapping[str, object]) -> tuple[object, bool]:
        """Call a tool; return its result, and whether the server says that it failed."""
        if name == READ_RESOURCE.name and self._reads_resources:
            return await self._read_resource(str(arguments.get("uri") or "")), False
        report_progress = PROGRESS.get()  # of this call: the server is heard in a task of its own

        async def tell_progress(progress: float, total: float | None, message: str | None) -> None:
            share = f"{progress:.12g} of {total:.12g}" if total else f"{progress:.12g}"
            report_progress(f"{share} {message or ''}".strip())

        try:
            answered = await self._client.call_tool(
                name, dict(arguments), self._patience, tell_progress
            )
        except MCPError as error:
            if may_have_worked(error):
                message = f"{error.error.message}. The call may have been done."
                raise ToolError(message, may_be_done=True) from error
            if error.error.code != REQUEST_TIMEOUT:
                raise
            raise ToolTimeout(
                f"The server did not answer within {self._patience:g} s.",
                "It may have been done all the same.",
                may_be_done=True,
            ) from error
        failed = bool(answered.is_error)
        content = results.result_content(answered.content, answered.structured_content, failed)
        return content, failed

    async def _read_resource(self, uri: str) -> object:
        if uri:
            return await read_resource(self._client, uri)
        return results.result_content((), await list_resources(self._client))


def title_of(tool: Tool) -> str:
    """Return what the server calls it for people; the older place is that among the hints."""
    return tool.title or (tool.annotations.title if tool.annotations else "") or ""


@contextlib.asynccontextmanager
async def open_session(
    server: McpServer, handle_message: Callable[[object], Awaitable[None]], process_mark: str
) -> AsyncIterator[Session]:
    """`handle_message` gets every message that nobody asked for.

    `process_mark` is in a program's environment.
    """

    async def message_handler(message: IncomingMessage) -> None:
        await handle_message(message)

    async def enter_client(mode: ConnectMode) -> Client:
        if server.command:
            transport = start_server(server, process_mark, stack)
        else:
            transport = await reach_server(server, stack)
        client = Client(
            mend_transport(transport),
            mode=mode,
            read_timeout_seconds=max(CALL_TIMEOUT, server.timeout),
            message_handler=message_handler,
        )
        return await stack.enter_async_context(client)

    async with contextlib.AsyncExitStack() as stack:
        try:
            # Many a program knows no other first request than `initialize`: it ends, or is silent.
            client = await enter_client("legacy" if server.command else "auto")
        except Exception as error:
            if not server.command or not has_no_handshake(error):
                raise
            client = await enter_client("auto")
        yield Session(client, server)


def has_no_handshake(error: Exception) -> bool:
    """Tell whether a server answered that it does not know `initialize`."""
    cause = first_cause(error)
    return isinstance(cause, MCPError) and cause.error.code in NO_HANDSHAKE


def open_log(file: Path) -> int:
    """A descriptor for what the program says; without room for it that goes nowhere."""
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)


def start_server(
    server: McpServer, process_mark: str, stack: contextlib.AsyncExitStack
) -> Transport:
    """A program in a clean environment: it gets what its entry names and no more."""
    log_file = stack.enter_context(os.fdopen(open_log(log_of(server)), "w"))
    parameters = StdioServerParameters(
        command=server.command,
        args=list(server.args),
        env={**server.env, MARK: process_mark},
        cwd=server.cwd or None,
        encoding=CODEC,
        encoding_error_handler="replace",
    )
    return stdio_client(parameters, errlog=log_file)


async def reach_server(server: McpServer, stack: contextlib.AsyncExitStack) -> Transport:
    """Over HTTP, signed with the token of a login if there is one."""
    client = TellingClient(
        server,
        auth=sign_requests(server),
        timeout=httpx2.Timeout(30.0, read=max(CALL_TIMEOUT, server.timeout)),
    )
    await stack.enter_async_context(client)
    return streamable_http_client(server.url, http_client=client)
