"""`andy tools list|info`."""

import json
import sys
from collections.abc import Sequence

from andy_cli.errors import UsageError
from andy_cli.toolbox import registry
from andy_cli.toolbox.tool import Tool


def list_tools(as_json: bool) -> None:
    tools = list(registry.load())
    if as_json:
        print_json([as_record(tool) for tool in tools])
    else:
        print_table([(tool.name, str(tool.effect), tool.description) for tool in tools])


def show_tool(name: str, as_json: bool) -> None:
    tools = registry.load()
    tool = tools.get(name)
    if tool is None:
        known = ", ".join(each.name for each in tools)
        raise UsageError(f"There is no tool {name!r}.", f"There are: {known}")
    if as_json:
        print_json(as_record(tool))
        return
    sys.stdout.write(f"{tool.name}: {tool.description}\neffect: {tool.effect}\n")
    required = tool.schema["required"]
    rows = [
        (f"  {each}", kind(schema), "required" if each in required else "", about(schema))
        for each, schema in tool.schema["properties"].items()
    ]
    print_table(rows)


def kind(schema: dict[str, object]) -> str:
    return str(schema.get("type", "any"))


def about(schema: dict[str, object]) -> str:
    return str(schema.get("description", ""))


def as_record(tool: Tool) -> dict[str, object]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema,
        "effect": str(tool.effect),
    }


def print_json(value: object) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as they need to be, the last one free."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        sys.stdout.write("  ".join(cells).rstrip() + "\n")
