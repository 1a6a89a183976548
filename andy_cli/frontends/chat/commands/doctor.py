"""/doctor: what works and what does not, each with the command that mends it."""

from andy_cli.frontends.chat.command import Command
from andy_cli.frontends.chat.desk import Desk


async def doctor(desk: Desk, argument: str) -> str:
    # It imports what looks into every corner, and is asked for rarely.
    from andy_cli.frontends.doctor.command import format_findings, look_at_everything

    desk.tell("Looking, for five seconds at most ...")
    return "\n".join(format_findings(await look_at_everything(desk.options)))


COMMAND = Command("doctor", "/doctor", "what works, and what mends the rest", doctor)
