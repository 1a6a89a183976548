"""/resume: leave this conversation, which stays on disk, and go on with an earlier one."""

from andy_cli.frontends.chat.command import Command
from andy_cli.frontends.chat.commands.sessions import sessions
from andy_cli.frontends.chat.desk import Desk
from andy_cli.frontends.resuming import pick_session


async def resume(desk: Desk, argument: str) -> str:
    """Raises UsageError: there is no such session, or another andy writes it."""
    if not argument:
        return await sessions(desk, "")
    return await desk.resume(pick_session(argument, desk.offered or desk.offer()))


COMMAND = Command("resume", "/resume [ID]", "go on with an earlier session", resume)
