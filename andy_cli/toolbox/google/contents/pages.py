"""The part that goes to the model at once: a page of a text, the beginning of a list. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from andy_cli.guard.terminal_sanitizer import one_line
from andy_cli.toolbox.files.names import count_noun
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
    page_text = text[offset : offset + PAGE]
    return {"text": page_text, **describe_next(offset, page_text, len(text) > offset + PAGE)}


def describe_next(offset: int, page_text: str, has_more: bool) -> Told:
    """Describe how to get what follows a piece; nothing where it was the last."""
    if not has_more:
        return {}
    next_offset = offset + len(page_text)
    return {
        "truncated": f"The text goes on: call again with offset {next_offset}.",
        "nextOffset": next_offset,
    }


def fitting_items(items: Sequence[object], most_characters: int = LIST) -> list[object]:
    """The first items, as many as can be told at once, their texts cut to a bearable length."""
    fitting: list[object] = []
    for item in items:
        short_item = clip_texts(item, TEXT)
        most_characters -= len(json.dumps(short_item, ensure_ascii=False, default=str)) + 2
        # A first one that is long alone is better than nothing, but not whatever its length.
        if most_characters < 0 and (fitting or most_characters < -2 * LIST):
            break
        fitting.append(short_item)
    return fitting


def text_outcome(data: Mapping[str, object], summary: str) -> Outcome:
    """Make the outcome of a tool, whatever length of text it was sent."""
    return Outcome(clip_texts(data, PAGE), summary)


def clip_texts(value: object, most_characters: int) -> object:
    """Cut the texts in a value, and long lists too."""
    if isinstance(value, str):
        if len(value) <= most_characters:
            return value
        return f"{value[:most_characters]}... ({len(value)} characters)"
    if isinstance(value, Mapping):
        return {
            clip_texts(key, TEXT): clip_texts(inner_value, most_characters)
            for key, inner_value in value.items()
        }
    if isinstance(value, list | tuple):
        return [clip_texts(element, most_characters) for element in value[:ENTRIES]]
    return value


class TextRest(NamedTuple):
    """The ways to get what is not told."""

    of_more: str
    """The note for more than was asked for."""
    of_long: str
    """The note for too much to be told at once."""


def list_outcome(
    key: str, items: Sequence[object], has_more: bool, rest: TextRest, noun: str, place: str = ""
) -> Outcome:
    """Make the outcome of a tool that lists: as many items as can be told, and where it was cut."""
    fitting = fitting_items(items)
    data: Told = {key: fitting}
    if len(fitting) < len(items):
        data["truncated"] = f"{len(items) - len(fitting)} more were found. {rest.of_long}"
    elif has_more:
        data["truncated"] = f"There are more. {rest.of_more}"
    return text_outcome(data, f"found {count_noun(len(items), noun)}{place}")


def shorten_words(text: str, most_characters: int = 60) -> str:
    """Foreign words within a sentence of ours: one line, in quotes."""
    line = " ".join(one_line(text[: 4 * most_characters]).split())
    return f"'{line if len(line) <= most_characters else line[: most_characters - 3] + '...'}'"
