"""/exit: leave; the music ends too."""

from andy_cli.frontends.chat.command import Command
from andy_cli.frontends.chat.desk import Desk


async def leave(desk: Desk, argument: str) -> str:
    desk.over = True
    return ""


COMMAND = Command("exit", "/exit", "leave (also exit, quit, :q, Ctrl-D)", leave, ("quit", "q"))
