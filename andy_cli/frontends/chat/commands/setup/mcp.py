"""/mcp: the MCP servers, how each is, and why one that cannot be used cannot be."""

import asyncio
import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from andy_cli.errors import UsageError
from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.slash_command import Offer, SlashCommand
from andy_cli.frontends.command_line.completion_values import VALUES
from andy_cli.frontends.management.mcp_command import suggest_fix
from andy_cli.frontends.terminal.messages import list_choices
from andy_cli.frontends.terminal.tables import format_table
from andy_cli.guard.terminal_sanitizer import one_line, spell_out
from andy_cli.toolbox.mcp.connection import McpConnection
from andy_cli.toolbox.mcp.hub import SLOW_START_SECONDS, Hub
from andy_cli.toolbox.mcp.servers import McpServer, find_servers
from andy_cli.toolbox.mcp.tools import describe_left_out

NONE = "There are no MCP servers. `andy mcp add NAME -- COMMAND`, or a URL, adds one."
RESTART = "restart"
WAITING = "not started, they start with the first message"


async def manage_servers(session: ChatSession, argument: str) -> str:
    """List, describe or restart servers. Raises UsageError for an unknown server."""
    if session.opened is None:
        return list_configured(load_servers(session))
    connections = session.opened.hub.connections
    subcommand, _, name = argument.partition(" ")
    if subcommand == RESTART and name:
        return await restart_server(session, session.opened.hub, name.strip())
    if argument:
        return describe_tools(find_connection(argument, connections))
    if not connections:
        return NONE
    return "\n".join(
        line for connection in connections for line in summarize_connection(connection)
    )


def load_servers(session: ChatSession) -> list[McpServer]:
    """The servers as they are written now. Raises UsageError."""
    more_files = map(Path, session.options.mcp_config)
    return find_servers(session.options.settings(), Path.cwd().resolve(), more_files)


async def restart_server(session: ChatSession, hub: Hub, name: str) -> str:
    """Connect anew and say what came of it, if that is known soon. Raises UsageError."""
    server = next(
        (configured for configured in load_servers(session) if configured.name == name), None
    )
    if server is None:
        raise UsageError(f"There is no server {name!r}.", "`andy mcp list` shows what there is.")
    connection = await hub.restart(server)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(connection.wait_until_settled(), SLOW_START_SECONDS)
    return "\n".join(summarize_connection(connection))


def list_configured(configured_servers: list[McpServer]) -> str:
    rows = [
        (configured.name, configured.fault or WAITING, spell_out(" ".join(configured.shown)))
        for configured in configured_servers
    ]
    return "\n".join(format_table(rows)) if rows else NONE


def summarize_connection(connection: McpConnection) -> Iterator[str]:
    name, state = connection.server.name, connection.state
    if connection.ready:
        yield f"{name}  ready, {len(connection.tools)} tools (/mcp {name} lists them)"
        if left_out := describe_left_out(connection):
            yield f"    left out: {left_out}"
    elif state == "starting":
        yield f"{name}  starting, its tools join when it is ready"
    else:
        yield f"{name}  failed: {state}."
        yield f"    fix: `{suggest_fix(connection.server, state)}`, then /mcp {RESTART} {name}"


def find_connection(name: str, connections: list[McpConnection]) -> McpConnection:
    server = next(
        (connection for connection in connections if connection.server.name == name), None
    )
    if server is None:
        server_names = [connection.server.name for connection in connections]
        raise UsageError(f"There is no server {name!r}.", list_choices(server_names))
    return server


def describe_tools(connection: McpConnection) -> str:
    rows = [(f"  {spell_out(tool.name)}", one_line(tool.description)) for tool in connection.tools]
    tools = format_table(rows) if rows else []
    lines = [*summarize_connection(connection), f"from {connection.server.file}"]
    return "\n".join([*lines, spell_out(" ".join(connection.server.shown)), *tools])


def offer_servers(session: ChatSession | None, typed: str) -> Iterable[Offer]:
    if session is None or session.opened is None:
        return VALUES["servers"]()
    states = [
        (connection.server.name, connection.state) for connection in session.opened.hub.connections
    ]
    return [*states, *((f"{RESTART} {name}", "connect anew") for name, _ in states)]


COMMAND = SlashCommand(
    "mcp",
    "/mcp [NAME|restart NAME]",
    "MCP servers and their state",
    manage_servers,
    complete=offer_servers,
)
