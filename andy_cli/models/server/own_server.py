"""Advice where a server of the user's own fails: its user can change how it runs."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from andy_cli.guard.addresses import is_address, is_loopback_url, is_public
from andy_cli.models.client import Provider
from andy_cli.models.known_providers import providers_by_name

ADVICE: Final[Mapping[str, str]] = {
    "context": "{{less}}, or {longer_window}.",
    "server": (
        "What the server itself prints may say more. If it is short of memory, a smaller model or"
        " a shorter context window helps; {{models}} shows what there is."
    ),
}
"""The advice by kind of error."""


def is_own_server(base_url: str) -> bool:
    """Tell whether a server is on this machine or has an address of a private net."""
    host = urlsplit(base_url).hostname or ""
    return is_loopback_url(base_url) or (is_address(host) and not is_public(host))


def advise_owner(error_kind: str, server_kind: str) -> str:
    """Advise on such an error, of a server of that kind."""
    provider = providers_by_name().get(server_kind, Provider(server_kind))
    return ADVICE[error_kind].format(longer_window=provider.longer_window)
