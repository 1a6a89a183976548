"""/mcp: the MCP servers, how each is, and why one that cannot be used cannot be."""

import asyncio
import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from andy_cli.errors import UsageError
from andy_cli.frontends.chat.chat_session import Desk
from andy_cli.frontends.chat.slash_command import Command, Offer
from andy_cli.frontends.command_line.completion_values import VALUES
from andy_cli.frontends.management.mcp_command import mcp_fix
from andy_cli.frontends.terminal.tables import format_table
from andy_cli.guard.terminal_sanitizer import one_line, spell_out
from andy_cli.toolbox.mcp.connection import McpConnection
from andy_cli.toolbox.mcp.hub import MOMENT, Hub
from andy_cli.toolbox.mcp.servers import McpServer, servers

NONE = "There are no MCP servers. `andy mcp add NAME -- COMMAND`, or a URL, adds one."
RESTART = "restart"
WAITING = "not started, they start with the first message"


async def mcp(desk: Desk, argument: str) -> str:
    """Raises UsageError for a server that is none."""
    if desk.open is None:
        return list_waiting(configured(desk))
    connections = desk.open.hub.connections
    way, _, name = argument.partition(" ")
    if way == RESTART and name:
        return await restart(desk, desk.open.hub, name.strip())
    if argument:
        return describe(find(argument, connections))
    if not connections:
        return NONE
    return "\n".join(line for each in connections for line in summary_lines(each))


def configured(desk: Desk) -> list[McpServer]:
    """The servers as they are written now. Raises UsageError."""
    more = map(Path, desk.options.mcp_config)
    return servers(desk.options.settings(), Path.cwd().resolve(), more)


async def restart(desk: Desk, hub: Hub, name: str) -> str:
    """Connect anew and say what came of it, if that is known soon. Raises UsageError."""
    found = next((each for each in configured(desk) if each.name == name), None)
    if found is None:
        raise UsageError(f"There is no server {name!r}.", "`andy mcp list` shows what there is.")
    connection = await hub.restart(found)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(connection.wait_until_settled(), MOMENT)
    return "\n".join(summary_lines(connection))


def list_waiting(known: list[McpServer]) -> str:
    rows = [(each.name, each.fault or WAITING, spell_out(each.where)) for each in known]
    return "\n".join(format_table(rows)) if rows else NONE


def summary_lines(connection: McpConnection) -> Iterator[str]:
    name, state = connection.server.name, connection.state
    if connection.ready:
        yield f"{name}  ready, {len(connection.tools)} tools (/mcp {name} lists them)"
    elif state == "starting":
        yield f"{name}  starting, its tools join when it is ready"
    else:
        yield f"{name}  failed: {state}."
        yield f"    mend: `{mcp_fix(connection.server, state)}`, then /mcp {RESTART} {name}"


def find(name: str, connections: list[McpConnection]) -> McpConnection:
    found = next((each for each in connections if each.server.name == name), None)
    if found is None:
        there = ", ".join(each.server.name for each in connections) or "none"
        raise UsageError(f"There is no server {name!r}.", f"There are: {there}.")
    return found


def describe(connection: McpConnection) -> str:
    rows = [(f"  {tool.name}", one_line(tool.description)) for tool in connection.tools]
    tools = format_table(rows) if rows else []
    lines = [*summary_lines(connection), f"from {connection.server.file}"]
    return "\n".join([*lines, spell_out(connection.server.where), *tools])


def complete(desk: Desk | None, typed: str) -> Iterable[Offer]:
    if desk is None or desk.open is None:
        return VALUES["servers"]()
    states = [(each.server.name, each.state) for each in desk.open.hub.connections]
    return [*states, *((f"{RESTART} {name}", "connect anew") for name, _ in states)]


COMMAND = Command(
    "mcp",
    "/mcp [NAME|restart NAME]",
    "servers of tools, and how they are",
    mcp,
    complete=complete,
)
