"""Run one tool because the user said so: no model is needed, and nobody is asked."""

from pathlib import Path

from andy_cli.errors import ToolError, UsageError
from andy_cli.frontends.chat.chat_session import Desk
from andy_cli.frontends.management.tools_command import known_tool
from andy_cli.frontends.session_factory import enter_workspace
from andy_cli.guard.workspace import resolve
from andy_cli.messages import Arguments, ToolCall
from andy_cli.toolbox.collection import Collection
from andy_cli.toolbox.registry import Registry


async def run_tool(desk: Desk, name: str, arguments: Arguments) -> str:
    """What it did, in words. Raises UsageError for what it cannot do."""
    tools = find_tools(desk)
    known_tool(name, tools)
    call = ToolCall("typed", name, arguments)
    try:
        claim = tools.claim(call)
        granted = claim.grants([resolve(path, Path.cwd(), op) for path, op in claim.uses])
    except ToolError as error:
        raise UsageError(str(error)) from error
    result = await tools.call(call, granted)
    if not result.ok:
        raise UsageError(result.problem or result.content)
    return f"{result.did}."


def find_tools(desk: Desk) -> Registry:
    """The tools of the conversation; before there is one, those that need no server."""
    if desk.open is not None:
        return desk.open.chat.registry
    settings = desk.options.settings()
    enter_workspace(desk.options, settings)
    found = Collection(settings, Path.cwd().resolve())
    for sentence in found.take_problems():
        desk.tell(sentence)
    return found.registry
