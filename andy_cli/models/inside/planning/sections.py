"""Headings in a text, which say what the lines below them are about. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

MARK = "#"
ITEM_MARKS = ("- ", "* ", "\u2022 ")
MAX_HEADING_WORDS = 6


class HeadedLine(NamedTuple):
    """A line that says something, and the heading above it; a heading has none."""

    text: str
    heading: str = ""
    is_heading: bool = False

    @property
    def is_item(self) -> bool:
        """It is one of a list."""
        return self.text.startswith(ITEM_MARKS)


def read_headed_lines(lines: Sequence[str]) -> list[HeadedLine]:
    """Read the lines that are not blank, each with its heading."""
    headed: list[HeadedLine] = []
    heading = ""
    for above, line, below in zip(["", *lines], lines, [*lines[1:], ""], strict=False):
        if not any(map(str.isalnum, line)):
            continue
        if is_heading(above, line, below):
            # The title of all of it says no more than its name does.
            heading = line.lstrip(MARK).strip(" :") if headed else ""
            headed.append(HeadedLine(line, is_heading=True))
        else:
            headed.append(HeadedLine(line, heading))
    return headed


def is_heading(above: str, line: str, below: str) -> bool:
    """Tell whether a line is a heading: by its mark, or few words between a blank line and another
    line, without a figure or a sign of a sentence or a list.
    """
    if line.startswith(MARK):
        return True
    is_apart = not above.strip() and bool(below.strip())
    is_plain = all(char.isalpha() or char in " '&-" for char in line.rstrip(":"))
    return is_apart and is_plain and len(line.split()) <= MAX_HEADING_WORDS and line[:1] != "-"
