"""/resume: leave this conversation, which stays on disk, and go on with an earlier one."""

from andy_cli.frontends.chat.commands.sessions.sessions import list_or_resume, offer_sessions
from andy_cli.frontends.chat.slash_command import SlashCommand

COMMAND = SlashCommand(
    "resume", "/resume [ID]", "continue an earlier session", list_or_resume, complete=offer_sessions
)
