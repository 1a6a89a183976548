"""`andy tools list|info|test|add|enable|disable`; the last four for tools of the user's own."""

import asyncio
import difflib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from andy_cli.compiler.mapper.mapper import map_call
from andy_cli.errors import ToolError, UsageError
from andy_cli.frontends.terminal.tables import format_table, print_json, print_line, print_table
from andy_cli.guard.terminal_sanitizer import neutralize_text
from andy_cli.messages import Arguments, Effect, Problem, ToolCall
from andy_cli.settings import load, replace_file, save
from andy_cli.toolbox import runtime_context
from andy_cli.toolbox.collection import Collection, describe_fault, tools_in, user_folder
from andy_cli.toolbox.mcp.servers import servers
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
        nearest_hint = (
            f"Did you mean {close_names[0]}?"
            if close_names
            else "`andy tools list` shows all, `andy mcp test NAME` the tools of an MCP server."
        )
        raise UsageError(f"There is no tool {name!r}.", nearest_hint)
    return tool


def list_tools(as_json: bool) -> None:
    tools = list(load_tools())
    if as_json:
        print_json([make_tool_record(tool) for tool in tools])
    else:
        rows = [
            (tool.name, str(tool.effect), tool.unavailable_reason() or tool.description)
            for tool in tools
        ]
        print_table(rows)


def show_tool(name: str, as_json: bool) -> None:
    tool = find_tool(name)
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
    server_names = [server.name for server in servers(load(), Path.cwd().resolve())]
    is_of_server = any(name.startswith(f"{server_name}.") for server_name in server_names)
    if "*" not in name and name not in disabled_tools and not is_of_server:
        find_tool(name)
    path = save("tools.disabled", lambda kept: [*dict.fromkeys((*kept, name))])
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
    tools = load_tools()
    tool = find_tool(name, tools)
    if tool.effect is Effect.PROTOCOL:
        raise UsageError(f"{name} is part of a protocol and does nothing by itself.")
    mapped = map_call(name, parse_arguments(values), tools.functions, tools.only_reads)
    problems = mapped.problems or tools.check(name, mapped.calls[0].arguments)
    if problems:
        faults = "; ".join(map(describe_problem, problems))
        raise UsageError(f"{faults}.", f"`andy tools info {name}` shows its parameters.")
    call = ToolCall("test", name, mapped.calls[0].arguments)
    try:
        result = asyncio.run(tools.call_typed(call))
    except ToolError as error:
        raise UsageError(str(error)) from error
    if as_json:
        print_line(json.dumps(result._asdict(), ensure_ascii=False, default=str))
    else:
        print_line(neutralize_text(result.content))
        sys.stderr.write(f"{result.status}: {neutralize_text(result.did)}, {result.seconds} s\n")
    return 0 if result.ok else 1


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
