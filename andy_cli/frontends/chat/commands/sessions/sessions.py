"""/sessions: this folder's other sessions, numbered; with a number or an id, as /resume."""

from collections.abc import Iterable
from pathlib import Path

from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.slash_command import Offer, SlashCommand
from andy_cli.frontends.command_line import completion_values
from andy_cli.frontends.session_choice import number_sessions, pick_session


async def list_or_resume(session: ChatSession, argument: str) -> str:
    """List the sessions, or resume one. Raises UsageError if it does not exist or is in use."""
    if argument:
        return await session.resume_session(
            pick_session(argument, session.offered_sessions or session.offer_others())
        )
    offered = session.offer_others()
    if not offered:
        return "No other session was held in this folder."
    return f"{number_sessions(offered)}\n/resume NUMBER, or an id, goes on with one."


def offer_sessions(session: ChatSession | None, typed: str) -> Iterable[Offer]:
    """The newest sessions of this folder, without the one that is held."""
    current_id = session.session_id if session is not None else ""
    return (
        offer
        for offer in completion_values.list_recent_sessions(Path.cwd())
        if offer[0] != current_id
    )


COMMAND = SlashCommand(
    "sessions",
    "/sessions [ID]",
    "list the earlier sessions of this folder",
    list_or_resume,
    complete=offer_sessions,
)
