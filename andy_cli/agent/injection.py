"""Keep data and the model's own words apart: escape what it is told, know what it merely repeats.

Data on its way to a model has its control tokens broken: a page that holds `<|im_end|>` would end
the message it stands in, and a model that quotes `<tool_call>` would seem to ask for a tool. Behind
the first character of each a word joiner is put in, which nobody sees; in what the model asks for
it is taken out again, so that a file keeps the characters it has. Bare JSON is left alone: there is
nothing to break.

A request may be a page's wish and not the model's: it stands in a block quote or between quotation
marks, or it repeats what a tool returned. With text dialects a model that quotes a hostile file
writes the same characters as one that asks.
"""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import cast

from andy_cli.compiler import dialects
from andy_cli.compiler.control_tokens import CLOSERS, FORMS, LITERAL, REASONING, RESULTS
from andy_cli.compiler.dialect import Dialect
from andy_cli.discover import discover
from andy_cli.messages import Arguments, ToolRequest

JOINER = "\u2060"
FRAMES = (
    r"\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_(?:RESULTS?|CALLS)"
    r"|Tool (?:Results?|Request))\])"
    r"|<(?=<?/?SYS>>|/?s>|(?:bos|eos|pad|unk|start_of_turn|end_of_turn)>"
    rf"|/?(?:{'|'.join(RESULTS)})>|{'|'.join(form[1:] for form in FORMS)})"
    r"|A(?=NDYBOT (?:ASKS|RESPONDS))"
)
"""Frames of messages and of results, which no dialect lists as its own."""
ANY = re.compile("[<\\[@>\u273f]|andybot|functools", re.IGNORECASE)


def escape_control_tokens(text: str) -> str:
    """Shapes stay: JSON is JSON afterwards. Linear."""
    if not ANY.search(text):
        return text
    return _markers().sub(lambda match: match[0] + JOINER, text)


def unescape_control_tokens(arguments: Arguments | None) -> Arguments | None:
    """What a model wrote, with the data it copied as it was."""
    return None if arguments is None else cast(Arguments, _unescaped(arguments))


def _unescaped(value: object) -> object:
    if isinstance(value, str):
        return value.replace(JOINER, "") if JOINER in value else value
    if isinstance(value, Mapping):
        return {key: _unescaped(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_unescaped(each) for each in value]
    return value


@cache
def _markers() -> re.Pattern[str]:
    """The first character of every marker there is, where the rest of it follows."""
    rests: dict[str, set[str]] = {}
    for text in {*_written(), *LITERAL, *REASONING, *CLOSERS}:
        if len(text) > 3 and text[0] in "<[@>\u273f\u25c1":
            rests.setdefault(text[0], set()).add(re.escape(text[1:]))
    listed = [
        f"{re.escape(first)}(?={'|'.join(sorted(each, key=len))})" for first, each in rests.items()
    ]
    words = r"(?i:d(?=ear andybot|eear andybot)|f(?=unctools\s*\[))"
    return re.compile("|".join([FRAMES, *listed, words]))


def _written() -> Iterable[str]:
    for each in discover(dialects, Dialect, "DIALECT"):
        yield from (*each.openers, *each.line_openers, *each.reply_openers, *each.closers)


BLANK = re.compile(r"[\s\\\"'`>\u2060]+")
"""What differs between a text and its quotation, or its place in JSON."""
SHORTEST = 8
"""Letters of a command, or of arguments, that are no coincidence."""
FRAMING = re.compile(r"(?:\s+|</[^<>\s]{1,40}>|<\|[^<>|\s]{1,40}\|>|\[/[A-Z_]{1,40}\])*")
"""What may stand between a request and the quotation mark behind it."""
MARKS = {'"': '"', "'": "'", "\u201c": "\u201d", "\u201e": "\u201c", "\u00ab": "\u00bb"}


def is_quoted(request: ToolRequest, raw: str) -> bool:
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


def is_copied(request: ToolRequest, raw: str, results: Iterable[str]) -> bool:
    """Whether it stands in a result as it was written, with its notation.

    `raw` is the reply, `results` what tools returned before it.
    """
    start, end = request.span
    written = _plain(raw[start:end])
    return len(written) >= SHORTEST and any(written in _plain(each) for each in results)


def repeats_result(request: ToolRequest, raw: str, results: Iterable[str]) -> bool:
    """Whether somebody should be asked: a result may have put it into the model's mouth.

    It is looked for as it was written, by its name together with its arguments in whatever
    notation, and by a command line in its arguments. What a user asked for may look the same: the
    build command that a README names, a file whose name is like a tool's.
    """
    results = list(results)
    told = [_plain(each) for each in results]
    if not told:
        return False
    if is_copied(request, raw, results):
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
