"""All MCP servers of a conversation: connected in the background, their tools put where tools are.

A server that is slow delays nothing: it is told in one line, and its tools join when it is ready.
One that cannot be used says why for as long as that holds.
"""

import asyncio
import re
import time
from collections.abc import Callable, Iterable

from andy_cli.toolbox.mcp.connection import McpConnection
from andy_cli.toolbox.mcp.servers import McpServer
from andy_cli.toolbox.mcp.tools import describe_left_out, tool_source, tools_of
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import split_name

SLOW_START_SECONDS = 2.0
"""Seconds in which a server is expected to be ready; one that takes longer is slow."""


class Hub:
    def __init__(
        self, servers: Iterable[McpServer], registry: Registry, notify: Callable[[str], None]
    ) -> None:
        self._registry = registry
        self._tell = notify
        self._slow: set[str] = set()
        """Servers that the user was told are slow."""
        self._left_out: dict[str, str] = {}
        """The tools of each server that the user was told cannot be used."""
        self._watch: asyncio.Task[None] | None = None
        self._began = 0.0
        self.connections = [McpConnection(server, self._replace_tools) for server in servers]

    def start(self) -> None:
        """Begin to connect to all of them; returns at once."""
        self._began = time.monotonic()
        for connection in self.connections:
            connection.start()
            if connection.server.fault and not connection.server.is_off:
                self._tell(
                    f"The MCP server `{connection.server.name}` cannot be used: {connection.state}."
                )
        if self.connections:
            self._watch = asyncio.create_task(self._tell_slow())

    async def wait(self, seconds: float) -> None:
        """Wait until it is known of each whether it can be used, or until the time is over."""
        await self._wait(self.connections, seconds)

    async def wait_for_task(self, task: str, seconds: float) -> None:
        """Wait for the servers that the task names, so long after the start; else but a moment."""
        elapsed = time.monotonic() - self._began
        await self._wait(self.connections, min(seconds, SLOW_START_SECONDS) - elapsed)
        named_connections = [
            connection for connection in self.connections if is_named(connection.server.name, task)
        ]
        await self._wait(named_connections, seconds - max(elapsed, SLOW_START_SECONDS))

    async def restart(self, server: McpServer) -> McpConnection:
        """Connect anew to a server, as it is written now, or to one that was not there yet.

        Returns at once: its tools join when it is ready.
        """
        for index, old_connection in enumerate(self.connections):
            if old_connection.server.name == server.name:
                await old_connection.close()
                del self.connections[index]
                break
        connection = McpConnection(server, self._replace_tools)
        self.connections.append(connection)
        connection.start()
        return connection

    async def close(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
        await asyncio.gather(*(connection.close() for connection in self.connections))

    async def _wait(self, connections: Iterable[McpConnection], seconds: float) -> None:
        waiting = [
            asyncio.create_task(connection.wait_until_settled()) for connection in connections
        ]
        try:
            if waiting:
                await asyncio.wait(waiting, timeout=max(0.0, seconds))
        finally:
            for task in waiting:
                task.cancel()

    async def _tell_slow(self) -> None:
        await asyncio.sleep(SLOW_START_SECONDS)
        slow_servers = [
            connection.server.name
            for connection in self.connections
            if connection.state == "starting"
        ]
        self._slow |= set(slow_servers)
        if slow_servers:
            kind, possessive = ("server", "Its") if len(slow_servers) == 1 else ("servers", "Their")
            names = ", ".join(f"`{name}`" for name in slow_servers)
            self._tell(f"Still starting: the MCP {kind} {names}. {possessive} tools join later.")

    def _replace_tools(self, connection: McpConnection) -> None:
        name = connection.server.name
        self._registry.drop(tool_source(name))
        self._registry.put(tools_of(connection))
        if connection.ready:
            self._tell_left_out(connection)
            if name in self._slow:
                self._slow.discard(name)
                self._tell(f"The MCP server `{name}` is ready.")
        elif connection.state not in ("starting", "ready"):
            comes_back = " The next call of its tools tries again." if connection.tools else ""
            self._tell(f"The MCP server `{name}` cannot be used: {connection.state}.{comes_back}")

    def _tell_left_out(self, connection: McpConnection) -> None:
        """Tell which tools of a server cannot be used; the same ones once."""
        name, left_out = connection.server.name, describe_left_out(connection)
        if left_out and self._left_out.get(name) != left_out:
            self._tell(f"Tools of the MCP server `{name}` are left out: {left_out}.")
        self._left_out[name] = left_out


def is_named(server: str, task: str) -> bool:
    """Tell whether the user's words name a server, whatever signs divide the parts of its name."""
    name_parts = split_name(server)
    words = r"[\W_]*".join(name_parts)
    pattern = rf"(?<![A-Za-z0-9]){words}(?![A-Za-z0-9])"
    return bool(name_parts) and re.search(pattern, task, re.IGNORECASE) is not None
