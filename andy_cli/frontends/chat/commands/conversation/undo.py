"""/undo: take back what the file tools changed last, one call at a time."""

import asyncio

from andy_cli.errors import UsageError
from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.slash_command import SlashCommand
from andy_cli.frontends.session_factory import enter_workspace
from andy_cli.messages import Message

NOTHING_TO_UNDO = "There is nothing to take back."
UNDO_NOTE = "(The user took back what you did: {did}. Do not do it again unless they ask for it.)"
EARLIER, SKIP = "earlier", "skip"


async def undo_change(session: ChatSession, argument: str) -> str:
    """Take back the last change. Raises ToolError if the file changed since, and UsageError."""
    # Loaded with the first change of a file.
    from andy_cli.toolbox.files.history.undoing import (
        describe_earlier,
        skip_last,
        take_back_earlier,
        take_back_last,
    )

    if argument not in ("", EARLIER, SKIP):
        raise UsageError(f"/undo takes nothing, `{EARLIER}` or `{SKIP}`: not {argument!r}.")
    if session.opened is None:
        # No model is needed to take back what was done in an earlier conversation.
        enter_workspace(session.options, session.options.settings())
    if argument == SKIP:
        skipped = await asyncio.to_thread(skip_last)
        return f"Left as it is: {skipped}." if skipped else NOTHING_TO_UNDO
    summary = await asyncio.to_thread(take_back_earlier if argument else take_back_last)
    if summary:
        if session.opened is not None:
            session.opened.chat.history.add(
                Message("user", UNDO_NOTE.format(did=summary), note=True)
            )
        return f"Taken back: {summary}."
    earlier = await asyncio.to_thread(describe_earlier)
    if not earlier:
        return NOTHING_TO_UNDO
    return (
        f"{NOTHING_TO_UNDO} Before this conversation: {earlier}.\n/undo {EARLIER} takes that back."
    )


COMMAND = SlashCommand(
    "undo",
    "/undo [earlier|skip]",
    "undo the last change of files",
    undo_change,
    details=f"""/undo takes back the last call that changed files; again, the one before it.
/undo {EARLIER} takes back a change of an earlier conversation in this folder.
/undo {SKIP} leaves the change as it is: the next /undo takes back the one before it.
A file that was changed since stays as it is, and the model is told what was taken back.""",
)
