"""Find the slash command that is meant, and complete one while it is typed."""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from andy_cli.discover import discover
from andy_cli.errors import AndyError, UsageError
from andy_cli.frontends.chat import commands
from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.markdown_commands import FoundCommands, find_markdown_commands
from andy_cli.frontends.chat.slash_command import Offer, SlashCommand
from andy_cli.guard.terminal_sanitizer import neutralize_text
from andy_cli.settings import load

MAX_OFFERED = 200
"""Values of an argument that are offered at most."""
MAX_NEAREST = 3
MIN_SIMILARITY = 0.65
"""The part of a name that has to be right for it to be recognised."""


class CompletionOffer(NamedTuple):
    """A text that may replace the last characters before the cursor."""

    replaced: int
    value: str
    about: str


def list_commands() -> list[SlashCommand]:
    """Andy's own commands, by their names."""
    return sorted(discover(commands, SlashCommand, "COMMAND"), key=lambda command: command.name)


def list_added(session: ChatSession | None) -> FoundCommands:
    """The commands in files of the user and of the project, and what is wrong with others."""
    taken_names = [name for command in list_commands() for name in (command.name, *command.aliases)]
    try:
        settings = session.options.settings() if session is not None else load()
    except UsageError as error:
        return FoundCommands(notes=(str(error),))
    return find_markdown_commands(settings, taken_names)


def find_command(name: str, session: ChatSession | None) -> SlashCommand:
    """The command of exactly this name or alias; a slash alone asks for help.

    Raises UsageError that names the nearest.
    """
    name = name or "help"
    known_commands = list_commands()
    for command in known_commands:
        if name.lower() in (command.name, *command.aliases):
            return command
    added_commands = list_added(session).commands
    for command in added_commands:
        if name.lower() == command.name:
            return command
    known_commands += added_commands
    nearest_names = " or ".join(f"/{word}" for word in find_nearest(name.lower(), known_commands))
    suggestion = f" Did you mean {nearest_names}?" if nearest_names else ""
    raise UsageError(f"There is no /{name}.{suggestion} /help lists what there is.")


def find_nearest(name: str, known_commands: Sequence[SlashCommand]) -> list[str]:
    """The names and aliases that begin with this one, else those most like it; one a command."""
    owners = {
        word: command.name
        for command in known_commands
        for word in (command.name, *command.aliases)
    }
    beginning = [word for word in owners if name and word.startswith(name)]
    words: dict[str, str] = {}
    for word in beginning or difflib.get_close_matches(
        name, owners, n=MAX_NEAREST, cutoff=MIN_SIMILARITY
    ):
        words.setdefault(owners[word], word)
    return list(words.values())[:MAX_NEAREST]


def find_offers(typed: str, session: object) -> list[CompletionOffer]:
    """Complete the end of a line that begins with a slash, before its cursor.

    Nothing where there is something wrong: in the middle of a line nobody can be told.
    """
    name, space, argument = typed[1:].partition(" ")
    chat_session = session if isinstance(session, ChatSession) else None
    if not space:
        names = offer_names(name, chat_session)
        return [
            CompletionOffer(len(typed), f"/{offered_name}", about) for offered_name, about in names
        ]
    argument = argument.lstrip()
    try:
        offers = list(find_command(name, chat_session).complete(chat_session, argument))
    except (AndyError, OSError, RuntimeError, ValueError):
        # RuntimeError: tools may come while they are listed, as this is another thread.
        return []
    return [CompletionOffer(len(argument), *offer) for offer in match_offers(offers, argument)]


def offer_names(beginning: str, session: ChatSession | None) -> Iterator[Offer]:
    """The commands whose name begins so; by an alias where only that does."""
    for command in (*list_commands(), *list_added(session).commands):
        names = [command.name, *(command.aliases if beginning else ())]
        name = next((word for word in names if word.startswith(beginning.lower())), None)
        if name is not None:
            yield name, neutralize_text(command.about)


def match_offers(offers: Iterable[Offer], typed: str) -> list[Offer]:
    """The offers that begin so, else those that hold it somewhere; none with odd characters."""
    sought = typed.lower()
    meanings = dict(offers)
    values = [value for value in meanings if neutralize_text(value) == value]
    matching_values = [value for value in values if value.lower().startswith(sought)]
    if not matching_values:
        matching_values = [value for value in values if sought in value.lower()]
    return [(value, neutralize_text(meanings[value])) for value in matching_values[:MAX_OFFERED]]
