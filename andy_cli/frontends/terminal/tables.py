"""Print lines, values as JSON, and rows as columns that are as wide as they need to be."""

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from textwrap import wrap

GAP = "  "
INDENT = 4
"""Columns before the last cell where the ones before it leave too little room beside them."""
MIN_LAST_SHARE = 0.35
"""The part of the screen that the last column needs to stand beside the others."""


def shorten_text(text: str, longest: int) -> str:
    """The beginning of a text that has more characters, with dots behind it."""
    return text if len(text) <= longest else f"{text[:longest]}..."


def print_json(value: object) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def print_line(text: str) -> None:
    sys.stdout.write(text + "\n")


def print_table(rows: Sequence[Sequence[str]]) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in format_table(rows)))


def format_table(rows: Sequence[Sequence[str]], width: int | None = None) -> list[str]:
    """Lines of columns as wide as they need to be, the last one free.

    It is broken between words where a row is wider than `width`, by default that of the screen;
    into a pipe nothing is broken.
    """
    width = find_screen_width() if width is None else width
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines: list[str] = []
    for row in rows:
        cells = [cell.ljust(size) for cell, size in zip(row, widths, strict=True)]
        lines += break_row(cells, width)
    return lines


def find_screen_width() -> int:
    """The columns of the screen; 0 where nothing is drawn on one."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


def break_row(cells: Sequence[str], width: int) -> Iterator[str]:
    """Break a row that is too wide within its last cell, and go on below where that began."""
    line = GAP.join(cells).rstrip()
    beginning = GAP.join([*cells[:-1], ""])
    if not width or len(line) <= width or not cells[-1].strip():
        yield line
        return
    if width - len(beginning) < MIN_LAST_SHARE * width:
        yield beginning.rstrip()
        beginning = " " * INDENT
    pieces = wrap(
        cells[-1].strip(),
        max(1, width - len(beginning)),
        break_long_words=False,
        break_on_hyphens=False,
    )
    for piece in pieces:
        yield f"{beginning}{piece}"
        beginning = " " * len(beginning)
