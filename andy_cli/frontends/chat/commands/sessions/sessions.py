"""/sessions: this folder's other sessions, numbered; with a number or an id, as /resume."""

from collections.abc import Iterable
from pathlib import Path

from andy_cli.frontends.chat.chat_session import Desk
from andy_cli.frontends.chat.slash_command import Command, Offer
from andy_cli.frontends.command_line import completion_values
from andy_cli.frontends.session_choice import numbered, pick_session


async def sessions(desk: Desk, argument: str) -> str:
    """Raises UsageError: there is no such session, or another andy writes it."""
    if argument:
        return await desk.resume(pick_session(argument, desk.offered or desk.offer()))
    offered = desk.offer()
    if not offered:
        return "No other session was held in this folder."
    return f"{numbered(offered)}\n/resume NUMBER, or an id, goes on with one."


def complete(desk: Desk | None, typed: str) -> Iterable[Offer]:
    """The newest sessions of this folder, without the one that is held."""
    held = desk.session_id if desk is not None else ""
    return (each for each in completion_values.sessions(Path.cwd()) if each[0] != held)


COMMAND = Command("sessions", "/sessions", "what was said here before", sessions, complete=complete)
