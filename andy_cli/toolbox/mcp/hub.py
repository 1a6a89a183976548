"""All MCP servers of a conversation: connected in the background, their tools put where tools are.

A server that is slow delays nothing; one that cannot be used says why for as long as that holds.
"""

import asyncio
from collections.abc import Callable, Iterable

from andy_cli.toolbox.mcp.connection import Connection
from andy_cli.toolbox.mcp.servers import Server
from andy_cli.toolbox.mcp.tools import source, tools_of
from andy_cli.toolbox.registry import Registry


class Hub:
    def __init__(
        self, servers: Iterable[Server], registry: Registry, tell: Callable[[str], None]
    ) -> None:
        self._registry = registry
        self._tell = tell
        self.connections = [Connection(each, self._changed) for each in servers]

    def start(self) -> None:
        """Begin to connect to all of them; returns at once."""
        for each in self.connections:
            each.start()
            if each.server.fault:
                self._tell(f"{each.server.name}: {each.state}.")

    async def wait(self, seconds: float) -> None:
        """Give those that are nearly there a moment."""
        waiting = [asyncio.create_task(each.settled()) for each in self.connections]
        if waiting:
            _, late = await asyncio.wait(waiting, timeout=seconds)
            for task in late:
                task.cancel()

    async def close(self) -> None:
        await asyncio.gather(*(each.close() for each in self.connections))

    def _changed(self, connection: Connection) -> None:
        self._registry.drop(source(connection.server.name))
        if connection.ready:
            self._registry.put(tools_of(connection))
        elif connection.state not in ("starting", "ready"):
            self._tell(f"The server {connection.server.name} cannot be used: {connection.state}.")
