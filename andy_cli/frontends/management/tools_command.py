"""`andy tools list|info|test|add|enable|disable`."""

import asyncio
import difflib
import json
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from andy_cli.compiler.mapper.mapper import map_call
from andy_cli.errors import ToolError, UsageError
from andy_cli.frontends.management.mcp_command import load_servers, open_server, tell_slow
from andy_cli.frontends.terminal.tables import format_table, print_json, print_line
from andy_cli.guard.terminal_sanitizer import neutralize_text
from andy_cli.messages import Arguments, Effect, Problem, ToolCall, ToolResult
from andy_cli.settings import load, replace_file, save
from andy_cli.toolbox import runtime_context
from andy_cli.toolbox.collection import Collection, describe_fault, tools_in, user_folder
from andy_cli.toolbox.mcp.servers import McpServer
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import Tool

EXAMPLE = """A tool is a function with type hints and a docstring, which tells the model its use:

    from andy_cli.toolbox.tool import tool

    @tool(effect="read", action="count the words of {text}")
    def count_words(text: str) -> int:
        \"\"\"Count the words of a text.\"\"\"
        return len(text.split())
"""


def load_tools() -> Registry:
    """All tools; what cannot be loaded is told on stderr."""
    return load_collection().registry


def load_collection() -> Collection:
    """All tools and where they come from, as `load_tools`."""
    collection = Collection(load(), Path.cwd().resolve())
    for sentence in collection.take_problems():
        sys.stderr.write(f"andy: {sentence}\n")
    return collection


def find_tool(name: str, tools: Registry | None = None) -> Tool:
    """Find a tool by its name. Raises UsageError with the name that is meant or nearest."""
    tools = tools or load_tools()
    tool = tools.get(name)
    if tool is None:
        # Its other names are those that other agents have for it, such as `bash`.
        meant_names = [tool.name for tool in tools if name.lower() in tool.aliases]
        close_names = meant_names or difflib.get_close_matches(
            name, [tool.name for tool in tools], n=1
        )
        hint = "`andy tools list` shows all, `andy mcp test NAME` the tools of an MCP server."
        if close_names:
            hint = f"Did you mean {close_names[0]}?"
        raise UsageError(f"There is no tool {name!r}.", hint)
    return tool


def find_server_of(name: str) -> McpServer | None:
    """Find the MCP server whose name the name of a tool begins with."""
    owners = [server for server in load_servers() if name.startswith(f"{server.name}.")]
    return max(owners, key=lambda server: len(server.name), default=None)


@asynccontextmanager
async def open_tools(name: str) -> AsyncIterator[Registry]:
    """Load all tools; the MCP server of the named one, if it has one, runs until the end.

    Raises UsageError where that server cannot be used.
    """
    registry = load_tools()
    server = None if registry.get(name) or "." not in name else find_server_of(name)
    if server is None:
        yield registry
        return
    async with open_server(server, registry, tell_slow) as connection:
        if not connection.ready:
            raise UsageError(f"{server.name} cannot be used: {connection.state}.")
        yield registry


async def fetch_tool(name: str) -> Tool:
    """Find a tool, also one of an MCP server. Raises UsageError as `find_tool`."""
    async with open_tools(name) as tools:
        return find_tool(name, tools)


def list_tools(as_json: bool) -> None:
    tools = load_tools()
    if as_json:
        print_json([make_tool_record(tool) for tool in tools])
        return
    sys.stdout.write("".join(f"{line}\n" for line in format_tools(tools)))
    try:
        servers = load_servers()
    except UsageError as error:
        sys.stderr.write(f"andy: {error}\n")
        return
    if names := ", ".join(server.name for server in servers):
        print_line(f"\nMCP servers: {names}. `andy mcp test NAME` lists the tools of one.")


def format_tools(tools: Iterable[Tool]) -> list[str]:
    """List what can be used, the user's own first, then the names of the rest by what they need."""
    offered_tools = [tool for tool in tools if tool.effect is not Effect.PROTOCOL]
    needs: dict[str, list[Tool]] = {"": []}
    for tool in sorted(offered_tools, key=lambda offered: not offered.source):
        needs.setdefault(tool.unavailable_reason(), []).append(tool)
    ready = needs.pop("")
    rows = [(tool.name, str(tool.effect), tool.description) for tool in ready]
    lines = [f"{len(ready)} tools are ready:", *format_table(rows)]
    for needed, others in needs.items():
        names = ", ".join(tool.name for tool in others)
        lines += ["", f"{len(others)} not ready: {needed}", *format_table([("", names)])]
    return lines


def show_tool(name: str, as_json: bool) -> None:
    tool = asyncio.run(fetch_tool(name))
    if as_json:
        print_json(
            {**make_tool_record(tool), "source": tool.source, "needs": tool.unavailable_reason()}
        )
        return
    sys.stdout.write(describe_tool(tool) + "\n")


