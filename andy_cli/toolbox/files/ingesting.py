"""The text of a document, for the model to know."""

import re
from typing import BinaryIO

from andy_cli.errors import ToolError
from andy_cli.toolbox.documents.html import TextStyle, html_to_text
from andy_cli.toolbox.documents.text import TextPart
from andy_cli.toolbox.documents.text import text_of as read_parts
from andy_cli.toolbox.files.encodings import encoding_of
from andy_cli.toolbox.files.kinds import SAMPLE_BYTES, is_document, kind_of_bytes
from andy_cli.toolbox.files.names import count_noun, show_path
from andy_cli.toolbox.files.opening import open_file
from andy_cli.toolbox.files.reading import read_pieces, refuse_binary
from andy_cli.toolbox.runtime_context import Work
from andy_cli.toolbox.tool import Outcome

MAX_CHARACTERS = 100_000
"""Characters of a document that the model is told."""
MAX_FILE_CHARACTERS = 5_000_000
"""Characters of a file that are looked at for them."""

PAGE_STYLE = TextStyle(cell=" | ", headings=True)
PAGE = re.compile(rb"\s*(?:<!--.*?-->\s*)?<(?:!doctype\s+html|html|head|body)\b", re.I | re.S)


def ingest_file(written: str, offset: int, work: Work) -> Outcome:
    """Read the text from the character `offset` on, counted from 0, as much as is told at once.

    Raises ToolError for what has no text or cannot be read, and for an offset after its end.
    """
    file, granted = open_file(written)
    name = show_path(granted.path)
    with file:
        text = text_of(file, name, work)
    if not text.strip():
        return Outcome(f"{name} holds no text.", f"read {name}: it holds no text")
    if offset >= len(text):
        size = f"{name} has {count_noun(len(text), 'character')}"
        raise ToolError(f"{size}: an offset of {offset:,} is past its end.")
    shown_text = text[offset : offset + MAX_CHARACTERS]
    if len(shown_text) == len(text):
        size = count_noun(len(text), "character")
        return Outcome(text, f"read the text of {name}, {size}")
    end = offset + len(shown_text)
    # Of a larger file no more is read.
    at_least = "at least " if len(text) == MAX_FILE_CHARACTERS else ""
    amount_read = f"characters {offset + 1:,} to {end:,} of {at_least}{len(text):,}"
    unfinished, advice = "", ""
    if end < len(text):
        last = "the last" if at_least else f"{len(text):,}"
        unfinished = f"characters {end + 1:,} to {last} of {name} were not read"
        advice = f" offset={end} shows what follows, search_files finds what stands in the rest."
    shown_text += f"\n[These were {amount_read}.{advice}]"
    return Outcome(shown_text, f"read the text of {name}, {amount_read}", unfinished=unfinished)


def text_of(file: BinaryIO, name: str, work: Work) -> str:
    """The text of an open file, which is called `name` in sentences. Raises ToolError."""
    head = file.read(SAMPLE_BYTES)
    file.seek(0)
    if is_document(kind_of_bytes(head), name):
        parts = list(read_parts(file, name, go_on=work.go_on))
        if not any(part.text.strip() for part in parts):
            return ""  # scanned pages have a place each, and are pictures
        return "\n\n".join(map(_with_place, parts))
    refuse_binary(file, name)
    text = _read_plain(file, work)
    is_page = name.lower().endswith((".html", ".htm", ".xhtml")) or PAGE.match(head)
    if not is_page:
        return text
    title, body = html_to_text(text, PAGE_STYLE, work.go_on)
    return f"# {title}\n\n{body}" if title else body


def _with_place(part: TextPart) -> str:
    if not part.place:
        return part.text
    return f"[{part.place}]\n{part.text}" if part.text.strip() else f"[{part.place}: no text]"


def _read_plain(file: BinaryIO, work: Work) -> str:
    """No more of it than is needed: files may be of any size."""
    text_pieces: list[str] = []
    size = 0
    for text_piece in read_pieces(file, encoding_of(file, work), work):
        text_pieces.append(text_piece)
        size += len(text_piece)
        if size > MAX_FILE_CHARACTERS:
            break
    return "".join(text_pieces)[:MAX_FILE_CHARACTERS]
