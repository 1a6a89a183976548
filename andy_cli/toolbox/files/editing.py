"""A text in a file replaced by another: exactly what is there, once, or said why not.

A line break in what is looked for is either kind, as models write the plain one whatever the file
has; the breaks of what is put in are those of the file.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from andy_cli.errors import ToolError
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.toolbox.files.names import count_noun

NEAREST, LIKE = 3, 60
"""Lines that are named where a text is not there, and how alike they are, of 100."""
MANY = 5
"""Places that are named where there are more than one."""
WIDEST = 120


class Edited(NamedTuple):
    text: str
    places: int
    """The number that was replaced."""


def replace_text(text: str, old: str, new: str, everywhere: bool, name: str) -> Edited:
    """The text with `old` replaced by `new`. Raises ToolError that names the nearest lines, or
    the lines in which it stands more than once."""
    if _unify_line_ends(old) == _unify_line_ends(new):
        raise ToolError("The old and the new text are the same: there is nothing to change.")
    # Not by a regular expression: one of this length may take for ever.
    parts = _unify_line_ends(text).split(_unify_line_ends(old))
    places = len(parts) - 1
    if not places:
        raise _explain_missing(text, old, name)
    if places > 1 and not everywhere:
        raise _explain_several(parts, _unify_line_ends(old), name)
    return Edited(_join_replaced(parts, _unify_line_ends(old), _unify_line_ends(new), text), places)


def _unify_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n")


def _join_replaced(parts: Sequence[str], old: str, new: str, text: str) -> str:
    """The parts with the new text between them, and each line with the end it had."""
    ends = re.findall(r"\r?\n", text)
    windows = ends.count("\r\n")
    if not windows:
        return new.join(parts)
    put = new.replace("\n", "\r\n") if windows * 2 > len(ends) else new
    remaining = iter(ends)
    restored = []
    for part in parts:
        lines = part.split("\n")
        restored.append("".join(f"{line}{next(remaining)}" for line in lines[:-1]) + lines[-1])
        for _ in range(old.count("\n")):
            next(remaining, None)
    return put.join(restored)


def _explain_several(parts: Sequence[str], old: str, name: str) -> ToolError:
    numbers = []
    number = 1
    for part in parts[:MANY]:
        number += part.count("\n")
        numbers.append(str(number))
        number += old.count("\n")
    places = len(parts) - 1
    more = f" and {places - MANY} more" if places > MANY else ""
    return ToolError(
        f"That text stands {places} times in {name}, in lines {', '.join(numbers[:places])}{more}.",
        "Give more of what is around the one that is meant, or set replace_all.",
    )


def _explain_missing(text: str, old: str, name: str) -> ToolError:
    lines = text.split("\n")
    if (number := _spaced_otherwise(lines, old)) is not None:
        return ToolError(
            f"That text is not in {name} as it was given: in line {number} there are other blanks "
            "in it.",
            f"read_file shows them. Line {number}: {_show_line(lines[number - 1])}",
        )
    near = _nearest_lines(lines, old)
    return ToolError(
        f"That text is not in {name}, so nothing was changed.",
        f"The nearest lines: {near}" if near else "read_file shows what is.",
    )


def _spaced_otherwise(lines: Sequence[str], old: str) -> int | None:
    """The line in which it begins, but for blanks and line breaks."""
    wanted = "".join(old.split())
    if not wanted:
        return None
    pieces = ["".join(line.split()) for line in lines]
    ends = list(accumulate(map(len, pieces)))
    at = "".join(pieces).find(wanted)
    return bisect_right(ends, at) + 1 if at >= 0 else None


def _nearest_lines(lines: Sequence[str], old: str) -> str:
    """The lines most like the first one that was looked for, with their numbers."""
    # 10 ms, and most edits fit.
    from rapidfuzz import fuzz, process

    first = next((line.strip() for line in old.splitlines() if line.strip()), "")
    if not first:
        return ""
    close = process.extract(
        first[: WIDEST * 4],
        [line.strip()[: WIDEST * 4] for line in lines],
        scorer=fuzz.ratio,
        score_cutoff=LIKE,
        limit=NEAREST,
    )
    numbered = sorted((at + 1, _show_line(lines[at])) for _, _, at in close)
    return "; ".join(f"{number}: {line}" for number, line in numbered)


def _show_line(line: str) -> str:
    text = line.strip()
    return spell_out(text if len(text) <= WIDEST else text[:WIDEST] + "...")


def describe_places(places: int) -> str:
    return "" if places == 1 else f" in {count_noun(places, 'place')}"
