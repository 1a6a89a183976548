"""/mode: when andy asks before it acts, from now on."""

from collections.abc import Iterable

from andy_cli.errors import UsageError
from andy_cli.frontends.chat.chat_session import MODES, ChatSession
from andy_cli.frontends.chat.slash_command import Offer, SlashCommand


async def show_or_set_mode(session: ChatSession, argument: str) -> str:
    if argument:
        if argument not in MODES:
            raise UsageError(f"There is no mode {argument!r}.", f"There are: {', '.join(MODES)}.")
        session.set_mode(argument)
    return f"{session.mode}: {MODES[session.mode]}."


def offer_modes(session: ChatSession | None, typed: str) -> Iterable[Offer]:
    return MODES.items()


COMMAND = SlashCommand(
    "mode",
    "/mode [ask|plan|edits|auto]",
    "when andy asks before it acts",
    show_or_set_mode,
    complete=offer_modes,
)
