"""/clear: a new conversation with the same model; the old one stays on disk."""

from andy_cli.frontends.chat.chat_session import Desk
from andy_cli.frontends.chat.slash_command import Command


async def clear(desk: Desk, argument: str) -> str:
    await desk.close()
    return "A new conversation."


COMMAND = Command("clear", "/clear", "start a new conversation", clear, ("new", "reset"))
