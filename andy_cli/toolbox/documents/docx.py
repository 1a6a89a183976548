"""The text of a Word document (.docx).

    word/document.xml:  <w:p><w:r><w:t>A paragraph</w:t></w:r></w:p>

Source: ECMA-376, part 1, section 17.
"""

from collections.abc import Mapping
from typing import BinaryIO

from andy_cli.toolbox.documents.package import opened_package, plain_name

PARTS = ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml")
WORD = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "http://purl.oclc.org/ooxml/wordprocessingml/main",
)
BETWEEN = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}


def read_text(file: BinaryIO) -> str:
    """Return all of it, a paragraph a line. Raises ToolError for what cannot be read."""
    reader = _DocxReader()
    with opened_package(file, "Word document", PARTS[0]) as package:
        for name in PARTS:
            if name in package.names:
                package.parse(name, reader.start, reader.end, reader.characters)
    return "".join(reader.pieces).strip("\n")


class _DocxReader:
    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._in_text = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        kind = plain_name(name, WORD)
        self._in_text = kind == "t"
        if kind in BETWEEN:
            self.pieces.append(BETWEEN[kind])

    def end(self, name: str) -> None:
        self._in_text = False
        if plain_name(name, WORD) == "p":
            self.pieces.append("\n")

    def characters(self, text: str) -> None:
        if self._in_text:
            self.pieces.append(text)
