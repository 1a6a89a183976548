"""/mode: what needs a yes from now on."""

from collections.abc import Iterable

from andy_cli.errors import UsageError
from andy_cli.frontends.chat.chat_session import MODES, Desk
from andy_cli.frontends.chat.slash_command import Command, Offer


async def mode(desk: Desk, argument: str) -> str:
    if argument:
        if argument not in MODES:
            raise UsageError(f"There is no mode {argument!r}.", f"There are: {', '.join(MODES)}.")
        desk.set_mode(argument)
    return f"{desk.mode}: {MODES[desk.mode]}."


def complete(desk: Desk | None, typed: str) -> Iterable[Offer]:
    return MODES.items()


COMMAND = Command(
    "mode", "/mode [ask|plan|edits|auto]", "what needs a yes", mode, complete=complete
)
