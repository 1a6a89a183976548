"""/undo: take back what the file tools changed last, one call at a time."""

import asyncio

from andy_cli.errors import UsageError
from andy_cli.frontends.chat.command import Command
from andy_cli.frontends.chat.desk import Desk
from andy_cli.frontends.opening import enter_workspace
from andy_cli.messages import Message

NOTHING = "There is nothing to take back."
TOLD = "(The user took back what you did: {did}. Do not do it again unless they ask for it.)"
EARLIER = "earlier"


async def undo(desk: Desk, argument: str) -> str:
    """Raises ToolError where something was changed since, UsageError for another argument."""
    # Loaded with the first change of a file.
    from andy_cli.toolbox.files.history.undoing import (
        describe_earlier,
        take_back_earlier,
        take_back_last,
    )

    if argument not in ("", EARLIER):
        raise UsageError(f"/undo takes nothing, or `{EARLIER}`: not {argument!r}.")
    if desk.open is None:
        # No model is needed to take back what was done in an earlier conversation.
        enter_workspace(desk.options, desk.options.settings())
    did = await asyncio.to_thread(take_back_earlier if argument else take_back_last)
    if did:
        if desk.open is not None:
            desk.open.chat.history.add(Message("user", TOLD.format(did=did), note=True))
        return f"Taken back: {did}."
    earlier = await asyncio.to_thread(describe_earlier)
    if not earlier:
        return NOTHING
    return f"{NOTHING} Before this conversation: {earlier}.\n/undo {EARLIER} takes that back."


COMMAND = Command("undo", "/undo [earlier]", "take back the last change of files", undo)
