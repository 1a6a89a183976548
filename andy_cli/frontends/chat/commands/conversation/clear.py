"""/clear: a new conversation with the same model; the old one stays on disk."""

from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.slash_command import SlashCommand


async def clear_conversation(session: ChatSession, argument: str) -> str:
    await session.close()
    return "A new conversation."


COMMAND = SlashCommand(
    "clear", "/clear", "start a new conversation", clear_conversation, ("new", "reset")
)
