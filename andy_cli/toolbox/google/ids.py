"""Ids as models and people write them: bare, or within the address of the thing in a browser."""

import re
from typing import NamedTuple
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from andy_cli.errors import ToolError
from andy_cli.foreign_values import decode_base64url
from andy_cli.guard.terminal_sanitizer import spell_out

ID = re.compile(r"[A-Za-z0-9_-]{1,256}")
IN_PATH = re.compile(r"/(?:d|folders|feeds/download/\w+)/(?:e/)?([A-Za-z0-9_-]+)")
MAX_SHOWN_CHARACTERS = 60
"""Characters of an id that are shown in an error."""


class EventId(NamedTuple):
    """The id of an event, and that of its calendar."""

    id: str
    calendar: str
    """Empty where only the event was named."""


def file_id(written: str, noun: str) -> str:
    """The id of a file of any kind in Drive. Raises ToolError for what cannot be one."""
    if "/" not in written:
        return plain_id(written, noun)
    google_address = _google_address(written, noun)
    in_path = IN_PATH.search(google_address.path)
    query_ids = parse_qs(google_address.query).get("id", [""])
    return plain_id(in_path[1] if in_path else query_ids[0], noun)


def plain_id(written: str, noun: str, advice: str = "") -> str:
    """An id that goes into a path. Raises ToolError, with the advice, for what cannot be one."""
    candidate = written.strip().strip("\"'<>")
    if not ID.fullmatch(candidate):
        raise ToolError(f"{show_id(written)} is no id of {noun}.", advice)
    return candidate


def event_id(written: str) -> EventId:
    """An event, by its id or by its link, which names the calendar too."""
    if "/" not in written:
        return EventId(plain_id(written, "an event"), "")
    google_address = _google_address(written, "an event")
    last_name = google_address.path.rpartition("/")[2]
    coded = parse_qs(google_address.query).get("eid", [last_name])[0]
    try:
        decoded = decode_base64url(coded).decode()
    except ValueError:
        decoded = ""
    id, _, calendar = decoded.partition(" ")
    # Such links write the domain of Google's own addresses short.
    calendar = re.sub(r"@(m|g|v|i)$", lambda end: DOMAINS[end[1]], calendar)
    return EventId(plain_id(id or coded, "an event"), calendar)


DOMAINS = {
    "m": "@gmail.com",
    "g": "@group.calendar.google.com",
    "v": "@group.v.calendar.google.com",
    "i": "@import.calendar.google.com",
}


def calendar_id(written: str) -> str:
    """`primary`, or an id, which looks like a mail address, or a link that holds it."""
    candidate = written.strip() or "primary"
    if "://" in candidate:
        query = parse_qs(_google_address(candidate, "a calendar").query)
        candidate = (query.get("src") or query.get("cid") or [""])[0]
    if not re.fullmatch(r"[^\s/?\x00-\x1f\x7f]{1,256}", candidate) or set(candidate) <= {"."}:
        raise ToolError(f"{show_id(written)} is no id of a calendar.", "calendar_list gives them.")
    return candidate


def _google_address(written: str, noun: str) -> SplitResult:
    """An address in the browser. Those of other hosts may hold anything."""
    text = written.strip().strip("\"'<>")
    try:
        url_parts = urlsplit(text if "://" in text else f"https://{text}")
        host = url_parts.hostname or ""
    except ValueError:
        host = ""
    if host != "google.com" and not host.endswith(".google.com"):
        raise ToolError(f"{show_id(written)} is neither an id of {noun} nor an address of Google.")
    return url_parts._replace(path=unquote(url_parts.path))


def check_title(written: str, noun: str) -> str:
    """A title in one line. Raises ToolError where there is none."""
    if title := " ".join(written.split()):
        return title
    raise ToolError(f"{noun.capitalize()} needs a title.")


def show_id(written: str) -> str:
    """As it stands in an error: every character seen, and not too many."""
    text = spell_out(written)
    return f"'{text if len(text) <= MAX_SHOWN_CHARACTERS else text[:MAX_SHOWN_CHARACTERS] + '...'}'"
