"""The scopes of a login: parts of Google, each for reading alone or for changing too.

    mail drive calendar docs sheets tasks      as written on the command line
    mail:read                                  reading alone

A scope is written here without its address, as in Google's own list of them
(developers.google.com/identity/protocols/oauth2/scopes).
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from andy_cli.errors import UsageError

ADDRESS = "https://www.googleapis.com/auth/"
WHO = ("openid", f"{ADDRESS}userinfo.email")
"""Only so that `andy google status` can say whose account it is."""


class ScopePart(NamedTuple):
    read: tuple[str, ...]
    change: tuple[str, ...]
    """The scopes for changing, those for reading included."""


PARTS = {
    "mail": ScopePart(("gmail.readonly",), ("gmail.readonly", "gmail.send")),
    "drive": ScopePart(("drive.readonly",), ("drive",)),
    "calendar": ScopePart(
        ("calendar.calendarlist.readonly", "calendar.events.readonly"),
        ("calendar.calendarlist.readonly", "calendar.events"),
    ),
    "docs": ScopePart(("documents.readonly",), ("documents",)),
    "sheets": ScopePart(("spreadsheets.readonly",), ("spreadsheets",)),
    "tasks": ScopePart(("tasks.readonly",), ("tasks",)),
}
ALSO = {
    "drive.readonly": ("drive",),
    "calendar.events.readonly": ("calendar.events",),
    "documents.readonly": ("documents", "drive.readonly", "drive"),
    "documents": ("drive",),
    "spreadsheets.readonly": ("spreadsheets", "drive.readonly", "drive"),
    "spreadsheets": ("drive",),
    "tasks.readonly": ("tasks",),
}
"""Scopes that allow the same."""


def requested_scopes(written: str) -> list[str]:
    """The scopes to ask for, as Google wants them. Raises UsageError for parts there are not."""
    words = written.replace(",", " ").split() or PARTS
    part_scopes = (scope for word in words for scope in _scopes_of(word))
    return [*WHO, *dict.fromkeys(ADDRESS + scope for scope in part_scopes)]


def _scopes_of(word: str) -> tuple[str, ...]:
    name, colon, access_kind = word.lower().partition(":")
    is_kind = access_kind in ("read", "change") if colon else not access_kind
    if name not in PARTS or not is_kind:
        raise UsageError(
            f"There is no part {word!r} of Google to log in for.",
            f"Give some of {', '.join(PARTS)}, separated by commas; `mail:read` only reads.",
        )
    return PARTS[name].read if access_kind == "read" else PARTS[name].change


def is_granted(granted: Collection[str], scope: str) -> bool:
    """Tell whether what was granted is enough for what needs this scope."""
    return any(ADDRESS + enough in granted for enough in (scope, *ALSO.get(scope, ())))


def in_words(granted: Sequence[str]) -> list[str]:
    """The parts that can be used: `mail`, or `mail:read` where nothing can be changed."""
    usable_parts = []
    for name, google_part in PARTS.items():
        if all(is_granted(granted, scope) for scope in google_part.change):
            usable_parts.append(name)
        elif all(is_granted(granted, scope) for scope in google_part.read):
            usable_parts.append(f"{name}:read")
    return usable_parts
