"""Data on its way to a model: what would be a marker in it is broken, so that it stays data.

A page that holds `<|im_end|>` would end the message it stands in, and a model that quotes
`<tool_call>` would seem to ask for a tool. Behind the first character of each marker a word joiner
is put in, which nobody sees; in what the model asks for it is taken out again, so that a file keeps
the characters it has. The form of calls that is bare JSON is left alone: there is nothing to break.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import cast

from andy_cli.compiler import dialects
from andy_cli.compiler.dialect import Dialect
from andy_cli.compiler.markers import REASONING, TURN
from andy_cli.discover import discover
from andy_cli.messages import Arguments

JOINER = "\u2060"
FRAMES = (
    r"\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_(?:RESULTS?|CALLS)"
    r"|Tool (?:Results?|Request))\])"
    r"|<(?=<?/?SYS>>|\|[^|<>\s]{1,60}\|?>|/?s>|(?:bos|eos|pad|unk|start_of_turn|end_of_turn)>"
    r"|/?tool_(?:response|result)s?>)"
    r"|A(?=NDYBOT (?:ASKS|RESPONDS))"
)
"""Frames of messages and of results, which no dialect lists as its own."""
ANY = re.compile("[<\\[@>\u273f]|andybot|functools", re.IGNORECASE)


def defused(text: str) -> str:
    """Shapes stay: JSON is JSON afterwards. Linear."""
    if not ANY.search(text):
        return text
    return _markers().sub(lambda match: match[0] + JOINER, text)


def restored(arguments: Arguments | None) -> Arguments | None:
    """What a model wrote, with the data it copied as it was."""
    return None if arguments is None else cast(Arguments, _restored(arguments))


def _restored(value: object) -> object:
    if isinstance(value, str):
        return value.replace(JOINER, "") if JOINER in value else value
    if isinstance(value, Mapping):
        return {key: _restored(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_restored(each) for each in value]
    return value


@cache
def _markers() -> re.Pattern[str]:
    """The first character of every marker there is, where the rest of it follows."""
    rests: dict[str, set[str]] = {}
    for text in {*_written(), *TURN, *REASONING, *sum(REASONING.values(), ())}:
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
