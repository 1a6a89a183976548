"""/mode: when andy asks before it acts, from now on."""

from andy_cli.errors import UsageError
from andy_cli.frontends.chat.chat_session import MODES, ChatSession
from andy_cli.frontends.chat.slash_command import SlashCommand


async def show_or_set_mode(session: ChatSession, argument: str) -> str:
    if argument:
        if argument not in MODES:
            raise UsageError(f"There is no mode {argument!r}.", f"There are: {', '.join(MODES)}.")
        session.set_mode(argument)
    return f"{session.mode}: {MODES[session.mode]}."


COMMAND = SlashCommand(
    "mode",
    "/mode [ask|plan|edits|auto]",
    "when andy asks before it acts",
    show_or_set_mode,
    complete=lambda session, typed: MODES.items(),
    details="\n".join(f"{name}: {meaning}" for name, meaning in MODES.items())
    + "\n/mode alone shows the mode; Shift-Tab goes through all but auto.",
)
