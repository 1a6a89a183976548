"""Tools of MCP servers as tools of ours: under a name of their own, each yes bound to its version.

A server's tool is called `server.tool`, so that none takes the name of another. Its description is
somebody else's words: it is cut, kept on one line, and broken where it holds markers. So is its
title, which is not used where it is more than a few words. Its hints about what it does allow
nothing. A tool whose name holds other signs than those of the protocol is left out, as it may look
like that of another, and that is said.
"""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterator
from fnmatch import fnmatchcase

from andy_cli.foreign_values import standardize_required
from andy_cli.guard.terminal_sanitizer import one_line, spell_out
from andy_cli.messages import Arguments, Effect, Schema
from andy_cli.toolbox.mcp.connection import McpConnection
from andy_cli.toolbox.mcp.phrases import describe_step, plain_title
from andy_cli.toolbox.mcp.results import write_json
from andy_cli.toolbox.mcp.servers import FITS_NOTHING, ServerTool
from andy_cli.toolbox.tool import Outcome, ResourceAccess, Tool

NAME = re.compile(r"[A-Za-z0-9_.:/-]+")
"""The signs that the protocol asks for, and two more that are in use."""
MAX_NAME_LENGTH = 128
"""Characters; those of the protocol."""
MOST_OF_NAME = 60
"""Characters of a name that is told of."""
MAX_CHARACTERS = 1024
"""Characters of a description."""
MAX_SCHEMA_CHARACTERS = 60_000
"""Characters of a schema."""


def tools_of(connection: McpConnection) -> Iterator[Tool]:
    """The tools that are wanted of a server and can be used; the others are left out."""
    for tool in _list_wanted(connection):
        if not _find_fault(tool):
            yield make_tool(connection, tool)


def describe_left_out(connection: McpConnection) -> str:
    """Name the tools that are wanted of a server and cannot be used, with why; or nothing."""
    faults = {tool.name: _find_fault(tool) for tool in _list_wanted(connection)}
    return ", ".join(
        f"'{spell_out(name)[:MOST_OF_NAME]}' ({fault})" for name, fault in faults.items() if fault
    )


def _list_wanted(connection: McpConnection) -> Iterator[ServerTool]:
    server = connection.server
    for tool in connection.tools:
        is_included = not server.include or any(
            fnmatchcase(tool.name, pattern) for pattern in server.include
        )
        name = f"{server.name}.{tool.name}"
        is_excluded = any(fnmatchcase(tool.name, pattern) for pattern in server.exclude)
        is_disabled = any(fnmatchcase(name, pattern) for pattern in server.disabled)
        if is_included and not is_excluded and not is_disabled:
            yield tool


def _find_fault(tool: ServerTool) -> str:
    """Tell why a tool cannot be used, or nothing."""
    if len(tool.name) > MAX_NAME_LENGTH:
        return f"its name is longer than {MAX_NAME_LENGTH} characters"
    if not NAME.fullmatch(tool.name):
        return "its name holds more than letters a-z, digits and _ . : / -"
    return "" if is_usable_schema(tool.schema) else "its parameters are no schema, or a huge one"


def make_tool(connection: McpConnection, offered: ServerTool) -> Tool:
    server = connection.server
    words = one_line(offered.description).strip()
    about = words if len(words) <= MAX_CHARACTERS else words[: MAX_CHARACTERS - 4] + " ..."
    title = plain_title(offered.title, offered.name)
    phrases = describe_step(offered.name, title, offered.schema, server.name)

    def find_access(arguments: Arguments) -> ResourceAccess:
        shown_arguments = json.dumps(arguments, ensure_ascii=False, indent=2, default=str)
        return ResourceAccess(shown=shown_arguments if arguments else "")

    approved_text = f"{server.where}\n{describe_tool(offered)}"
    return Tool(
        name=f"{server.name}.{offered.name}",
        description=about or offered.name,
        describe=lambda: plain_schema(offered.schema),
        effect=Effect(server.effect or "run"),
        action=phrases.action,
        title=title,
        run=runner(connection, offered, phrases.did),
        find_access=find_access,
        source=tool_source(server.name),
        fingerprint=hashlib.sha256(approved_text.encode()).hexdigest(),
    )


def runner(
    connection: McpConnection, offered: ServerTool, done_phrase: str
) -> Callable[[Arguments], Awaitable[Outcome]]:
    async def run(arguments: Arguments) -> Outcome:
        data = await connection.call(offered.name, arguments)
        # Its keys are the server's own, and stay as they are: `user_id` may be asked for again.
        told = data if isinstance(data, str) else write_json(data)
        return Outcome(told, done_phrase, changed_nothing=offered.only_reads)

    return run


def describe_tool(tool: ServerTool) -> str:
    """All that a yes to a tool stands on, in one text."""
    approved_parts = [tool.name, tool.description, tool.schema]
    # Not where there is none: a yes that was given before titles were looked at still holds.
    if tool.title:
        approved_parts.append(tool.title)
    return json.dumps(approved_parts, sort_keys=True, default=str)


def tool_source(server: str) -> str:
    return f"mcp:{server}"


def is_usable_schema(schema: object) -> bool:
    """Tell whether it is a schema of an object that is no monster."""
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        return False
    if schema == FITS_NOTHING:
        return False
    try:
        return len(json.dumps(schema)) <= MAX_SCHEMA_CHARACTERS
    except (ValueError, RecursionError):
        return False


def plain_schema(written: Schema) -> Schema:
    """With properties, as the rest of andy expects; a broken part says nothing."""
    schema = standardize_required(written)
    written_properties, written_required = schema.get("properties"), schema.get("required")
    properties = {}
    if isinstance(written_properties, dict):
        for key, value in written_properties.items():
            # `true` is the schema of any value: some servers write no other for it.
            if isinstance(value, dict) or value is True:
                properties[key] = {} if value is True else value
    required = written_required if isinstance(written_required, list) else []
    known = [name for name in required if isinstance(name, str) and name in properties]
    return {**schema, "type": "object", "properties": properties, "required": known}
