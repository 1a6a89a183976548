"""The hunks of a unified diff as numbered lines, for whoever shows them. Pure.

    @@ -3,2 +3,2 @@        3   one
     one              ->   4 - two
    -two                   4 + 2
    +2

A line that was taken away has its number in the old text, all others theirs in the new one.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.toolbox.files.differences import HUNK

Sign = Literal[" ", "+", "-", "gap"]


class DiffLine(NamedTuple):
    sign: Sign
    """`gap` stands between two hunks, and for lines that were left out."""
    number: int
    """Counted from 1; 0 for a gap."""
    text: str


def read_diff(diff_text: str) -> Iterator[DiffLine]:
    """The lines of a diff, every character as it is; nothing for an empty one."""
    old_number = new_number = 0
    for index, line in enumerate(diff_text.split("\n")):
        if hunk := HUNK.fullmatch(line):
            old_number, new_number = int(hunk[1]), int(hunk[2])
            if index:
                yield DiffLine("gap", 0, "...")
        elif line.startswith("+"):
            yield DiffLine("+", new_number, line[1:])
            new_number += 1
        elif line.startswith("-"):
            yield DiffLine("-", old_number, line[1:])
            old_number += 1
        elif line.startswith(" "):
            yield DiffLine(" ", new_number, line[1:])
            old_number, new_number = old_number + 1, new_number + 1
        elif line.startswith("\\"):
            yield DiffLine("gap", 0, line[1:].strip())


def spell_line(line: DiffLine) -> str:
    """The text of a line with every character seen, also tabs and what a change has at its end."""
    text = line.text
    if line.sign in "+-":
        words = text.rstrip(" \t")
        text = words + text[len(words) :].replace(" ", "·")
    return "\t".join(map(spell_out, text.split("\t"))).replace("\t", "→   ")


def render_diff(diff_text: str) -> Iterator[str]:
    """The diff as plain text, one line for each of it."""
    lines = list(read_diff(diff_text))
    digits = count_digits(lines)
    for line in lines:
        number = str(line.number or "").rjust(digits)
        shown_sign = "" if line.sign == "gap" else line.sign
        yield f"{number} {shown_sign:1} {spell_line(line)}".rstrip()


def count_digits(lines: list[DiffLine]) -> int:
    return len(str(max((line.number for line in lines), default=0)))
