"""/export: this session as a new file, to read or for programs."""

import asyncio
from pathlib import Path

from andy_cli.errors import UsageError
from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.slash_command import SlashCommand
from andy_cli.frontends.command_line.completion_values import VALUES
from andy_cli.frontends.management.sessions_command import EXPORTS, find_card, write_export

DEFAULT = "md"


async def export_session(session: ChatSession, argument: str) -> str:
    """Write the session to a new file. Raises UsageError: nothing is kept, or no file is made."""
    if session.options.no_session:
        raise UsageError("With --no-session nothing is kept.", "Start andy without it.")
    format, file = read_argument(argument)
    if not session.is_kept:
        raise UsageError("Nothing has been said yet.")
    path = Path(file or f"andy-{session.session_id}.{format}").expanduser()
    await asyncio.to_thread(write_export, find_card(session.session_id), format, str(path))
    return f"Written to {path}."


def read_argument(argument: str) -> tuple[str, str]:
    """Take the format and the file apart: a format stands first or last, else the ending is one.

    Raises UsageError where none of them is a format: a file of no known one helps nobody.
    """
    if not argument:
        return DEFAULT, ""
    first, _, behind = argument.partition(" ")
    if first in EXPORTS:
        return first, behind.strip()
    before, _, last = argument.rpartition(" ")
    if last in EXPORTS:
        return last, before.strip()
    ending = Path(argument).suffix.removeprefix(".")
    if ending not in EXPORTS:
        formats = ", ".join(EXPORTS)
        raise UsageError(
            f"{argument!r} names no format that a session can be exported to ({formats}).",
            f"Name one before the file, as `/export {DEFAULT} talk.txt`.",
        )
    return ending, argument


COMMAND = SlashCommand(
    "export",
    "/export [md|json|jsonl] [FILE]",
    "save this session as a file",
    export_session,
    complete=lambda session, typed: VALUES["exports"](),
)
