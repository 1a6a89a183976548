"""/help: what can be typed here."""

from collections.abc import Iterable

from andy_cli.frontends.chat import command_lookup
from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.slash_command import Offer, SlashCommand
from andy_cli.frontends.terminal.tables import format_table

MARKS = """!COMMAND runs a command line and tells the model its output; !!COMMAND only runs it.
@PATH attaches a file or a folder: @notes.txt, @src/a.py:10-20, @"with blanks.txt"."""
KEYS = (
    "Enter sends; while an answer is written it queues, and Up takes back what is queued.",
    "Alt-Enter or Ctrl-J starts a new line, Ctrl-G opens your editor, "
    "Up and Ctrl-R find what was typed before.",
    "Tab completes commands, what they take, and paths after an @.",
    "Shift-Tab changes the mode, Ctrl-O shows in full what was shortened.",
    "Esc and Ctrl-C stop what is going on; Ctrl-C clears the line, twice on an empty one leaves, "
    "as Ctrl-D does.",
)


ADDED = "Of your own, or of this project:"


async def show_help(session: ChatSession, argument: str) -> str:
    """List all commands, or describe one. Raises UsageError if there is no such command."""
    if argument:
        return describe_command(command_lookup.find_command(argument.removeprefix("/"), session))
    added_commands = command_lookup.list_added(session)
    lines = format_table(
        [(command.usage, command.about) for command in command_lookup.list_commands()]
    )
    if added_commands.commands:
        rows = [(command.usage, command.about) for command in added_commands.commands]
        lines += ["", ADDED, *format_table(rows)]
    return "\n".join([*lines, *added_commands.notes, "", MARKS, *KEYS])


def describe_command(command: SlashCommand) -> str:
    alias_list = ", ".join(f"/{alias}" for alias in command.aliases)
    lines = [f"{command.usage}  {command.about}", command.details]
    lines += [f"also: {alias_list}"] if alias_list else []
    return "\n".join(filter(None, lines))


def offer_commands(session: ChatSession | None, typed: str) -> Iterable[Offer]:
    known_commands = (*command_lookup.list_commands(), *command_lookup.list_added(session).commands)
    return [(command.name, command.about) for command in known_commands]


COMMAND = SlashCommand(
    "help", "/help [COMMAND]", "show this page", show_help, ("?",), offer_commands
)
