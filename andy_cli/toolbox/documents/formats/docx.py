"""The text of a Word document (.docx), and what stands around it.

    word/document.xml:  <w:p><w:r><w:t>A paragraph</w:t></w:r></w:p>

Its headers, footnotes and comments are parts of their own, which it names by relationships.

Source: ECMA-376, part 1, section 17; part 3, section 10 (alternatives).
"""

from collections.abc import Iterator, Mapping
from typing import BinaryIO

from andy_cli.toolbox.documents.formats.package import (
    FAULTS,
    Package,
    TableRows,
    opened_package,
    plain_name,
)

MAIN = "word/document.xml"
AROUND = ("footnotes", "endnotes", "comments", "header", "footer")
"""Kinds of relationships of what is read beside the text, in this order."""
DAMAGED_AROUND = "(some of what stands around this text is damaged and cannot be read)"
WORD = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "http://purl.oclc.org/ooxml/wordprocessingml/main",
)
COMPATIBILITY = ("http://schemas.openxmlformats.org/markup-compatibility/2006",)
BETWEEN = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}


def read_parts(file: BinaryIO) -> list[tuple[str, str]]:
    """Return (place, text), a paragraph or a row of a table a line; the place of the text itself is
    empty.

    Raises ToolError for what cannot be read.
    """
    with opened_package(file, "Word document", MAIN) as package:
        parts = [("", _read_part(package, MAIN))]
        try:
            for part in _read_around(package):
                parts.append(part)
        except FAULTS:
            parts.append(("", DAMAGED_AROUND))
    return parts


def _read_around(package: Package) -> Iterator[tuple[str, str]]:
    links = [link for link in package.links(MAIN).values() if link.target in package.names]
    for kind in AROUND:
        texts = [_read_part(package, link.target) for link in links if link.kind == kind]
        # Each section has headers of its own, and they are mostly the same.
        if text := "\n".join(dict.fromkeys(filter(None, texts))):
            yield kind, text


def _read_part(package: Package, name: str) -> str:
    reader = _DocxReader()
    package.parse(name, reader.start, reader.end, reader.characters)
    return "".join(reader.pieces).strip("\n")


class _DocxReader:
    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._rows = TableRows()
        self._in_text = False
        self._skipped_depth = 0
        self._alternatives = [0]  # pieces that stood before each that is open

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if self._skipped_depth or self._is_duplicate(name):
            self._skipped_depth += 1
            return
        if plain_name(name, COMPATIBILITY) == "AlternateContent":
            self._alternatives.append(len(self.pieces))
        kind = plain_name(name, WORD)
        self._in_text = kind == "t"
        if kind in BETWEEN:
            self.pieces.append(BETWEEN[kind])
        elif kind == "txbxContent" and self.pieces and not self.pieces[-1].endswith("\n"):
            self.pieces.append("\n")  # a box stands within a paragraph, and has its own
        self._rows.start(kind, self.pieces, attributes.get(f"{name.rpartition(' ')[0]} val", ""))

    def end(self, name: str) -> None:
        if self._skipped_depth:
            self._skipped_depth -= 1
            return
        self._in_text = False
        if plain_name(name, COMPATIBILITY) == "AlternateContent":
            self._alternatives.pop()
        kind = plain_name(name, WORD)
        if kind == "p":
            self.pieces.append("\n")
        elif kind == "tr":
            self._rows.end_row(self.pieces)

    def characters(self, text: str) -> None:
        if self._in_text:
            self.pieces.append(text)

    def _is_duplicate(self, name: str) -> bool:
        """Tell whether an element holds text that stands elsewhere too: what tracked changes moved
        away, and the fallback of a choice that is read."""
        is_fallback = plain_name(name, COMPATIBILITY) == "Fallback"
        return plain_name(name, WORD) == "moveFrom" or (is_fallback and self._holds_choice())

    def _holds_choice(self) -> bool:
        """Tell whether a fallback is the text of a choice once more, for programs that do not know
        that one; a sign of the new kind, as an emoji, stands in the fallback alone.
        """
        return any(map(str.strip, self.pieces[self._alternatives[-1] :]))
