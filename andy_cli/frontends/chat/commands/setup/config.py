"""/config: the settings in force and where each comes from; one of them, or a new value for it."""

from collections.abc import Iterable

from andy_cli.errors import UsageError
from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.slash_command import Offer, SlashCommand
from andy_cli.frontends.command_line.completion_values import VALUES
from andy_cli.frontends.management.config_command import (
    find_setting,
    format_value,
    keep_setting,
    list_settings,
)
from andy_cli.frontends.terminal.tables import format_table

USAGE = "/config [get KEY|set KEY VALUE]"
WAYS = {
    "get": "one setting and where it comes from",
    "set": "keep a value for conversations to come",
}


async def manage_settings(session: ChatSession, argument: str) -> str:
    """Show, get or set settings. Raises UsageError for a wrong key or value, or a secret."""
    if not argument:
        settings = session.options.settings()
        return "\n".join([*format_table(list_settings(settings)), *settings.notes])
    action, key, value = (*argument.split(maxsplit=2), "", "")[:3]
    if action == "get" and key and not value:
        record = find_setting(session.options.settings(), key)
        return f"{format_value(record['value'])}  ({record['origin']})"
    if action == "set" and value:
        path, instead = keep_setting(key, value)
        return f"Kept in {path}. {instead or 'The next conversation has it: /clear begins one.'}"
    raise UsageError(f"/config takes nothing, get KEY or set KEY VALUE: not {argument!r}.")


def offer_keys(session: ChatSession | None, typed: str) -> Iterable[Offer]:
    action, space, _ = typed.partition(" ")
    if not space:
        return WAYS.items()
    return [(f"{action} {key}", about) for key, about in VALUES["keys"]()] if action in WAYS else ()


COMMAND = SlashCommand(
    "config", USAGE, "show or change the settings", manage_settings, ("settings",), offer_keys
)
