"""Find the slash command that is meant, and complete one while it is typed."""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from andy_cli.discover import discover
from andy_cli.errors import AndyError, UsageError
from andy_cli.frontends.chat import commands
from andy_cli.frontends.chat.chat_session import Desk
from andy_cli.frontends.chat.markdown_commands import FoundCommands, find_markdown_commands
from andy_cli.frontends.chat.slash_command import Command, Offer
from andy_cli.guard.terminal_sanitizer import neutralize_text
from andy_cli.settings import load

OFFERED = 200
"""Values of an argument that are offered at most."""
NEAREST = 3
SIMILAR = 0.65
"""How much of a name has to be right for it to be recognised."""


class Replacement(NamedTuple):
    """What may take the place of the last characters before the cursor."""

    replaced: int
    value: str
    about: str


def list_commands() -> list[Command]:
    """Andy's own commands, by their names."""
    return sorted(discover(commands, Command, "COMMAND"), key=lambda command: command.name)


def list_added(desk: Desk | None) -> FoundCommands:
    """The commands in files of the user and of the project, and what is wrong with others."""
    taken = [name for command in list_commands() for name in (command.name, *command.aliases)]
    try:
        settings = desk.options.settings() if desk is not None else load()
    except UsageError as error:
        return FoundCommands(notes=(str(error),))
    return find_markdown_commands(settings, taken)


def find_command(name: str, desk: Desk | None) -> Command:
    """The command of exactly this name or alias; a slash alone asks for help.

    Raises UsageError that names the nearest.
    """
    name = name or "help"
    known = list_commands()
    for command in known:
        if name.lower() in (command.name, *command.aliases):
            return command
    added = list_added(desk).commands
    for command in added:
        if name.lower() == command.name:
            return command
    known += added
    near = " or ".join(f"/{word}" for word in find_nearest(name.lower(), known))
    meant = f" Did you mean {near}?" if near else ""
    raise UsageError(f"There is no /{name}.{meant} /help lists what there is.")


def find_nearest(name: str, known: Sequence[Command]) -> list[str]:
    """The names and aliases that begin with this one, else those most like it; one a command."""
    owners = {word: command.name for command in known for word in (command.name, *command.aliases)}
    begun = [word for word in owners if name and word.startswith(name)]
    words: dict[str, str] = {}
    for word in begun or difflib.get_close_matches(name, owners, n=NEAREST, cutoff=SIMILAR):
        words.setdefault(owners[word], word)
    return list(words.values())[:NEAREST]


def find_offers(typed: str, desk: object) -> list[Replacement]:
    """What may stand at the end of a line that begins with a slash, before its cursor.

    Nothing where there is something wrong: in the middle of a line nobody can be told.
    """
    name, space, argument = typed[1:].partition(" ")
    opened = desk if isinstance(desk, Desk) else None
    if not space:
        names = offer_names(name, opened)
        return [Replacement(len(typed), f"/{each}", about) for each, about in names]
    argument = argument.lstrip()
    try:
        offers = list(find_command(name, opened).complete(opened, argument))
    except (AndyError, OSError, RuntimeError, ValueError):
        # RuntimeError: tools may come while they are listed, as this is another thread.
        return []
    return [Replacement(len(argument), *offer) for offer in matching(offers, argument)]


def offer_names(begun: str, desk: Desk | None) -> Iterator[Offer]:
    """The commands whose name begins so; by an alias where only that does."""
    for command in (*list_commands(), *list_added(desk).commands):
        names = [command.name, *(command.aliases if begun else ())]
        name = next((each for each in names if each.startswith(begun.lower())), None)
        if name is not None:
            yield name, neutralize_text(command.about)


def matching(offers: Iterable[Offer], typed: str) -> list[Offer]:
    """The offers that begin so, else those that hold it somewhere; none with odd characters."""
    sought = typed.lower()
    shown = [offer for offer in dict(offers).items() if neutralize_text(offer[0]) == offer[0]]
    begun = [offer for offer in shown if offer[0].lower().startswith(sought)]
    found = begun or [offer for offer in shown if sought in offer[0].lower()]
    return [(value, neutralize_text(about)) for value, about in found[:OFFERED]]
