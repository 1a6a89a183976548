"""/clear: a new conversation with the same model; the old one stays on disk."""

import contextlib

from andy_cli.errors import AndyError
from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.slash_command import SlashCommand


async def clear_conversation(session: ChatSession, argument: str) -> str:
    await session.close()
    # The status line names who answers next; what is wrong is told with the next message.
    with contextlib.suppress(AndyError):
        await session.open_conversation(early=True)
    return "A new conversation."


COMMAND = SlashCommand(
    "clear", "/clear", "start a new conversation", clear_conversation, ("new", "reset")
)
