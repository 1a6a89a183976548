"""/tools: what andy can do, in the user's words; no model is needed."""

from collections.abc import Iterable

from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.slash_command import Offer, SlashCommand
from andy_cli.frontends.chat.typed_tool import find_tools
from andy_cli.frontends.command_line.completion_values import VALUES
from andy_cli.frontends.management.tools_command import describe_tool, find_tool
from andy_cli.messages import Effect


async def list_or_describe_tools(session: ChatSession, argument: str) -> str:
    """List all tools, or describe one. Raises UsageError for an unknown tool."""
    registry = find_tools(session)
    if argument:
        return describe_tool(find_tool(argument, registry))
    visible_tools = [tool for tool in registry if tool.effect is not Effect.PROTOCOL]
    width = max((len(tool.name) for tool in visible_tools), default=0)
    lines: dict[str, list[str]] = {}
    for tool in visible_tools:
        line = f"{tool.name.ljust(width)}  {tool.effect:8}  {tool.description}"
        lines.setdefault(tool.unavailable_reason(), []).append(line)
    ready = lines.pop("", [])
    groups = [f"{len(ready)} tools are ready:", *ready]
    for needed, rows in lines.items():
        groups += ["", f"{len(rows)} not ready: {needed}", *rows]
    return "\n".join(groups)


def offer_tools(session: ChatSession | None, typed: str) -> Iterable[Offer]:
    if session is None or session.opened is None:
        return VALUES["tools"]()
    return [(tool.name, str(tool.effect)) for tool in list(session.opened.chat.registry)]


COMMAND = SlashCommand(
    "tools", "/tools [NAME]", "list the tools", list_or_describe_tools, complete=offer_tools
)
