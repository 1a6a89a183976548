"""`andy tools list|info`."""

import difflib
import sys
from pathlib import Path

from andy_cli.errors import UsageError
from andy_cli.frontends.terminal.tables import format_table, print_json, print_table
from andy_cli.settings import load
from andy_cli.toolbox.collection import Collection
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import Tool


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
    """Find a tool by its name. Raises UsageError with the nearest name."""
    tools = tools or load_tools()
    tool = tools.get(name)
    if tool is None:
        close_names = difflib.get_close_matches(name, [tool.name for tool in tools], n=1)
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
    required = tool.schema["required"]
    rows = [
        (
            f"  {parameter}",
            describe_type(schema),
            "required" if parameter in required else "",
            describe_parameter(schema),
        )
        for parameter, schema in tool.schema["properties"].items()
    ]
    return "\n".join([*lines, *format_table(rows)])


def describe_type(schema: dict[str, object]) -> str:
    return str(schema.get("type", "any"))


def describe_parameter(schema: dict[str, object]) -> str:
    return str(schema.get("description", ""))


def make_tool_record(tool: Tool) -> dict[str, object]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema,
        "effect": str(tool.effect),
    }
