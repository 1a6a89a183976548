"""/mode: what needs a yes from now on."""

from collections.abc import Iterable
from dataclasses import replace
from typing import cast, get_args

from andy_cli.errors import UsageError
from andy_cli.frontends.chat.command import Command, Offer
from andy_cli.frontends.chat.desk import Desk
from andy_cli.guard.gate import Mode

MODES = {
    "ask": "reading inside the folder is free, everything else is asked",
    "plan": "nothing is changed",
    "edits": "files inside the folder may be changed",
    "auto": "everything but destruction is done without a question",
}


async def mode(desk: Desk, argument: str) -> str:
    gate = (await desk.opened()).chat.gate
    if argument:
        if argument not in get_args(Mode):
            raise UsageError(f"There is no mode {argument!r}.", f"There are: {', '.join(MODES)}.")
        gate.mode = cast(Mode, argument)
        desk.options = replace(desk.options, mode=argument, yes=False)  # also after /clear
    return f"{gate.mode}: {MODES[gate.mode]}."


def complete(desk: Desk | None, typed: str) -> Iterable[Offer]:
    return MODES.items()


COMMAND = Command(
    "mode", "/mode [ask|plan|edits|auto]", "what needs a yes", mode, complete=complete
)
