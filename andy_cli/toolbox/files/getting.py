"""A file as data: its content with its type, in an encoding that was asked for."""

import base64
import codecs
import difflib
import mimetypes
import os
from typing import BinaryIO, NamedTuple

from andy_cli.errors import ToolError
from andy_cli.guard.terminal_sanitizer import one_line
from andy_cli.toolbox.files.encodings import encoding_of
from andy_cli.toolbox.files.names import count_noun, show_path, show_size
from andy_cli.toolbox.files.opening import open_file
from andy_cli.toolbox.files.reading import refuse_binary
from andy_cli.toolbox.runtime_context import Work
from andy_cli.toolbox.tool import Outcome

MAX_CHARACTERS = 100_000
"""Characters of content at most, whatever is asked for."""
MAX_CHARACTER_BYTES = 4
"""Bytes of a character at most."""
SLOW = ("idna", "punycode")
"""Encodings of names: a long text takes them for ever."""


class Content(NamedTuple):
    text: str
    encoding: str
    cut: bool


def get_file(path: str, encoding: str, longest: int, work: Work) -> Outcome:
    """`encoding` is a name of an encoding, `base64`, or empty: whatever the text is in."""
    file, granted = open_file(path)
    name = show_path(granted.path)
    with file:
        size = os.fstat(file.fileno()).st_size
        content = _read_content(
            file, name, encoding.strip().lower(), min(longest, MAX_CHARACTERS), work
        )
    record: dict[str, object] = {
        "path": path,
        "mime_type": mimetypes.guess_type(name)[0] or "text/plain",
        "size": size,
        "encoding": content.encoding,
        "content": content.text,
    }
    if not content.cut:
        return Outcome(record, f"read {name}, {show_size(size)}")
    larger = "A larger maxLength or read_file" if longest < MAX_CHARACTERS else "read_file"
    record |= {"truncated": True, "rest": f"{larger} shows more, and search_files finds the rest."}
    told = f"the first {count_noun(len(content.text), 'character')} of {name}"
    return Outcome(
        record,
        f"read {told}, {show_size(size)}",
        unfinished=f"what stands behind {told} was not read",
    )


def _read_content(file: BinaryIO, name: str, encoding: str, longest: int, work: Work) -> Content:
    if encoding == "base64":
        data = file.read(longest // 4 * 3 + 1)
        shown_data = data[: longest // 4 * 3]
        return Content(base64.b64encode(shown_data).decode(), "base64", len(data) > len(shown_data))
    # What is broken in a text is shown as such, unless its encoding was asked for.
    errors = "strict" if encoding else "replace"
    if not encoding:
        try:
            refuse_binary(file, name)
        except ToolError as error:
            advice = f"{error.advice} Its bytes can be had with encoding base64.".lstrip()
            raise ToolError(str(error), advice) from error
        encoding = encoding_of(file, work).name
    codec = _find_codec(encoding)
    data = file.read((longest + 1) * MAX_CHARACTER_BYTES)
    try:
        text = codec.incrementaldecoder(errors).decode(data)
    except UnicodeError as error:
        raise ToolError(f"{name} is not written in {codec.name}.", "Leave encoding out.") from error
    return Content(text.removeprefix("\ufeff")[:longest], codec.name, len(text) > longest)


def _find_codec(encoding: str) -> codecs.CodecInfo:
    """Raises ToolError for what is no encoding of text."""
    try:
        if encoding in SLOW:
            raise LookupError(encoding)
        b" ".decode(encoding, "replace")  # codecs do other things than text, too
        return codecs.lookup(encoding)
    except (LookupError, ValueError) as error:
        names = ["utf-8", "utf-16", "latin-1", "cp1252", "ascii", "shift_jis", "gbk", "base64"]
        close = difflib.get_close_matches(encoding, names, n=2) or names
        raise ToolError(
            f"There is no encoding {one_line(encoding)[:40]!r}. There are: {', '.join(close)}."
        ) from error
