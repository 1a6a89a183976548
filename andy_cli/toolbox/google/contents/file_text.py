"""A page of a file's text, cut out while the file comes in: whatever its size, little is held."""

import codecs
import re

from andy_cli.toolbox.google.contents.pages import PAGE

TEXT = re.compile(
    r"text/.*|.*[+/](?:json|xml|yaml|x-yaml|toml|javascript|ecmascript|x-sh|x-python|sql|csv|"
    r"x-ndjson|jsonlines|rtf|x-httpd-php|x-tex|x-latex)(?:;.*)?|message/.*"
)
LOOKED_AT = 4096
"""Bytes that tell whether something is a text."""

MAX_SKIPPED_BYTES = 64 * 2**20
"""Bytes to go through on the way to a page."""


def is_text(kind: str) -> bool:
    """Tell whether a media type is one of texts."""
    return TEXT.fullmatch(kind.lower()) is not None


class FilePage:
    """Takes a file in from its beginning; keeps the page at `offset`, which is in characters."""

    def __init__(self, offset: int, surely_text: bool) -> None:
        self.text = ""
        self.more = False
        self.binary = False
        self._skip = offset
        self._sure = surely_text
        self._held = b""
        self._size = 0
        self._decoder: codecs.IncrementalDecoder | None = None

    def feed(self, data: bytes) -> bool:
        self._size += len(data)
        if self._decoder is None:
            self._held += data
            if len(self._held) < LOOKED_AT:
                return True
            data = self._begin_page()
        return not self.binary and self._take_data(data, is_last=False)

    def finish(self) -> None:
        """The file ended, or enough of it was there."""
        if self._decoder is None:
            self._take_data(self._begin_page(), is_last=True)
        elif not self.more:
            self._take_data(b"", is_last=True)

    def _begin_page(self) -> bytes:
        data, self._held = self._held, b""
        head = data[:LOOKED_AT]
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            self._decoder = codecs.getincrementaldecoder("utf-16")("replace")
            return data
        # Other bytes than UTF-8 are a text only where the file says so.
        self.binary = b"\0" in head or (not self._sure and not _is_utf8(head))
        coding = "utf-8-sig" if _is_utf8(head) else "cp1252"
        self._decoder = codecs.getincrementaldecoder(coding)("replace")
        return data

    def _take_data(self, data: bytes, is_last: bool) -> bool:
        """Read a part of the file; tell whether more of it is wanted."""
        if self._decoder is None or self.binary:
            return False
        for position in range(0, len(data) or 1, PAGE):
            decoded = self._decoder.decode(
                data[position : position + PAGE], is_last and position + PAGE >= len(data)
            )
            skipped = min(self._skip, len(decoded))
            self._skip -= skipped
            self.text += decoded[skipped:]
            if len(self.text) > PAGE:
                self.text, self.more = self.text[:PAGE], True
                return False
        return self._size < MAX_SKIPPED_BYTES


def _is_utf8(head: bytes) -> bool:
    """Tell whether the bytes are UTF-8, a character cut off at the end aside."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True
