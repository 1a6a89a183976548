"""A thousand tools: how long they take to be there, and to be found."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from andy_cli.messages import Effect
from andy_cli.toolbox import collection
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import Tool, tool
from tests.benchmarks.measure import per_item

COUNT = 1000
SCHEMA = {
    "type": "object",
    "properties": {f"p{at}": {"type": "string", "description": "a value"} for at in range(5)},
    "required": ["p0"],
}


def functions() -> list[Tool]:
    """As a user writes them: with types and descriptions."""
    made = []
    for at in range(COUNT):

        def work(
            path: Path,
            count: Annotated[int, Field(description="how many", ge=1)] = 3,
            sure: bool = False,
        ) -> str:
            """Do something useful"""
            return ""

        work.__name__ = f"work_{at}"
        made.append(tool(effect="read", action="work on {path}")(work))
    return made


def described() -> list[Tool]:
    """As MCP servers bring them: with a schema each."""
    return [
        Tool(
            name=f"server.tool_{at}",
            description="Does something",
            effect=Effect.RUN,
            action="use it",
            describe=lambda: SCHEMA,
            run=str,
        )
        for at in range(COUNT)
    ]


def main() -> None:
    registry = Registry(described())
    names = [each.name for each in registry]

    def looked_up() -> None:
        for name in names:
            registry.get(name)

    for words, work, goal in (
        ("1,000 tools with schemas, registered", lambda: Registry(described()), "100 ms"),
        ("1,000 functions, registered", lambda: Registry(functions()), "100 ms"),
        ("the same with their schemas", lambda: Registry(functions()).functions, ""),
        (
            "those that ship, loaded, with schemas",
            lambda: collection.load_tool_files().functions,
            "",
        ),
    ):
        print(f"{words:40}{per_item(work, 1) / 1000:8.1f} ms   {goal}")
    print(f"{'a lookup':40}{per_item(looked_up, COUNT):8.2f} us   10 us")
