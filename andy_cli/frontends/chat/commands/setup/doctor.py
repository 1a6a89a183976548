"""/doctor: what works and what does not, each with the command that mends it."""

from andy_cli.frontends.chat.chat_session import Desk
from andy_cli.frontends.chat.slash_command import Command


async def doctor(desk: Desk, argument: str) -> str:
    # It imports what looks into every corner, and is asked for rarely.
    from andy_cli.frontends.doctor.doctor_command import format_findings, look_at_everything

    desk.tell("Looking, for five seconds at most ...")
    return "\n".join(format_findings(await look_at_everything(desk.options)))


COMMAND = Command("doctor", "/doctor", "what works, and what mends the rest", doctor)
