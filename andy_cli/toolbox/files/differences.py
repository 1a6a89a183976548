"""The lines that a change changes, for the user before the yes and after: bounded, with counts.

1 line added, 1 removed
@@ -1,3 +1,3 @@
 one
-two
+three
"""

import difflib
import re
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from andy_cli.foreign_values import replace_surrogates
from andy_cli.toolbox.files.names import count_noun

HEAD, TAIL = 1000, 200
"""Lines that are kept of a long change; a screen shows fewer, and all of these on request."""
MAX_LINE_LENGTH = 1000
"""Characters of a line that are kept."""
LEAD_LENGTH = 100
"""Characters of a longer line that are kept in front of where it changes."""
MAX_COMPARED_LINES = 2000
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


def compare_texts(old_text: str, new_text: str) -> FileChange:
    """Describe the change from one text to the other."""
    change = _compare_lines(_split_lines(old_text), _split_lines(new_text))
    if not change.lines:
        return FileChange("nothing changes" if old_text == new_text else "only line endings change")
    return FileChange(_describe_counts(change), "\n".join(shorten_diff(change.lines)))


def describe_new_text(text: str) -> FileChange:
    """The change that makes a file of this text."""
    lines = _split_lines(text)
    diff_lines = [f"+{line}" for line in lines]
    if lines:
        diff_lines.insert(0, f"@@ -0,0 +1,{len(lines)} @@")
    summary = f"new file, {count_noun(len(lines), 'line')}"
    return FileChange(summary, "\n".join(shorten_diff(diff_lines)))


def _describe_counts(change: Change) -> str:
    if not change.removed:
        return f"{count_noun(change.added, 'line')} added"
    if not change.added:
        return f"{count_noun(change.removed, 'line')} removed"
    return f"{count_noun(change.added, 'line')} added, {change.removed:,} removed"


def _split_lines(text: str) -> list[str]:
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines if lines[-1] else lines[:-1]


def _compare_lines(old_lines: Sequence[str], new_lines: Sequence[str]) -> Change:
    """Only what differs is compared: what is alike at both ends may be long."""
    alike_head = _count_alike(old_lines, new_lines)
    alike_tail = _count_alike(old_lines[alike_head:][::-1], new_lines[alike_head:][::-1])
    start = max(0, alike_head - AROUND)
    kept_tail = max(0, alike_tail - AROUND)
    removed = old_lines[start : len(old_lines) - kept_tail]
    added = new_lines[start : len(new_lines) - kept_tail]
    if len(removed) + len(added) > MAX_COMPARED_LINES:
        diff_lines = [f"@@ -{start + 1},{len(removed)} +{start + 1},{len(added)} @@"]
        diff_lines += [f"-{line}" for line in removed]
        diff_lines += [f"+{line}" for line in added]
        return Change(diff_lines, len(added), len(removed))
    # The first two rows name the files.
    unified = list(difflib.unified_diff(removed, added, lineterm="", n=AROUND))[2:]
    return Change(
        [_move_hunk(line, start) for line in unified],
        sum(line.startswith("+") for line in unified),
        sum(line.startswith("-") for line in unified),
    )


def _count_alike(first_lines: Sequence[str], second_lines: Sequence[str]) -> int:
    """Count the lines that are the same from the start on."""
    alike = 0
    for first_line, second_line in zip(first_lines, second_lines, strict=False):
        if first_line != second_line:
            break
        alike += 1
    return alike


def _move_hunk(line: str, offset: int) -> str:
    """The numbers of a hunk as they are in the whole file."""
    if not line.startswith("@@ "):
        return line
    _, old_span, new_span, _ = line.split(" ")
    return f"@@ -{_shift_span(old_span, offset)} +{_shift_span(new_span, offset)} @@"


def _shift_span(span: str, offset: int) -> str:
    start, comma, length = span[1:].partition(",")
    return f"{int(start) + offset}{comma}{length}"


def shorten_diff(lines: Sequence[str]) -> list[str]:
    """Keep head and tail of a long diff, with how many lines stand between them."""
    starts = _find_changed_starts(lines)
    narrow = [
        _shorten_line(replace_surrogates(line), starts.get(number, 0))
        for number, line in enumerate(lines)
    ]
    if len(narrow) <= HEAD + TAIL + 1:
        return narrow
    leading, trailing = narrow[:-TAIL], narrow[-TAIL:]
    note = f"\\ {count_noun(len(leading) - HEAD, 'line')} more, not shown"
    # What stands after the gap keeps its numbers.
    header = [] if HUNK.match(trailing[0]) else [_header_behind(leading)]
    return [*leading[:HEAD], note, *header, *trailing]


def _find_changed_starts(lines: Sequence[str]) -> dict[int, int]:
    """Find where what is kept of a long line begins: shortly before where it differs from the one
    that it is exchanged for. Lines are named by their numbers."""
    starts: dict[int, int] = {}
    removed: deque[int] = deque()
    for number, line in enumerate(lines):
        if line.startswith("-"):
            if removed and removed[-1] != number - 1:
                removed.clear()
            removed.append(number)
        elif line.startswith("+") and removed:
            old_number = removed.popleft()
            old_line = lines[old_number]
            if max(len(line), len(old_line)) > MAX_LINE_LENGTH:
                start = max(0, _count_alike(old_line[1:], line[1:]) - LEAD_LENGTH)
                starts[old_number] = starts[number] = start
        else:
            removed.clear()
    return starts


def _shorten_line(line: str, start: int) -> str:
    if start:
        line = f"{line[:1]}[... {start:,} the same] {line[start + 1 :]}"
    left_out = len(line) - MAX_LINE_LENGTH
    return line if left_out <= 0 else f"{line[:MAX_LINE_LENGTH]} [... {left_out:,} more]"


def _header_behind(lines: Sequence[str]) -> str:
    """The header of a hunk that goes on after these lines of a diff."""
    old_line = new_line = 1
    for line in lines:
        if hunk := HUNK.match(line):
            old_line, new_line = int(hunk[1]), int(hunk[2])
            continue
        old_line += line.startswith((" ", "-"))
        new_line += line.startswith((" ", "+"))
    return f"@@ -{old_line} +{new_line} @@"
