"""/config: the settings in force and where each comes from; one of them, or a new value for it."""

from collections.abc import Iterable

from andy_cli.errors import UsageError
from andy_cli.frontends.chat.chat_session import Desk
from andy_cli.frontends.chat.slash_command import Command, Offer
from andy_cli.frontends.command_line.completion_values import VALUES
from andy_cli.frontends.management.config_command import (
    as_text,
    find_setting,
    keep_setting,
    list_settings,
)
from andy_cli.frontends.terminal.tables import format_table

USAGE = "/config [get KEY|set KEY VALUE]"
WAYS = {
    "get": "one setting and where it comes from",
    "set": "keep a value for conversations to come",
}


async def config(desk: Desk, argument: str) -> str:
    """Raises UsageError for a key that is none, a value that does not fit it, a secret."""
    if not argument:
        settings = desk.options.settings()
        return "\n".join([*format_table(list_settings(settings)), *settings.notes])
    way, key, value = (*argument.split(maxsplit=2), "", "")[:3]
    if way == "get" and key and not value:
        record = find_setting(desk.options.settings(), key)
        return f"{as_text(record['value'])}  ({record['origin']})"
    if way == "set" and value:
        path, instead = keep_setting(key, value)
        return f"Kept in {path}. {instead or 'The next conversation has it: /clear begins one.'}"
    raise UsageError(f"/config takes nothing, get KEY or set KEY VALUE: not {argument!r}.")


def complete(desk: Desk | None, typed: str) -> Iterable[Offer]:
    way, space, _ = typed.partition(" ")
    if not space:
        return WAYS.items()
    return [(f"{way} {key}", about) for key, about in VALUES["keys"]()] if way in WAYS else ()


COMMAND = Command("config", USAGE, "the settings", config, ("settings",), complete)
