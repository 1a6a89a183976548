"""The lines that a change changes, for the user before the yes and after: bounded, with counts.

1 line added, 1 removed
@@ -1,3 +1,3 @@
 one
-two
+three
"""

import difflib
import re
from collections.abc import Sequence
from typing import NamedTuple

from andy_cli.toolbox.files.names import count_noun

HEAD, TAIL = 1000, 200
"""Lines that are kept of a long change; a screen shows fewer, and all of these on request."""
WIDEST = 1000
"""Characters of a line that are kept."""
COMPARED = 2000
"""Lines that differ up to which they are compared: beyond that it takes too long."""
AROUND = 3
"""Lines that stay, shown around what changes."""


HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
"""The header of a hunk: its first lines in the old and in the new text."""


class FileChange(NamedTuple):
    summary: str
    """`1 line added, 2 removed`, `new file, 3 lines`."""
    diff: str = ""
    """Hunks of a unified diff; `\\ 12 lines more, not shown` where something is left out."""


class Change(NamedTuple):
    lines: list[str]
    added: int
    removed: int


def compare_texts(old: str, new: str) -> FileChange:
    """Describe the change from one text to the other."""
    change = _compare_lines(_split_lines(old), _split_lines(new))
    if not change.lines:
        return FileChange("nothing changes" if old == new else "only line endings change")
    return FileChange(_describe_counts(change), "\n".join(shorten_diff(change.lines)))


def describe_new_text(text: str) -> FileChange:
    """The change that makes a file of this text."""
    lines = _split_lines(text)
    added = [f"+{line}" for line in lines]
    header = [f"@@ -0,0 +1,{len(lines)} @@"] * bool(lines)
    summary = f"new file, {count_noun(len(lines), 'line')}"
    return FileChange(summary, "\n".join(shorten_diff([*header, *added])))


def _describe_counts(change: Change) -> str:
    if not change.removed:
        return f"{count_noun(change.added, 'line')} added"
    if not change.added:
        return f"{count_noun(change.removed, 'line')} removed"
    return f"{count_noun(change.added, 'line')} added, {change.removed:,} removed"


def _split_lines(text: str) -> list[str]:
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines if lines[-1] else lines[:-1]


def _compare_lines(old: Sequence[str], new: Sequence[str]) -> Change:
    """Only what differs is compared: what is alike at both ends may be long."""
    head = _count_alike(old, new)
    tail = _count_alike(old[head:][::-1], new[head:][::-1])
    start = max(0, head - AROUND)
    stop = max(0, tail - AROUND)
    before, after = old[start : len(old) - stop], new[start : len(new) - stop]
    if len(before) + len(after) > COMPARED:
        header = f"@@ -{start + 1},{len(before)} +{start + 1},{len(after)} @@"
        found = [header, *(f"-{line}" for line in before), *(f"+{line}" for line in after)]
        return Change(found, len(after), len(before))
    unified = [*difflib.unified_diff(before, after, lineterm="", n=AROUND)][2:]
    return Change(
        [_move_hunk(line, start) for line in unified],
        sum(line.startswith("+") for line in unified),
        sum(line.startswith("-") for line in unified),
    )


def _count_alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Count the lines that are the same from the start on."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _move_hunk(line: str, by: int) -> str:
    """The numbers of a hunk as they are in the whole file."""
    if not line.startswith("@@ "):
        return line
    _, old, new, _ = line.split(" ")
    return f"@@ -{_shift_span(old, by)} +{_shift_span(new, by)} @@"


def _shift_span(span: str, by: int) -> str:
    start, comma, length = span[1:].partition(",")
    return f"{int(start) + by}{comma}{length}"


def shorten_diff(lines: Sequence[str]) -> list[str]:
    """Keep head and tail of a long diff, with how many lines stand between them."""
    narrow = [
        line if len(line) <= WIDEST else f"{line[:WIDEST]} [... {len(line) - WIDEST:,} more]"
        for line in lines
    ]
    if len(narrow) <= HEAD + TAIL + 1:
        return narrow
    before, tail = narrow[:-TAIL], narrow[-TAIL:]
    note = f"\\ {count_noun(len(before) - HEAD, 'line')} more, not shown"
    # What stands behind the gap keeps its numbers.
    header = [] if HUNK.match(tail[0]) else [_header_behind(before)]
    return [*before[:HEAD], note, *header, *tail]


def _header_behind(lines: Sequence[str]) -> str:
    """The header of a hunk that goes on behind these lines of a diff."""
    old = new = 1
    for line in lines:
        if found := HUNK.match(line):
            old, new = int(found[1]), int(found[2])
            continue
        old += line.startswith((" ", "-"))
        new += line.startswith((" ", "+"))
    return f"@@ -{old} +{new} @@"
