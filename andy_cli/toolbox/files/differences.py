"""What a change would change, for the user to see before the yes: bounded, with counts.

a.txt: 1 line added, 1 line taken away
@@ -1,3 +1,3 @@
 one
-two
+three
"""

import difflib
from collections.abc import Sequence
from typing import NamedTuple

from andy_cli.toolbox.files.names import count

HEAD, TAIL = 120, 40
"""Lines that are shown of a long change."""
WIDEST = 400
"""Characters of a line that are shown."""
COMPARED = 2000
"""Lines that differ up to which they are compared: beyond that it takes too long."""
AROUND = 3
"""Lines that stay, shown around what changes."""


class Change(NamedTuple):
    lines: list[str]
    added: int
    removed: int


def difference(name: str, old: str, new: str) -> str:
    """The change from one text to the other; a first line with the counts."""
    change = _compared(_lines(old), _lines(new))
    if not change.lines:
        same = "the text stays as it is" if old == new else "only line endings change"
        return f"{name}: {same}"
    counts = []
    if change.added:
        counts.append(f"{count(change.added, 'line')} added")
    if change.removed:
        counts.append(f"{count(change.removed, 'line')} taken away")
    return "\n".join([f"{name}: {', '.join(counts)}", *shortened(change.lines)])


def _lines(text: str) -> list[str]:
    lines = [each.removesuffix("\r") for each in text.split("\n")]
    return lines if lines[-1] else lines[:-1]


def _compared(old: Sequence[str], new: Sequence[str]) -> Change:
    """Only what differs is compared: what is alike at both ends may be long."""
    head = _alike(old, new)
    tail = _alike(old[head:][::-1], new[head:][::-1])
    start = max(0, head - AROUND)
    stop = max(0, tail - AROUND)
    before, after = old[start : len(old) - stop], new[start : len(new) - stop]
    if len(before) + len(after) > COMPARED:
        found = [f"-{each}" for each in before] + [f"+{each}" for each in after]
        return Change(found, len(after), len(before))
    unified = [*difflib.unified_diff(before, after, lineterm="", n=AROUND)][2:]
    return Change(
        [_moved(each, start) for each in unified],
        sum(each.startswith("+") for each in unified),
        sum(each.startswith("-") for each in unified),
    )


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines are the same from the start on."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _moved(line: str, by: int) -> str:
    """The numbers of a hunk as they are in the whole file."""
    if not line.startswith("@@ "):
        return line
    _, old, new, _ = line.split(" ")
    return f"@@ -{_later(old, by)} +{_later(new, by)} @@"


def _later(span: str, by: int) -> str:
    start, comma, length = span[1:].partition(",")
    return f"{int(start) + by}{comma}{length}"


def shortened(lines: Sequence[str]) -> list[str]:
    """Head and tail of a long list of lines, with how many stand between them."""
    narrow = [
        each if len(each) <= WIDEST else f"{each[:WIDEST]} [... {len(each) - WIDEST:,} more]"
        for each in lines
    ]
    if len(narrow) <= HEAD + TAIL + 1:
        return narrow
    left = count(len(narrow) - HEAD - TAIL, "line")
    return [*narrow[:HEAD], f"[... {left} more, not shown ...]", *narrow[-TAIL:]]
