"""What the audit is given and what it finds."""

from typing import NamedTuple


class Deed(NamedTuple):
    """A call that was made, in words: `play 01.mp3` was to be done, `started 01.mp3` was."""

    tool: str
    action: str
    did: str
    ok: bool


class Evidence(NamedTuple):
    """All that an answer may rest on. `results` are texts or JSON, oldest first."""

    results: tuple[str, ...]
    user: str = ""
    history: tuple[str, ...] = ()
    deeds: tuple[Deed, ...] = ()


class Claim(NamedTuple):
    """A piece of the answer that can be checked: `answer[start:end] == text`."""

    text: str
    start: int
    end: int
    kind: str
    """file, path, address, url, id, subject, item, name, date, weekday, time, duration, size,
    percent, count, number or deed."""


class Backed(NamedTuple):
    """A sentence of the answer and the piece of a result that backs it; None where none does."""

    sentence: str
    result: int | None
    """Which result, counted from 0."""
    snippet: str = ""
