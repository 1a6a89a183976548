"""/tools: what andy can do, in the user's words; no model is needed."""

from collections.abc import Iterable

from andy_cli.frontends.chat.chat_session import Desk
from andy_cli.frontends.chat.slash_command import Command, Offer
from andy_cli.frontends.chat.typed_tool import find_tools
from andy_cli.frontends.command_line.completion_values import VALUES
from andy_cli.frontends.management.tools_command import describe_tool, known_tool
from andy_cli.messages import Effect


async def tools(desk: Desk, argument: str) -> str:
    """Raises UsageError for a name that is none."""
    registry = find_tools(desk)
    if argument:
        return describe_tool(known_tool(argument, registry))
    there = [tool for tool in registry if tool.effect is not Effect.PROTOCOL]
    width = max((len(tool.name) for tool in there), default=0)
    lines: dict[str, list[str]] = {}
    for tool in there:
        line = f"{tool.name.ljust(width)}  {tool.effect:8}  {tool.description}"
        lines.setdefault(tool.unavailable_reason(), []).append(line)
    ready = lines.pop("", [])
    groups = [f"{len(ready)} tools are ready:", *ready]
    for needed, rows in lines.items():
        groups += ["", f"{len(rows)} not ready: {needed}", *rows]
    return "\n".join(groups)


def complete(desk: Desk | None, typed: str) -> Iterable[Offer]:
    if desk is None or desk.open is None:
        return VALUES["tools"]()
    return [(tool.name, str(tool.effect)) for tool in list(desk.open.chat.registry)]


COMMAND = Command("tools", "/tools [NAME]", "what andy can do", tools, complete=complete)
