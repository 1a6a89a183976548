"""/resume: leave this conversation, which stays on disk, and go on with an earlier one."""

from andy_cli.frontends.chat.command import Command
from andy_cli.frontends.chat.commands.sessions import complete, sessions

COMMAND = Command(
    "resume", "/resume [ID]", "go on with an earlier session", sessions, complete=complete
)
