"""/export: this session as a new file, to read or for programs."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

from andy_cli.errors import UsageError
from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.slash_command import Offer, SlashCommand
from andy_cli.frontends.command_line.completion_values import VALUES
from andy_cli.frontends.management.sessions_command import EXPORTS, find_card, write_export


async def export_session(session: ChatSession, argument: str) -> str:
    """Write the session to a new file. Raises UsageError: nothing is kept, or no file is made."""
    if session.options.no_session:
        raise UsageError("With --no-session nothing is kept.", "Start andy without it.")
    if not session.is_kept:
        raise UsageError("Nothing has been said yet.")
    format, file = read_argument(argument)
    path = Path(file or f"andy-{session.session_id}.{format}").expanduser()
    await asyncio.to_thread(write_export, find_card(session.session_id), format, str(path))
    return f"Written to {path}."


def read_argument(argument: str) -> tuple[str, str]:
    """The format and the file; what names no format is a file, whose ending tells it."""
    first, _, file_name = argument.partition(" ")
    if first in EXPORTS:
        return first, file_name.strip()
    ending = Path(argument).suffix.removeprefix(".")
    return ending if ending in EXPORTS else "md", argument


def offer_formats(session: ChatSession | None, typed: str) -> Iterable[Offer]:
    return VALUES["exports"]()


COMMAND = SlashCommand(
    "export",
    "/export [md|json|jsonl] [FILE]",
    "save this session as a file",
    export_session,
    complete=offer_formats,
)
