"""Which lines of a file are asked for: `lines 2 to 4`, `die ersten drei Zeilen`. Pure."""

import re
from collections.abc import Sequence

from andy_cli.models.inside.values.numbers import (
    LINE,
    find_numbers,
    find_place,
    names_line,
    without_things,
)
from andy_cli.models.inside.values.parameters import Parameter
from andy_cli.models.inside.values.words import find_plain_words

FIRST = "first|ersten?|primer[oa]s?|premier(?:e?s)?|prim[ieoa]"
FIRST_WORD = re.compile(rf"\b(?:{FIRST})\b")
LAST = re.compile(r"\b(?:last|final(?:e[sn]?|i)?|letzten?|ultim[oaie]s?|derniere?s?)\b")
SINCE = re.compile(
    rf"\b(?:from|ab|desde|depuis|partir (?:de|da)|dal(?:la)?)(?: \w+){{0,2}} (?:{LINE})\b"
)
"""It begins there and goes on to the end; a file that stands between is a word too many."""
BUT = re.compile(r"\b(?:but|except|ausser|bis auf|ohne|menos|salvo|excepto|sauf|tranne|eccetto)\b")
NUMBER = re.compile(r"\d+")
NAMED = re.compile(rf"\b(?:{LINE}) (\d+)\b")
COUNTED = re.compile(rf"\b(?:(?:{FIRST}) (\d+)|(\d+) (?:{FIRST}|{LINE}))\b")


def find_bounds(parameters: Sequence[Parameter]) -> tuple[str, ...]:
    """Find the names of the parameters for the first and the last line to read, if there are."""
    bounds: dict[str, str] = {}
    for parameter in parameters:
        about = parameter.about.split()
        if not parameter.is_numeric or "line" not in about:
            continue
        for bound in ("first", "last"):
            if bound in about:
                bounds.setdefault(bound, parameter.name)
    return (bounds["first"], bounds["last"]) if len(bounds) == 2 else ()


def read_line_range(text: str) -> tuple[str | None, str | None]:
    """Read the first and the last line asked for, in digits; None where nothing says it.

    How many lines there are nobody knows yet, so `the last two` are not told.
    """
    said = write_digits(text)
    if not names_line(said) or LAST.search(said):
        return None, None
    numbers = NUMBER.findall(said)
    if len(numbers) == 2:
        return numbers[0], numbers[1]
    first, last = read_one_bound(said)
    if BUT.search(said):
        return (str(int(last) + 1) if last else None), None
    return first, None if SINCE.search(said) else last


def read_one_bound(said: str) -> tuple[str | None, str | None]:
    """Read one line by its number or its place, or the number of the first ones."""
    if match := NAMED.search(said):
        return match[1], match[1]
    if match := COUNTED.search(said):
        return None, match[1] or match[2]
    place = find_place(said)
    return (None, None) if place is None else (str(place + 1), str(place + 1))


def count_last_lines(text: str) -> int | None:
    """Count the lines asked for from the end; None where no or all but such ones are, or all from
    the first one on."""
    said = write_digits(text)
    if not (names_line(said) and LAST.search(said)):
        return None
    if BUT.search(said) or FIRST_WORD.search(said):
        return None
    numbers = NUMBER.findall(said) or ["1"]
    return int(numbers[0]) if len(numbers) == 1 else None


def write_digits(text: str) -> str:
    """Write the words without accents, numbers in digits, and something for what is named."""
    text = without_things(text, "x")
    for number, start, end in reversed(find_numbers(text)):
        text = f"{text[:start]}{number:g}{text[end:]}"
    text = re.sub(r"(?<=\d)\s*[-\u2013]\s*(?=\d)", " to ", text)
    return " ".join(find_plain_words(text))
