"""Whether a request is a quotation: then it may be a page's wish and not the model's.

It stands in a block quote or between quotation marks, or it repeats what a tool returned. With text
dialects a model that quotes a hostile file writes the same characters as one that asks.
"""

import json
import re
from collections.abc import Iterable

from andy_cli.messages import ToolRequest

BLANK = re.compile(r"[\s\\\"'`>\u2060]+")
"""What differs between a text and its quotation, or its place in JSON."""
SHORTEST = 8
"""Letters of a command, or of arguments, that are no coincidence."""
FRAMING = re.compile(r"(?:\s+|</[^<>\s]{1,40}>|<\|[^<>|\s]{1,40}\|>|\[/[A-Z_]{1,40}\])*")
"""What may stand between a request and the quotation mark behind it."""
MARKS = {'"': '"', "'": "'", "\u201c": "\u201d", "\u201e": "\u201c", "\u00ab": "\u00bb"}


def cited(request: ToolRequest, raw: str) -> bool:
    """Whether it stands in a block quote of the reply, or right between quotation marks."""
    start, end = request.span
    if start == end:
        return False
    line = raw[raw.rfind("\n", 0, start) + 1 : start].strip()
    if line.startswith(">"):
        return True
    behind = FRAMING.match(raw, end)
    before, after = line[-1:], raw[behind.end() if behind else end :][:1]
    return before in MARKS and after == MARKS[before]


def copied(request: ToolRequest, raw: str, results: Iterable[str]) -> bool:
    """Whether it stands in a result as it was written, with its notation.

    `raw` is the reply, `results` what tools returned before it.
    """
    start, end = request.span
    written = _plain(raw[start:end])
    return len(written) >= SHORTEST and any(written in _plain(each) for each in results)


def repeats(request: ToolRequest, raw: str, results: Iterable[str]) -> bool:
    """Whether somebody should be asked: a result may have put it into the model's mouth.

    It is looked for as it was written, by its name together with its arguments in whatever
    notation, and by a command line in its arguments. What a user asked for may look the same: the
    build command that a README names, a file whose name is like a tool's.
    """
    results = list(results)
    told = [_plain(each) for each in results]
    if not told:
        return False
    if copied(request, raw, results):
        return True
    arguments = request.arguments or {}
    values = [_plain(each) for each in _texts(arguments)]
    name = _plain(request.name).lower()
    if (
        values
        and any(name in each.lower() and all(value in each for value in values) for each in told)
        and sum(map(len, values)) >= SHORTEST
    ):
        return _beside(name, values, told)
    lines = [_plain(each) for each in _commands(arguments)]
    return any(len(line) >= SHORTEST and line in each for line in lines for each in told)


NEAR = 400
"""Characters around a tool's name in which its arguments stand, if it is a call."""


def _beside(name: str, values: list[str], told: list[str]) -> bool:
    for each in told:
        for match in re.finditer(re.escape(name), each, re.IGNORECASE):
            around = each[match.start() : match.end() + NEAR]
            if all(value in around for value in values):
                return True
    return False


def _commands(arguments: object) -> list[str]:
    """Texts that may be command lines: several words under a name that says so."""
    if not isinstance(arguments, dict):
        return []
    return [
        each
        for key, each in arguments.items()
        if isinstance(each, str)
        and " " in each.strip()
        and key in ("command", "cmd", "script", "code")
    ]


def _texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in _texts(each)]
    if isinstance(value, list):
        return [text for each in value for text in _texts(each)]
    return [value if isinstance(value, str) else json.dumps(value)]


def _plain(text: str) -> str:
    return BLANK.sub("", text)
