"""/resume: leave this conversation, which stays on disk, and go on with an earlier one."""

from andy_cli.frontends.chat.commands.sessions.sessions import complete, sessions
from andy_cli.frontends.chat.slash_command import Command

COMMAND = Command(
    "resume", "/resume [ID]", "go on with an earlier session", sessions, complete=complete
)
