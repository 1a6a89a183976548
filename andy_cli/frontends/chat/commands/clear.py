"""/clear: a new conversation with the same model; the old one stays on disk."""

from andy_cli.frontends.chat.command import Command
from andy_cli.frontends.chat.desk import Desk


async def clear(desk: Desk, argument: str) -> str:
    await desk.close()
    return "A new conversation."


COMMAND = Command("clear", "/clear", "start a new conversation", clear, ("new", "reset"))
