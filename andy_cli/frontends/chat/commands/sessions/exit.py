"""/exit: leave; the music ends too."""

from andy_cli.frontends.chat.chat_session import Desk
from andy_cli.frontends.chat.slash_command import Command


async def leave(desk: Desk, argument: str) -> str:
    desk.over = True
    return ""


COMMAND = Command("exit", "/exit", "leave (also exit, quit, :q, Ctrl-D)", leave, ("quit", "q"))
