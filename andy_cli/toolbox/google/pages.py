"""What goes to the model at once: a page of a text, the beginning of a list. Pure."""

import json
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from andy_cli.guard.neutralizer import one_line

PAGE = 20_000
"""Characters of a text at once."""

LIST = 30_000
"""Characters of a list, as JSON."""

T = TypeVar("T")
Told = dict[str, object]


def page(text: str, offset: int = 0) -> Told:
    """A piece of a text, and how to get the next one."""
    piece = text[offset : offset + PAGE]
    return {"text": piece, **onward(offset, piece, len(text) > offset + PAGE)}


def onward(offset: int, piece: str, more: bool) -> Told:
    """How to get what follows a piece; nothing where it was the last."""
    if not more:
        return {}
    at = offset + len(piece)
    return {"truncated": f"The text goes on: call again with offset {at}.", "nextOffset": at}


def fitting(items: Sequence[T], most: int = LIST) -> list[T]:
    """The first items, as many as can be told at once; one at least."""
    kept: list[T] = []
    for item in items:
        most -= len(json.dumps(item, ensure_ascii=False, default=str)) + 2
        if most < 0 and kept:
            break
        kept.append(item)
    return kept


class Rest(NamedTuple):
    """How to get what is not told."""

    of_more: str
    """Where there is more than was asked for."""
    of_long: str
    """Where it is too much to be told at once."""


def cut(items: Sequence[object], kept: Sequence[object], more: bool, rest: Rest) -> Told:
    """What is said of a list that is not whole; nothing of one that is."""
    if len(kept) < len(items):
        return {"truncated": f"{len(items) - len(kept)} more were found. {rest.of_long}"}
    return {"truncated": f"There are more. {rest.of_more}"} if more else {}


def short(text: str, most: int = 60) -> str:
    """Foreign words within a sentence of ours: one line, in quotes."""
    line = " ".join(one_line(text[: 4 * most]).split())
    return f"'{line if len(line) <= most else line[: most - 3] + '...'}'"


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
