"""/mcp: the MCP servers, how each is, and why one that cannot be used cannot be."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from andy_cli.errors import UsageError
from andy_cli.frontends.chat.command import Command, Offer
from andy_cli.frontends.chat.desk import Desk
from andy_cli.frontends.completion_values import VALUES
from andy_cli.frontends.lists import format_table
from andy_cli.frontends.mcp import mcp_fix
from andy_cli.guard.neutralizer import one_line, spelled
from andy_cli.toolbox.mcp.connection import Connection
from andy_cli.toolbox.mcp.servers import Server, servers

NONE = "There are no MCP servers. `andy mcp add NAME -- COMMAND`, or a URL, adds one."
WAITING = "not started, they start with the first message"


async def mcp(desk: Desk, argument: str) -> str:
    """Raises UsageError for a server that is none."""
    if desk.open is None:
        more = map(Path, desk.options.mcp_config)
        return list_waiting(servers(desk.options.settings(), Path.cwd().resolve(), more))
    connections = desk.open.hub.connections
    if argument:
        return describe(find(argument, connections))
    if not connections:
        return NONE
    return "\n".join(line for each in connections for line in summary_lines(each))


def list_waiting(configured: list[Server]) -> str:
    rows = [(each.name, each.fault or WAITING, spelled(each.where)) for each in configured]
    return "\n".join(format_table(rows)) if rows else NONE


def summary_lines(connection: Connection) -> Iterator[str]:
    name, state = connection.server.name, connection.state
    if connection.ready:
        yield f"{name}  ready, {len(connection.tools)} tools (/mcp {name} lists them)"
    elif state == "starting":
        yield f"{name}  starting, its tools join when it is ready"
    else:
        yield f"{name}  failed: {state}."
        yield f"    mend: `{mcp_fix(connection.server, state)}`, then /clear starts it again"


def find(name: str, connections: list[Connection]) -> Connection:
    found = next((each for each in connections if each.server.name == name), None)
    if found is None:
        there = ", ".join(each.server.name for each in connections) or "none"
        raise UsageError(f"There is no server {name!r}.", f"There are: {there}.")
    return found


def describe(connection: Connection) -> str:
    rows = [(f"  {tool.name}", one_line(tool.description)) for tool in connection.tools]
    tools = format_table(rows) if rows else []
    lines = [*summary_lines(connection), f"from {connection.server.file}"]
    return "\n".join([*lines, spelled(connection.server.where), *tools])


def complete(desk: Desk | None, typed: str) -> Iterable[Offer]:
    if desk is None or desk.open is None:
        return VALUES["servers"]()
    return [(each.server.name, each.state) for each in desk.open.hub.connections]


COMMAND = Command("mcp", "/mcp [NAME]", "servers of tools, and how they are", mcp, (), complete)
