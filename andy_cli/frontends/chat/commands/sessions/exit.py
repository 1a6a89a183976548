"""/exit: leave; the music ends too."""

from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.slash_command import SlashCommand


async def leave_chat(session: ChatSession, argument: str) -> str:
    session.is_over = True
    return ""


COMMAND = SlashCommand(
    "exit", "/exit", "leave (also exit, quit, :q, Ctrl-D)", leave_chat, ("quit", "q")
)
