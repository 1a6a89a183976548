"""The type of a slash command."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from andy_cli.errors import UsageError
from andy_cli.frontends.chat.chat_session import ChatSession

Offer = tuple[str, str]
"""One word that may stand after a command's name, and what it means."""


class CommandPrompt(NamedTuple):
    """The return value of a command whose text is sent to the model as the user's message."""

    text: str
    typed: str
    """The part of it that the user typed."""


NO_PROMPT = CommandPrompt("", "")


@dataclass(frozen=True, slots=True)
class SlashCommand:
    name: str
    usage: str
    about: str
    run: Callable[[ChatSession, str], Awaitable[str | CommandPrompt]]
    """(the session, what stood after the name) -> what to print, or to send."""
    aliases: tuple[str, ...] = ()
    complete: Callable[[ChatSession | None, str], Iterable[Offer]] = lambda session, typed: ()
    """(the session once there is one, what stands after the name) -> what could stand there.

    Called in a thread, without a network: who pressed Tab waits for it.
    """
    takes_text: bool = False
    """Takes whatever is typed after its name, also where its usage names nothing."""
    details: str = ""
    """More of what it takes than the usage says; `/help NAME` shows it."""


def check_argument(command: SlashCommand, typed_name: str, argument: str) -> None:
    """Raise UsageError for an argument of a command whose usage is its name alone."""
    if argument and not command.takes_text and command.usage == f"/{command.name}":
        # Whoever types `/clear the list` meant something else: nothing may be done for it.
        raise UsageError(
            f"/{typed_name} takes nothing, not {argument!r}: nothing is done.",
            f"Type /{typed_name} alone.",
        )
