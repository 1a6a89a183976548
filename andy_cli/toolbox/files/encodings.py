"""Bytes as text and back: UTF-8, what a byte order mark says, the charset of another script, else
Windows-1252 or Latin-1.

encoding = encoding_of(file, work)      of an open file, read through once in pieces
decode_file(data) -> DecodedText        of a file that is in memory, to be changed
DecodedText.encode_text(text) -> bytes  with the mark and in the encoding it had
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import BinaryIO, NamedTuple

from andy_cli.errors import ToolError
from andy_cli.foreign_values import replace_surrogates
from andy_cli.toolbox.documents.charsets import BOMS, is_nearly_utf_8
from andy_cli.toolbox.files.kinds import SAMPLE_BYTES
from andy_cli.toolbox.runtime_context import Work
from andy_cli.toolbox.scripts import find_script_charset

CHUNK_SIZE = 1 << 20
"""Bytes that are read at a time."""

SPOKEN = {
    "utf-8": "UTF-8",
    "latin-1": "Latin-1",
    "cp1252": "Windows-1252",
    "cp1251": "Windows-1251",
    "cp932": "Shift-JIS",
    "cp949": "EUC-KR",
    "cp950": "Big5",
    "euc_jp": "EUC-JP",
    "koi8-r": "KOI8-R",
}
WINDOWS_BYTES = re.compile(rb"[\x80-\x9f]")
"""Quotation marks, dashes and the euro of Windows-1252; hardly a text of Latin-1 has one."""


class Encoding(NamedTuple):
    name: str
    """As codecs know it."""
    mark: bytes = b""
    """The byte order mark it begins with."""

    @property
    def display_name(self) -> str:
        return SPOKEN.get(self.name) or self.name[:6].upper()

    @property
    def is_utf_8(self) -> bool:
        return self.name.startswith("utf-8")


UTF_8 = Encoding("utf-8")


def marked_encoding(head: bytes) -> Encoding | None:
    """Read the encoding from the byte order mark, if there is one."""
    for byte_order_mark, name in BOMS:
        if head.startswith(byte_order_mark):
            return Encoding(name, byte_order_mark)
    return None


def encoding_of(file: BinaryIO, work: Work) -> Encoding:
    """Find the encoding of a file; it is read from its start, and stands there afterwards."""
    head = file.read(SAMPLE_BYTES)
    encoding = marked_encoding(head)
    if encoding is None and _is_in(UTF_8, _read_pieces(head, file, work)):
        encoding = UTF_8
    if encoding is None:
        file.seek(len(head))
        if is_nearly_utf_8(_read_pieces(head, file, work)):
            encoding = UTF_8
    if encoding is None:
        file.seek(len(head))
        encoding = _find_script_encoding(_read_pieces(head, file, work))
    if encoding is None:
        file.seek(len(head))
        encoding = _find_single_byte_encoding(_read_pieces(head, file, work))
    file.seek(0)
    return encoding


def _read_pieces(head: bytes, file: BinaryIO, work: Work) -> Iterator[bytes]:
    """Read a file to its end; `head` was read before."""
    data = head
    while data:
        work.go_on()
        yield data
        data = file.read(CHUNK_SIZE)


def _is_in(encoding: Encoding, pieces: Iterable[bytes]) -> bool:
    decoder = codecs.getincrementaldecoder(encoding.name)()
    try:
        for piece in pieces:
            decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _find_script_encoding(pieces: Iterator[bytes]) -> Encoding | None:
    """Find the encoding of a text in another script, by its first piece that is not ASCII."""
    first = next((piece for piece in pieces if not piece.isascii()), b"")
    encoding = Encoding(find_script_charset(first))
    return encoding if encoding.name and _is_in(encoding, chain([first], pieces)) else None


def _find_single_byte_encoding(pieces: Iterable[bytes]) -> Encoding:
    """Find which of the two usual encodings with a byte a character is meant."""
    has_windows_bytes = False
    try:
        for piece in pieces:
            piece.decode("cp1252")
            has_windows_bytes = has_windows_bytes or WINDOWS_BYTES.search(piece) is not None
    except UnicodeDecodeError:  # a few bytes mean nothing in Windows-1252
        return Encoding("latin-1")
    return Encoding("cp1252" if has_windows_bytes else "latin-1")


class DecodedText(NamedTuple):
    """A whole file as text, without its mark, and what it was written in."""

    text: str
    """A broken byte of UTF-8 is half a character in it, which is that byte again when encoded."""
    encoding: Encoding = UTF_8

    @property
    def readable(self) -> str:
        """The text to be shown: what is broken is shown as such."""
        return replace_surrogates(self.text)

    @property
    def _errors(self) -> str:
        is_broken = self.readable != self.text
        return "surrogateescape" if is_broken else "strict"

    def encode_text(self, text: str) -> bytes:
        """Another text as the same file would hold it. Raises ToolError where it cannot."""
        try:
            return self.encoding.mark + text.encode(self.encoding.name, self._errors)
        except UnicodeEncodeError as error:
            raise ToolError(
                f"The file is written in {self.encoding.display_name}, "
                f"which has no {error.object[error.start]!r}.",
                "Use other characters, or write the whole file anew with write_file.",
            ) from error


def decode_file(data: bytes) -> DecodedText:
    """Raises ToolError where a mark promises what is not there."""
    encoding = marked_encoding(data)
    try:
        if encoding:
            return DecodedText(data[len(encoding.mark) :].decode(encoding.name), encoding)
        return DecodedText(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        if encoding:
            raise ToolError(
                f"The file is no proper {encoding.display_name}: {error.reason}."
            ) from error
        if is_nearly_utf_8([data]):
            return DecodedText(data.decode("utf-8", "surrogateescape"))
        script = _find_script_encoding(iter([data]))
        if script and (text := data.decode(script.name)).encode(script.name) == data:
            return DecodedText(text, script)
        single_byte = _find_single_byte_encoding([data])
        return DecodedText(data.decode(single_byte.name), single_byte)
