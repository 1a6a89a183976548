"""What a slash command is."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from andy_cli.frontends.chat.desk import Desk


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    usage: str
    about: str
    run: Callable[[Desk, str], Awaitable[str]]
    """(the desk, what stood behind the name) -> what to print."""
    aliases: tuple[str, ...] = ()
