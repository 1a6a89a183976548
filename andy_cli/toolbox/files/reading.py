"""The text of a file for a model to read: a page of it, and how to get the next one.

Pages are bounded, and so is what is held of a file of any size: it is read in pieces, twice (what
it is written in and how many lines it has is known only at its end).
"""

import codecs
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import BinaryIO, NamedTuple

from andy_cli.errors import ToolError
from andy_cli.toolbox.files.encodings import CHUNK_SIZE, Encoding, encoding_of
from andy_cli.toolbox.files.kinds import (
    SAMPLE_BYTES,
    advise_kind,
    is_document,
    kind_of_bytes,
    name_one,
)
from andy_cli.toolbox.files.names import count_noun, show_path, show_size
from andy_cli.toolbox.files.opening import open_file
from andy_cli.toolbox.runtime_context import Work
from andy_cli.toolbox.tool import Outcome

MAX_LINES, MAX_CHARACTERS = 2000, 60_000
"""Of one page."""
MAX_LINE_LENGTH = 4000
"""Characters; what goes on longer is cut."""
CUT = f"[Of long lines {MAX_LINE_LENGTH} characters are shown: search_files finds the rest.]"
ENCODED = "[Words may be encoded in it: file_ingest reads its text.]"


class PageLine(NamedTuple):
    text: str
    more: int = 0
    """Characters that were cut off."""

    def __str__(self) -> str:
        if self.more:
            return f"{self.text} [... {count_noun(self.more, 'character')} more]"
        return self.text


def read_page(
    written: str, first_line: int, last_line: int | None, numbered: bool, work: Work
) -> Outcome:
    """Lines `first_line` to `last_line` (None: the end), or as many of them as fit; counted from 1.

    Raises ToolError for what is no text, is not there or may not be read.
    """
    if last_line is not None and last_line < first_line:
        raise ToolError(
            f"Line {last_line} comes before line {first_line}: give the smaller one first."
        )
    file, granted = open_file(written)
    name = show_path(granted.path)
    with file:
        refuse_binary(file, name)
        encoding = encoding_of(file, work)
        total = line_count(file, encoding, work)
        if not total:
            return Outcome("The file is empty.", f"read {name}: it is empty")
        if first_line > total:
            raise ToolError(
                f"{name} has {count_noun(total, 'line')}: there is no line {first_line}."
            )
        end = min(last_line or total, total)
        page_lines = _that_fit(islice(read_lines(file, encoding, work), first_line - 1, end))
    shown_lines = _show_lines(page_lines, first_line, numbered)
    reached = first_line + len(page_lines) - 1
    if reached < total:
        shown_lines.append(_describe_rest(first_line, reached, total))
    amount_read = f"lines {first_line:,} to {reached:,} of {total:,}"
    if first_line == 1 and reached == total:
        amount_read = count_noun(total, "line")
    if is_document("", name):
        shown_lines.append(ENCODED)
    unfinished = _describe_unread(name, page_lines, reached, end)
    return Outcome("\n".join(shown_lines), f"read {name}, {amount_read}", unfinished=unfinished)


def _describe_unread(name: str, page_lines: Sequence[PageLine], reached: int, end: int) -> str:
    """Say what is left out up to the last line that was asked for."""
    cut_characters = sum(line.more for line in page_lines)
    unread = []
    if reached < end:
        unread.append(f"lines {reached + 1:,} to {end:,}")
    if cut_characters:
        unread.append(f"{count_noun(cut_characters, 'character')} of long lines")
    return f"{' and '.join(unread)} of {name} were not read" if unread else ""


def _that_fit(page_lines: Iterator[PageLine]) -> list[PageLine]:
    fitting_lines: list[PageLine] = []
    room_left = MAX_CHARACTERS
    for line in page_lines:
        room_left -= len(line.text) + 1
        if fitting_lines and (room_left < 0 or len(fitting_lines) == MAX_LINES):
            break
        fitting_lines.append(line)
    return fitting_lines


def _show_lines(page_lines: Sequence[PageLine], first_line: int, numbered: bool) -> list[str]:
    shown_lines = [
        f"{number:>6}\t{line}" if numbered else str(line)
        for number, line in enumerate(page_lines, first_line)
    ]
    if any(line.more for line in page_lines):
        shown_lines.append(CUT)
    return shown_lines


def _describe_rest(first: int, reached: int, total: int) -> str:
    return (
        f"[These were lines {first} to {reached} of {total}. "
        f"start_line={reached + 1} shows what follows.]"
    )


def refuse_binary(file: BinaryIO, name: str) -> None:
    """Raises ToolError that says what it is, unless it is text; the file stands at its start."""
    data_kind = kind_of_bytes(file.read(SAMPLE_BYTES))
    file.seek(0)
    if data_kind:
        size = show_size(os.fstat(file.fileno()).st_size)
        raise ToolError(
            f"{name} is {name_one(data_kind)} of {size}: no text.", advise_kind(data_kind)
        )


def line_count(file: BinaryIO, encoding: Encoding, work: Work) -> int:
    """Count the lines of a file; an end after the last one begins no other."""
    number, last_character = 0, "\n"
    for text in read_pieces(file, encoding, work):
        number += text.count("\n")
        last_character = text[-1:] or last_character
    return number + (last_character != "\n")


def read_lines(file: BinaryIO, encoding: Encoding, work: Work) -> Iterator[PageLine]:
    """The lines of an open file without their ends; however long they are, memory is bounded."""
    pending, cut_characters = "", 0
    for text in read_pieces(file, encoding, work):
        *whole_lines, unfinished_line = text.split("\n")
        for line in whole_lines:
            yield _cut_line(pending + line, cut_characters)
            pending, cut_characters = "", 0
        pending += unfinished_line
        if len(pending) > MAX_LINE_LENGTH + 1:
            cut_characters += len(pending) - MAX_LINE_LENGTH
            pending = pending[:MAX_LINE_LENGTH]
    if pending:
        yield _cut_line(pending, cut_characters)


def _cut_line(text: str, cut_characters: int) -> PageLine:
    if not cut_characters:
        text = text.removesuffix("\r")
    return PageLine(text[:MAX_LINE_LENGTH], cut_characters + max(0, len(text) - MAX_LINE_LENGTH))


def read_pieces(file: BinaryIO, encoding: Encoding, work: Work) -> Iterator[str]:
    """The text from the start of the file on, in pieces."""
    file.seek(len(encoding.mark))
    # What is broken after a mark that promised an encoding is shown as such.
    decoder = codecs.getincrementaldecoder(encoding.name)("replace")
    while data := file.read(CHUNK_SIZE):
        work.go_on()
        yield decoder.decode(data)
    yield decoder.decode(b"", final=True)
