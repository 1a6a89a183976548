"""/copy: the last answer, or a code block of it, to the clipboard of the terminal."""

import base64
import sys

from andy_cli.errors import UsageError
from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.slash_command import SlashCommand
from andy_cli.frontends.terminal.markdown import READER

MAX_BYTES = 74_000
"""Bytes; what many terminals take at most."""


async def copy_answer(session: ChatSession, argument: str) -> str:
    answer = session.last_answer
    if not answer:
        return "There is no answer yet."
    text = find_block(answer, argument) if argument else answer
    data = text.encode()
    if len(data) > MAX_BYTES:
        raise UsageError(f"{len(data):,} bytes are too many for the clipboard of a terminal.")
    if not sys.stdout.isatty():
        raise UsageError("There is no terminal that could copy.")
    # OSC 52: over ssh and in tmux too; terminals that do not know it ignore it.
    sys.stdout.write(f"\x1b]52;c;{base64.b64encode(data).decode()}\x07")
    sys.stdout.flush()
    copied_part = f"Code block {argument}" if argument else "The answer"
    return f"{copied_part} was sent to the terminal for its clipboard, {len(text):,} characters."


def find_block(answer: str, number: str) -> str:
    """A code block by its number from 1. Raises UsageError."""
    blocks = [token.content for token in READER.parse(answer) if token.type == "fence"]
    if not (number.isascii() and number.isdigit() and 0 < int(number) <= len(blocks)):
        count = len(blocks) or "none"
        raise UsageError(f"There is no code block {number!r} in the answer: it has {count}.")
    return blocks[int(number) - 1]


COMMAND = SlashCommand(
    "copy", "/copy [N]", "copy the last answer, or code block N of it", copy_answer
)
