"""/tools: what andy can do, in the user's words; no model is needed."""

from collections.abc import Iterable

from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.slash_command import Offer, SlashCommand
from andy_cli.frontends.chat.typed_command import find_tools
from andy_cli.frontends.command_line.completion_values import VALUES
from andy_cli.frontends.management.tools_command import (
    describe_tool,
    find_tool,
    format_tools,
)


async def list_or_describe_tools(session: ChatSession, argument: str) -> str:
    """List all tools, or describe one. Raises UsageError for an unknown tool."""
    registry = find_tools(session)
    if argument:
        return describe_tool(find_tool(argument, registry))
    return "\n".join(format_tools(registry))


def offer_tools(session: ChatSession | None, typed: str) -> Iterable[Offer]:
    if session is None or session.opened is None:
        return VALUES["tools"]()
    return [(tool.name, str(tool.effect)) for tool in list(session.opened.chat.registry)]


COMMAND = SlashCommand(
    "tools", "/tools [NAME]", "list the tools", list_or_describe_tools, complete=offer_tools
)
