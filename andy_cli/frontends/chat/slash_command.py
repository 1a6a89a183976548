"""What a slash command is."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from andy_cli.frontends.chat.chat_session import Desk

Offer = tuple[str, str]
"""All that may stand behind a command's name, and what it means."""


class Prompt(NamedTuple):
    """What a command returns to have it sent to the model as the user's message."""

    text: str


def takes_nothing(desk: Desk | None, typed: str) -> Iterable[Offer]:
    """Complete the argument of a command that has none."""
    return ()


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    usage: str
    about: str
    run: Callable[[Desk, str], Awaitable[str | Prompt]]
    """(the desk, what stood behind the name) -> what to print, or to send."""
    aliases: tuple[str, ...] = ()
    complete: Callable[[Desk | None, str], Iterable[Offer]] = takes_nothing
    """(the desk once there is one, what stands behind the name) -> what could stand there.

    Called in a thread, without a network: who pressed Tab waits for it.
    """
