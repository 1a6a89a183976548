"""/help: what can be typed here."""

from andy_cli.discover import discover
from andy_cli.frontends.chat import commands
from andy_cli.frontends.chat.command import Command
from andy_cli.frontends.chat.desk import Desk

MARKS = """!COMMAND runs a command line and andy learns what it printed; !!COMMAND: it does not.
@PATH attaches a file or folder: @notes.txt, @src/a.py:10-20, @"with blanks"."""
KEYS = """Enter sends; while an answer is written it queues, and Up takes back what is queued.
Alt-Enter or Ctrl-J starts a new line, Ctrl-G opens your editor, Up and Ctrl-R find what was said.
Esc and Ctrl-C stop what is going on; Ctrl-C clears the line, twice on an empty one leaves, as
Ctrl-D does."""


async def help(desk: Desk, argument: str) -> str:
    found = discover(commands, Command, "COMMAND")
    width = max(len(each.usage) for each in found)
    lines = [f"{each.usage.ljust(width)}  {each.about}" for each in found]
    return "\n".join([*lines, "", MARKS, KEYS])


COMMAND = Command("help", "/help", "this page", help, aliases=("?",))
