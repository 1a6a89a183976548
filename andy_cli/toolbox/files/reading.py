"""The text of a file for a model to read: a page of it, and how to get the next one.

Pages are bounded, and so is what is held of a file of any size: it is read in pieces, twice (what
it is written in and how many lines it has is known only at its end).
"""

import codecs
import os
from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO, NamedTuple

from andy_cli.errors import ToolError
from andy_cli.toolbox.files.encodings import PIECE, Encoding, encoding_of
from andy_cli.toolbox.files.kinds import HEAD, advise_kind, kind_of_bytes, name_one
from andy_cli.toolbox.files.names import count_noun, show_path, show_size
from andy_cli.toolbox.files.opening import open_file
from andy_cli.toolbox.tool import Outcome
from andy_cli.toolbox.work import Work

MOST_LINES, MOST_CHARACTERS = 2000, 60_000
"""Of one page."""
LONGEST_LINE = 4000
"""Characters; what goes on longer is cut."""


class PageLine(NamedTuple):
    text: str
    more: int = 0
    """Characters that were cut off."""

    def __str__(self) -> str:
        return (
            f"{self.text} [... {count_noun(self.more, 'character')} more]"
            if self.more
            else self.text
        )


def read_page(written: str, first: int, last: int | None, numbered: bool, work: Work) -> Outcome:
    """Lines `first` to `last` (None: the end), or as many of them as fit; counted from 1.

    Raises ToolError for what is no text, is not there or may not be read.
    """
    if last is not None and last < first:
        raise ToolError(f"Line {last} comes before line {first}: give the smaller one first.")
    file, where = open_file(written)
    name = show_path(where.path)
    with file:
        refuse_binary(file, name)
        encoding = encoding_of(file, work)
        total = line_count(file, encoding, work)
        if not total:
            return Outcome("The file is empty.", f"read {name}: it is empty")
        if first > total:
            raise ToolError(f"{name} has {count_noun(total, 'line')}: there is no line {first}.")
        end = min(last or total, total)
        found = _that_fit(islice(read_lines(file, encoding, work), first - 1, end))
    shown = [_show_line(number, line, numbered) for number, line in enumerate(found, first)]
    reached = first + len(found) - 1
    if reached < total:
        shown.append(_describe_rest(first, reached, total))
    whole = first == 1 and reached == total
    what = count_noun(total, "line") if whole else f"lines {first:,} to {reached:,} of {total:,}"
    return Outcome("\n".join(shown), f"read {name}, {what}")


def _that_fit(found: Iterator[PageLine]) -> list[PageLine]:
    kept: list[PageLine] = []
    room = MOST_CHARACTERS
    for line in found:
        room -= len(line.text) + 1
        if kept and (room < 0 or len(kept) == MOST_LINES):
            break
        kept.append(line)
    return kept


def _show_line(number: int, line: PageLine, numbered: bool) -> str:
    return f"{number:>6}\t{line}" if numbered else str(line)


def _describe_rest(first: int, reached: int, total: int) -> str:
    return (
        f"[These were lines {first} to {reached} of {total}. "
        f"start_line={reached + 1} shows what follows.]"
    )


def refuse_binary(file: BinaryIO, name: str) -> None:
    """Raises ToolError that says what it is, unless it is text; the file stands at its start."""
    what = kind_of_bytes(file.read(HEAD))
    file.seek(0)
    if what:
        size = show_size(os.fstat(file.fileno()).st_size)
        raise ToolError(f"{name} is {name_one(what)} of {size}: no text.", advise_kind(what))


def line_count(file: BinaryIO, encoding: Encoding, work: Work) -> int:
    """Count the lines of a file; an end behind the last one begins no other."""
    number, last = 0, "\n"
    for text in read_pieces(file, encoding, work):
        number += text.count("\n")
        last = text[-1:] or last
    return number + (last != "\n")


def read_lines(file: BinaryIO, encoding: Encoding, work: Work) -> Iterator[PageLine]:
    """The lines of an open file without their ends; however long they are, memory is bounded."""
    pending, cut = "", 0
    for text in read_pieces(file, encoding, work):
        *whole, rest = text.split("\n")
        for line in whole:
            yield _cut_line(pending + line, cut)
            pending, cut = "", 0
        pending += rest
        if len(pending) > LONGEST_LINE + 1:
            cut += len(pending) - LONGEST_LINE
            pending = pending[:LONGEST_LINE]
    if pending:
        yield _cut_line(pending, cut)


def _cut_line(text: str, cut: int) -> PageLine:
    if not cut:
        text = text.removesuffix("\r")
    return PageLine(text[:LONGEST_LINE], cut + max(0, len(text) - LONGEST_LINE))


def read_pieces(file: BinaryIO, encoding: Encoding, work: Work) -> Iterator[str]:
    """The text from the start of the file on, in pieces."""
    file.seek(len(encoding.mark))
    # What is broken behind a mark that promised an encoding is shown as such.
    decoder = codecs.getincrementaldecoder(encoding.name)("replace")
    while piece := file.read(PIECE):
        work.go_on()
        yield decoder.decode(piece)
    yield decoder.decode(b"", final=True)
