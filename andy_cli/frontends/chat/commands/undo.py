"""/undo: take back what the file tools changed last, one call at a time."""

import asyncio

from andy_cli.frontends.chat.command import Command
from andy_cli.frontends.chat.desk import Desk
from andy_cli.messages import Message

NOTHING = "There is nothing to take back."
TOLD = "(The user took back what you did: {did}. Do not do it again unless they ask for it.)"


async def undo(desk: Desk, argument: str) -> str:
    """Raises ToolError where something was changed since by somebody else."""
    # Loaded with the first change of a file.
    from andy_cli.toolbox.files.undoing import take_back_last

    if desk.open is None:
        return NOTHING
    did = await asyncio.to_thread(take_back_last)
    if not did:
        return NOTHING
    desk.open.chat.add(Message("user", TOLD.format(did=did), note=True))
    return f"Taken back: {did}."


COMMAND = Command("undo", "/undo", "take back the last change of files", undo)
