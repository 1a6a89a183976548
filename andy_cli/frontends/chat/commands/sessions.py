"""/sessions: this folder's other sessions, numbered for /resume."""

from andy_cli.errors import UsageError
from andy_cli.frontends.chat.command import Command
from andy_cli.frontends.chat.desk import Desk
from andy_cli.frontends.resuming import numbered


async def sessions(desk: Desk, argument: str) -> str:
    if argument:
        raise UsageError("/sessions takes nothing.", "`andy sessions search TEXT` searches.")
    offered = desk.offer()
    if not offered:
        return "No other session was held in this folder."
    return f"{numbered(offered)}\n/resume NUMBER, or an id, goes on with one."


COMMAND = Command("sessions", "/sessions", "what was said here before", sessions)
