"""The text of a Word document (.docx): its XML read as it is unpacked, so that none is too large.

    word/document.xml:  <w:p><w:r><w:t>A paragraph</w:t></w:r></w:p>

Source: ECMA-376, part 1, section 17.
"""

import zipfile
import zlib
from typing import BinaryIO
from xml.parsers import expat

from andy_cli.errors import ToolError

PARTS = ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml")
MOST_BYTES = 64 << 20
"""Unpacked, of all parts."""

PIECE = 1 << 16
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
BETWEEN = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}


def text(file: BinaryIO) -> str:
    """All of it, a paragraph a line. Raises ToolError for what is damaged, encrypted or a bomb."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = set(archive.namelist())
            if PARTS[0] not in names:
                raise ToolError("It is no Word document, or it is encrypted.")
            reading = _Reading()
            for name in PARTS:
                if name in names:
                    reading.part(archive, name)
            return "".join(reading.pieces).strip("\n")
    except (
        zipfile.BadZipFile,
        zlib.error,
        expat.ExpatError,
        EOFError,
        NotImplementedError,
        RuntimeError,
        OSError,
        ValueError,
    ) as error:
        raise ToolError("The document is damaged or encrypted and cannot be read.") from error


class _Reading:
    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._left = MOST_BYTES
        self._in_text = False

    def part(self, archive: zipfile.ZipFile, name: str) -> None:
        parser = expat.ParserCreate(namespace_separator=" ")
        # No document of Word has any, and an entity can stand for a gigabyte.
        parser.StartDoctypeDeclHandler = _refuse
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        with archive.open(name) as packed:
            while piece := packed.read(PIECE):
                self._left -= len(piece)
                if self._left < 0:
                    raise ToolError("The document would unpack to far more than it is.")
                parser.Parse(piece, False)
        parser.Parse(b"", True)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        kind = _kind(name)
        self._in_text = kind == "t"
        if kind in BETWEEN:
            self.pieces.append(BETWEEN[kind])

    def _end(self, name: str) -> None:
        kind = _kind(name)
        self._in_text = False
        if kind == "p":
            self.pieces.append("\n")

    def _characters(self, characters: str) -> None:
        if self._in_text:
            self.pieces.append(characters)


def _kind(name: str) -> str:
    """The element's own name if it is one of Word's, else nothing."""
    namespace, _, kind = name.rpartition(" ")
    return kind if namespace in (WORD, STRICT) else ""


def _refuse(*declared: object) -> None:
    raise ToolError("The document declares entities, which no document of Word does.")