def describe_tool(tool: Tool) -> str:
    """Describe a tool, what it needs, and its parameters."""
    lines = [f"{tool.name}: {tool.description}", f"effect: {tool.effect}"]
    lines += [f"from: {tool.source}"] if tool.source else []
    lines += [f"needs: {tool.unavailable_reason()}"] if tool.unavailable_reason() else []
    rows = []
    for parameter, schema in tool.schema["properties"].items():
        kind, about = str(schema.get("type", "any")), str(schema.get("description", ""))
        required = "required" if parameter in tool.schema["required"] else ""
        rows.append((f"  {parameter}", kind, required, about))
    return "\n".join([*lines, *format_table(rows)])


def make_tool_record(tool: Tool) -> dict[str, object]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema,
        "effect": str(tool.effect),
    }


def add_file(file: Path, instead: bool) -> None:
    """Copy a file of tools to where andy looks for them, if all of them can be used."""
    text, tools = load_file(file)
    target_file = user_folder() / file.name
    collection = load_collection()
    for tool in tools:
        if fault := collection.find_fault(tool, str(target_file)):
            raise UsageError(f"{file} is not added: {fault}")
    if target_file.exists() and target_file.read_bytes() != text and not instead:
        raise UsageError(f"{target_file} exists and is another.", "Give --replace to replace it.")
    try:
        replace_file(target_file, text)
    except OSError as error:
        raise UsageError(f"{target_file} cannot be written: {error.strerror}.") from error
    for tool in tools:
        print_line(f"{tool.name} ({tool.effect}): {tool.description}")
    print_line(f"Kept in {target_file}.")


def load_file(file: Path) -> tuple[bytes, list[Tool]]:
    """Read a file and the tools that it defines. Raises UsageError where there are none."""
    try:
        text = file.read_bytes()
        tools = tools_in(file)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from error
    except (Exception, SystemExit) as error:
        # Somebody's code: it is run to be loaded.
        raise UsageError(f"{file} cannot be loaded: {describe_fault(error)}.", EXAMPLE) from error
    if not tools:
        raise UsageError(f"{file} holds no tool.", EXAMPLE)
    return text, tools


def disable_tool(name: str) -> None:
    """Take a tool away, by name or pattern; models do not hear of it any more."""
    disabled_tools = load().texts("tools.disabled")
    if "*" not in name and name not in disabled_tools and not find_server_of(name):
        find_tool(name)
    path = save("tools.disabled", lambda kept: list(dict.fromkeys((*kept, name))))
    print_line(f"{name} is off, by {path}.")


def enable_tool(name: str) -> None:
    disabled_names = load().texts("tools.disabled")
    if name not in disabled_names:
        raise UsageError(
            f"{name} is not switched off.", f"Switched off: {', '.join(disabled_names) or 'none'}."
        )
    path = save("tools.disabled", lambda kept: [disabled for disabled in kept if disabled != name])
    current = load()
    if name in current.texts("tools.disabled"):
        raise UsageError(f"{name} stays off, by {current['tools.disabled'].origin}.")
    print_line(f"{name} is on, by {path}.")


def test_tool(name: str, values: Sequence[str], as_json: bool) -> int:
    """Run one tool once, as the user says: what they type here needs no other yes."""
    runtime_context.enter_context(load(), Path.cwd())
    result = asyncio.run(try_tool(name, parse_arguments(values)))
    if as_json:
        print_line(json.dumps(result._asdict(), ensure_ascii=False, default=str))
    else:
        print_line(neutralize_text(result.content))
        sys.stderr.write(f"{result.status}: {neutralize_text(result.did)}, {result.seconds} s\n")
    return 0 if result.ok else 1


async def try_tool(name: str, arguments: Arguments) -> ToolResult:
    """Call a tool with arguments as they were typed. Raises UsageError."""
    async with open_tools(name) as tools:
        if find_tool(name, tools).effect is Effect.PROTOCOL:
            raise UsageError(f"{name} is part of a protocol and does nothing by itself.")
        mapped = map_call(name, arguments, tools.functions, tools.only_reads)
        problems = mapped.problems or tools.check(name, mapped.calls[0].arguments)
        if problems:
            faults = "; ".join(map(describe_problem, problems))
            raise UsageError(f"{faults}.", f"`andy tools info {name}` shows its parameters.")
        try:
            return await tools.call_typed(ToolCall("test", name, mapped.calls[0].arguments))
        except ToolError as error:
            raise UsageError(str(error)) from error


def describe_problem(problem: Problem) -> str:
    return f"{problem.path}: {problem.message}" if problem.path else problem.message


def parse_arguments(values: Sequence[str]) -> Arguments:
    """`key=value` as typed: the mapper makes numbers and lists of them by the schema."""
    if len(values) == 1 and values[0].lstrip().startswith("{"):
        try:
            arguments = json.loads(values[0])
        except (ValueError, RecursionError) as error:
            raise UsageError(f"The arguments are no JSON: {error}.") from error
        return arguments if isinstance(arguments, dict) else {}
    pairs = [value.partition("=") for value in values]
    wrong = next((key for key, equals, _ in pairs if not equals), None)
    if wrong is not None:
        raise UsageError(f"Arguments are NAME=VALUE, not {wrong!r}.")
    return {key: value for key, _, value in pairs}
