"""/doctor: what works and what does not, each with the command that mends it."""

from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.slash_command import SlashCommand


async def run_doctor(session: ChatSession, argument: str) -> str:
    # It imports what looks into every corner, and is asked for rarely.
    from andy_cli.frontends.doctor.doctor_command import check_everything, format_findings

    session.tell("Looking, for five seconds at most ...")
    return "\n".join(format_findings(await check_everything(session.options)))


COMMAND = SlashCommand(
    "doctor", "/doctor", "check the setup, and show how to fix what is wrong", run_doctor
)
