"""The part that goes to the model at once: a page of a text, the beginning of a list. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from andy_cli.guard.terminal_sanitizer import one_line
from andy_cli.toolbox.tool import Outcome

PAGE = 20_000
"""Characters of a text at once."""

LIST = 30_000
"""Characters of a list, as JSON."""

TEXT = 2_000
"""Characters of a text that is one among many."""

ENTRIES = 10_000
"""Entries of a list."""

Told = dict[str, object]


def page_of_text(text: str, offset: int = 0) -> Told:
    """A piece of a text, and how to get the next one."""
    piece = text[offset : offset + PAGE]
    return {"text": piece, **describe_next(offset, piece, len(text) > offset + PAGE)}


def describe_next(offset: int, piece: str, more: bool) -> Told:
    """Describe how to get what follows a piece; nothing where it was the last."""
    if not more:
        return {}
    at = offset + len(piece)
    return {"truncated": f"The text goes on: call again with offset {at}.", "nextOffset": at}


def fitting_items(items: Sequence[object], most: int = LIST) -> list[object]:
    """The first items, as many as can be told at once, their texts cut to a bearable length."""
    kept: list[object] = []
    for item in items:
        short_item = clip_texts(item, TEXT)
        most -= len(json.dumps(short_item, ensure_ascii=False, default=str)) + 2
        # A first one that is long alone is better than nothing, but not whatever its length.
        if most < 0 and (kept or most < -2 * LIST):
            break
        kept.append(short_item)
    return kept


def outcome(data: Mapping[str, object], did: str) -> Outcome:
    """Make the outcome of a tool, whatever length of text it was sent."""
    return Outcome(clip_texts(data, PAGE), did)


def clip_texts(value: object, most: int) -> object:
    """The same with its texts cut, and long lists too."""
    if isinstance(value, str):
        return value if len(value) <= most else f"{value[:most]}... ({len(value)} characters)"
    if isinstance(value, Mapping):
        return {clip_texts(key, TEXT): clip_texts(part, most) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [clip_texts(element, most) for element in value[:ENTRIES]]
    return value


class TextRest(NamedTuple):
    """The ways to get what is not told."""

    of_more: str
    """The note for more than was asked for."""
    of_long: str
    """The note for too much to be told at once."""


def describe_cut(
    items: Sequence[object], kept: Sequence[object], more: bool, rest: TextRest
) -> Told:
    """Describe where a list was cut; nothing of one that is."""
    if len(kept) < len(items):
        return {"truncated": f"{len(items) - len(kept)} more were found. {rest.of_long}"}
    return {"truncated": f"There are more. {rest.of_more}"} if more else {}


def shorten_words(text: str, most: int = 60) -> str:
    """Foreign words within a sentence of ours: one line, in quotes."""
    line = " ".join(one_line(text[: 4 * most]).split())
    return f"'{line if len(line) <= most else line[: most - 3] + '...'}'"


def count_noun(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
