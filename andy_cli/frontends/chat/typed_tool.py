"""Run one tool because the user said so: no model is needed, and nobody is asked."""

from pathlib import Path

from andy_cli.errors import ToolError, UsageError
from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.management.tools_command import find_tool
from andy_cli.frontends.session_factory import enter_workspace
from andy_cli.messages import Arguments, ToolCall
from andy_cli.toolbox.collection import Collection
from andy_cli.toolbox.registry import Registry


async def run_typed_tool(session: ChatSession, name: str, arguments: Arguments) -> str:
    """Run a tool and say what it did. Raises UsageError if that fails."""
    tools = find_tools(session)
    find_tool(name, tools)
    try:
        result = await tools.call_typed(ToolCall("typed", name, arguments))
    except ToolError as error:
        raise UsageError(str(error)) from error
    if not result.ok:
        raise UsageError(result.problem or result.content)
    return f"{result.did}."


def find_tools(session: ChatSession) -> Registry:
    """The tools of the conversation; before there is one, those that need no server."""
    if session.opened is not None:
        return session.opened.chat.registry
    settings = session.options.settings()
    enter_workspace(session.options, settings)
    collection = Collection(settings, Path.cwd().resolve())
    for sentence in collection.take_problems():
        session.tell(sentence)
    return collection.registry
