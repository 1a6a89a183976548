"""Standard output, input and errors as andy wants them, whatever the locale and the shell gave.

    a pipe or a file    UTF-8, unless PYTHONIOENCODING says otherwise
    a terminal          its own encoding; what it has no sign for is drawn in ASCII
    a closed stream     keeps its number, so that no file of ours is taken for it

Nothing that is printed raises UnicodeEncodeError. What cannot be printed raises OutputError on
standard output, and is let go on standard error: there is nobody left to be told.
"""

import codecs
import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import BinaryIO, TextIO, cast

from andy_cli.errors import ClosedPipeError, OutputError
from andy_cli.toolbox.printing import is_printing_aside

ASCII_GLYPHS = {
    "•": "*",
    "·": ".",
    "▌": "|",
    "█": "#",
    "✓": "v",
    "✔": "v",
    "✗": "x",
    "✘": "x",
    "→": ">",
    "←": "<",
    "‐": "-",
    "‑": "-",
    "–": "-",
    "—": "-",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
}
"""Replacements for signs that andy or its models draw often and that decompose into nothing."""

REPLACING = "andy.ascii"
"""The name of the error handler that `replace_with_ascii` is registered under."""


class OutputStream(io.TextIOWrapper):
    """Standard output, whose failures are told from those of all other files.

    What the code of a tool prints goes to standard error: on this stream it would stand within an
    answer, or between lines of JSON.
    """

    def write(self, text: str, /) -> int:
        if is_printing_aside():
            return sys.stderr.write(text)
        with mark_output_errors():
            return super().write(text)

    def flush(self) -> None:
        with mark_output_errors():
            super().flush()


class ErrorStream(io.TextIOWrapper):
    """Standard error, which takes everything."""

    def write(self, text: str, /) -> int:
        with contextlib.suppress(OSError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            super().flush()


@contextlib.contextmanager
def mark_output_errors() -> Iterator[None]:
    """Raise OutputError for what the system says."""
    try:
        yield
    except BrokenPipeError as error:
        raise ClosedPipeError("") from error
    except OSError as error:
        advice = "Give it a place where there is room, or read what it prints."
        raise OutputError(f"The output cannot be written: {error.strerror}.", advice) from error


def prepare_streams() -> None:
    """Put streams of ours in the places of `sys.stdin`, `sys.stdout` and `sys.stderr`."""
    codecs.register_error(REPLACING, replace_with_ascii)
    for number in range(3):
        reserve_descriptor(number)
    if isinstance(sys.stdin, io.TextIOWrapper) and not sys.stdin.isatty():
        sys.stdin.reconfigure(encoding=choose_encoding(sys.stdin), errors="replace")
    sys.stdout = wrap_stream(OutputStream, sys.stdout, 1)
    sys.stderr = wrap_stream(ErrorStream, sys.stderr, 2)


def reserve_descriptor(number: int) -> None:
    """Open a closed standard stream so that it cannot be used, as GNU programs do.

    The next file that andy opens would get its number, and be written to by every `print`.
    """
    try:
        os.fstat(number)
    except OSError:
        # Opened the wrong way round: reading fails at 0 as writing does at 1.
        descriptor = os.open(os.devnull, os.O_WRONLY if number == 0 else os.O_RDONLY)
        if descriptor != number:
            os.dup2(descriptor, number)
            os.close(descriptor)


def wrap_stream(
    kind: type[OutputStream] | type[ErrorStream], stream: TextIO | None, number: int
) -> TextIO:
    """A stream to the same place that can print everything. `stream` is Python's, if it has one."""
    if stream is None:
        file = io.FileIO(number, "w", closefd=False)
        return kind(io.BufferedWriter(file), "utf-8", REPLACING)
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    buffer = stream.buffer if number == 1 else separate_buffer(stream)
    chosen = ":" in os.environ.get("PYTHONIOENCODING", "")
    return kind(
        buffer,
        choose_encoding(stream),
        (stream.errors if chosen else None) or REPLACING,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def separate_buffer(stream: io.TextIOWrapper) -> BinaryIO:
    """Open the place of a stream once more, under a number of andy's own.

    Libraries write their troubles to number 2; while a sound device is opened that leads nowhere,
    and what andy says meanwhile still arrives.
    """
    try:
        file = io.FileIO(os.dup(stream.fileno()), "w")
    except OSError:  # no further file can be opened
        return cast(BinaryIO, stream.buffer)
    is_unbuffered = isinstance(stream.buffer, io.RawIOBase)
    return cast(BinaryIO, file if is_unbuffered else io.BufferedWriter(file))


def choose_encoding(stream: io.TextIOWrapper) -> str:
    """Of a terminal its own; elsewhere UTF-8, or what PYTHONIOENCODING names."""
    named_encoding = os.environ.get("PYTHONIOENCODING", "").partition(":")[0]
    return stream.encoding if named_encoding or stream.isatty() else "utf-8"


def replace_with_ascii(error: UnicodeError) -> tuple[str, int]:
    """Write what an encoding has no sign for in ASCII (an error handler of `codecs`)."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(transliterate, error.object[error.start : error.end])), error.end


def transliterate(character: str) -> str:
    """`*` for a bullet, `-` for a horizontal line, `e` for an accented one, else `?`."""
    if character in ASCII_GLYPHS:
        return ASCII_GLYPHS[character]
    import unicodedata  # a megabyte, and most terminals speak UTF-8

    name = unicodedata.name(character, "")
    if name.startswith("BOX DRAWINGS"):
        if " AND " in name:
            return "+"
        return "|" if name.endswith(("VERTICAL", "UP", "DOWN")) else "-"
    if unicodedata.combining(character):
        return ""
    return unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode() or "?"
