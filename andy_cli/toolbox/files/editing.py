"""A text in a file replaced by another: exactly what is there, once, or said why not.

A line break in what is looked for is either kind, as models write the plain one whatever the file
has; the breaks of what is put in are those of the file.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, dropwhile, islice
from typing import Literal, NamedTuple, get_args
from unicodedata import normalize

from andy_cli.errors import ToolError
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.toolbox.files.names import count_noun

AccentForm = Literal["NFC", "NFD"]
ACCENT_FORMS: tuple[AccentForm, ...] = get_args(AccentForm)
NEAREST, LIKE = 3, 60
"""Lines that are named where a text is not there, and how alike they are, of 100."""
MAX_NAMED_PLACES = 5
"""Places that are named where there are more than one."""
MAX_COMPARED_LINES = 20_000
"""Lines that are compared with a text that is not there, from all the lines where it may begin."""
MAX_LINE_LENGTH = 120


class EditedText(NamedTuple):
    text: str
    places: int
    """The number that was replaced."""


def replace_text(
    text: str, old_text: str, new_text: str, everywhere: bool, name: str
) -> EditedText:
    """The text with `old_text` replaced by `new_text`.

    Raises ToolError that names the nearest lines, or the lines in which it stands more than once.
    """
    old_unified, new_unified = _unify_line_ends(old_text), _unify_line_ends(new_text)
    unified = _unify_line_ends(text)
    if form := _find_accent_form(unified, old_unified):
        old_unified, new_unified = normalize(form, old_unified), normalize(form, new_unified)
    if old_unified == new_unified:
        raise ToolError("The old and the new text are the same: there is nothing to change.")
    # Not by a regular expression: one of this length may take for ever.
    text_parts = unified.split(old_unified)
    place_count = len(text_parts) - 1
    if not place_count:
        raise _explain_missing(text, old_text, name)
    if place_count > 1 and not everywhere:
        raise _explain_several(text_parts, old_unified, name)
    return EditedText(_join_replaced(text_parts, old_unified, new_unified, text), place_count)


def _find_accent_form(text: str, old_text: str) -> AccentForm | None:
    """Find the Unicode form in which a text has the old text, if only its accents differ: macOS and
    some PDF programs write a letter and its accent as two characters."""
    if old_text.isascii() or old_text in text:
        return None
    return next((form for form in ACCENT_FORMS if normalize(form, old_text) in text), None)


def _unify_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n")


def _join_replaced(text_parts: Sequence[str], old_text: str, new_text: str, text: str) -> str:
    """The parts with the new text between them, and each line with the end it had."""
    line_ends = ["\r\n" if line.endswith("\r") else "\n" for line in text.split("\n")[:-1]]
    crlf_count = line_ends.count("\r\n")
    if not crlf_count:
        return new_text.join(text_parts)
    is_mostly_crlf = crlf_count * 2 > len(line_ends)
    inserted_text = new_text.replace("\n", "\r\n") if is_mostly_crlf else new_text
    remaining = iter(line_ends)
    restored = []
    for text_part in text_parts:
        *whole_lines, last_line = text_part.split("\n")
        restored_lines = [line + next(remaining) for line in whole_lines]
        restored.append("".join([*restored_lines, last_line]))
        # The lines that were replaced had ends too.
        for _ in range(old_text.count("\n")):
            next(remaining, None)
    return inserted_text.join(restored)


def _explain_several(text_parts: Sequence[str], old_text: str, name: str) -> ToolError:
    numbers = []
    number = 1
    for text_part in text_parts[:MAX_NAMED_PLACES]:
        number += text_part.count("\n")
        numbers.append(str(number))
        number += old_text.count("\n")
    place_count = len(text_parts) - 1
    more_places = (
        f" and {place_count - MAX_NAMED_PLACES} more" if place_count > MAX_NAMED_PLACES else ""
    )
    lines = ", ".join(numbers[:place_count])
    return ToolError(
        f"That text stands {place_count} times in {name}, in lines {lines}{more_places}.",
        "Give more of what is around the one that is meant, or set replace_all.",
    )


def _explain_missing(text: str, old_text: str, name: str) -> ToolError:
    lines = _unify_line_ends(text).removesuffix("\n").split("\n")
    old_lines = list(dropwhile(_is_blank, _unify_line_ends(old_text).split("\n")))
    start = _spaced_otherwise(lines, old_text)
    if start is not None:
        number = start + _count_same_lines(lines[start - 1 :], old_lines)
        reason = f"in line {number} the white space differs"
        return _explain_difference(lines, number, reason, name)
    if old_lines and (found := _find_difference(lines, old_lines)):
        return _explain_difference(lines, found, f"line {found} differs", name)
    nearest = _nearest_lines(lines, old_text)
    return ToolError(
        f"That text is not in {name}, so nothing was changed.",
        f"The nearest lines: {nearest}" if nearest else "read_file shows what is.",
    )


def _is_blank(line: str) -> bool:
    return not line.strip()


def _count_same_lines(lines: Sequence[str], old_lines: Sequence[str]) -> int:
    """Count the lines that are the same before the first that differs; 0 where none differs."""
    last = len(old_lines) - 1
    for index, old_line in enumerate(old_lines):
        line = lines[index] if index < len(lines) else ""
        # What is looked for may begin and end within a line.
        starts_so = line.startswith(old_line) and index == last
        ends_so = line.endswith(old_line) and index == 0
        if index >= len(lines) or not (line == old_line or starts_so or ends_so):
            return index
    return 0


def _find_difference(lines: Sequence[str], old_lines: Sequence[str]) -> int:
    """Find the first line that differs, where the most lines in front of it are the same and it is
    most like the one that was given; 0 where no line is that with which the text begins."""
    from rapidfuzz import fuzz  # 10 ms, and most edits fit

    best, number = (0, 0.0), 0
    starts = (index for index, line in enumerate(lines) if line.endswith(old_lines[0]))
    for start in islice(starts, max(1, MAX_COMPARED_LINES // len(old_lines))):
        count = _count_same_lines(lines[start : start + len(old_lines)], old_lines)
        other = lines[start + count] if start + count < len(lines) else ""
        rank = (count, fuzz.ratio(_shorten_line(other), _shorten_line(old_lines[count])))
        if count and rank > best:
            best, number = rank, start + count + 1
    return number


def _explain_difference(lines: Sequence[str], number: int, reason: str, name: str) -> ToolError:
    if number > len(lines):
        return ToolError(
            f"That text is not in {name}: the file ends before the text does.",
            f"Line {len(lines)}, the last one: {_shorten_line(lines[-1])}",
        )
    return ToolError(
        f"That text is not in {name} as it was given: {reason}.",
        f"Line {number} as it is: {_shorten_line(lines[number - 1])}",
    )


def _spaced_otherwise(lines: Sequence[str], old_text: str) -> int | None:
    """The line in which it begins, but for blanks and line breaks."""
    unspaced_old = "".join(old_text.split())
    if not unspaced_old:
        return None
    unspaced_lines = ["".join(line.split()) for line in lines]
    line_ends = list(accumulate(map(len, unspaced_lines)))
    position = "".join(unspaced_lines).find(unspaced_old)
    return bisect_right(line_ends, position) + 1 if position >= 0 else None


def _nearest_lines(lines: Sequence[str], old_text: str) -> str:
    """The lines most like the first one that was looked for, with their numbers."""
    # 10 ms, and most edits fit.
    from rapidfuzz import fuzz, process

    first_line = next((line.strip() for line in old_text.splitlines() if line.strip()), "")
    if not first_line:
        return ""
    close_matches = process.extract(
        first_line[: MAX_LINE_LENGTH * 4],
        [line.strip()[: MAX_LINE_LENGTH * 4] for line in lines],
        scorer=fuzz.ratio,
        score_cutoff=LIKE,
        limit=NEAREST,
    )
    numbered = sorted((index + 1, _show_line(lines[index])) for _, _, index in close_matches)
    return "; ".join(f"{number}: {line}" for number, line in numbered)


def _show_line(line: str) -> str:
    return _shorten_line(line.strip())


def _shorten_line(text: str) -> str:
    """The line with its blanks, of which tabs and odd ones are spelled out."""
    return spell_out(text if len(text) <= MAX_LINE_LENGTH else text[:MAX_LINE_LENGTH] + "...")


def describe_places(place_count: int) -> str:
    return "" if place_count == 1 else f" in {count_noun(place_count, 'place')}"
