"""The text of a PowerPoint presentation (.pptx), slide by slide, with the speaker's notes.

    ppt/presentation.xml:   <p:sldIdLst><p:sldId id="256" r:id="rId2"/></p:sldIdLst>
    ppt/slides/slide1.xml:  <a:p><a:r><a:t>A line</a:t></a:r></a:p>

Source: ECMA-376, part 1, sections 19 and 21.
"""

from collections.abc import Iterator, Mapping
from typing import BinaryIO

from andy_cli.toolbox.documents.formats.package import (
    Package,
    TableRows,
    opened_package,
    plain_name,
)

START = "ppt/presentation.xml"
DRAWING = (
    "http://schemas.openxmlformats.org/drawingml/2006/main",
    "http://purl.oclc.org/ooxml/drawingml/main",
)
PRESENTATION = (
    "http://schemas.openxmlformats.org/presentationml/2006/main",
    "http://purl.oclc.org/ooxml/presentationml/main",
)
LINKS = (
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    "http://purl.oclc.org/ooxml/officeDocument/relationships",
)


def read_slides(file: BinaryIO) -> Iterator[str]:
    """Give the text of each slide in order. Raises ToolError for what cannot be read."""
    with opened_package(file, "PowerPoint presentation", START) as package:
        slides = package.links(START)
        for link_id in _list_slides(package):
            yield _read_slide(package, slides[link_id].target)


def _list_slides(package: Package) -> list[str]:
    """List the ids of the slides, as they are shown."""
    ids: list[str] = []

    def start(name: str, attributes: Mapping[str, str]) -> None:
        if plain_name(name, PRESENTATION) == "sldId":
            link_ids = (attributes.get(f"{namespace} id") for namespace in LINKS)
            ids.extend(link_id for link_id in link_ids if link_id)

    package.parse(START, start)
    return ids


def _read_slide(package: Package, name: str) -> str:
    text = _read_text(package, name)
    for link in package.links(name).values():
        is_notes = link.kind == "notesSlide" and link.target in package.names
        if is_notes and (notes := _read_text(package, link.target)):
            return f"{text}\nNotes: {notes}"
    return text


def _read_text(package: Package, name: str) -> str:
    """Read a slide or its notes, a paragraph or a row of a table a line."""
    text = _Text()
    package.parse(name, text.start, text.end, text.characters)
    lines = (line.strip(" ") for line in "".join(text.pieces).split("\n"))
    return "\n".join(line for line in lines if line.strip())


class _Text:
    """The text of a slide; fields such as its number are left out."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._in_text = self._in_field = False
        self._rows = TableRows()

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        kind = plain_name(name, DRAWING)
        self._in_field |= kind == "fld"
        self._in_text = kind == "t" and not self._in_field
        if kind == "br":
            self.pieces.append("\n")
        self._rows.start(kind, self.pieces)

    def end(self, name: str) -> None:
        self._in_text = False
        kind = plain_name(name, DRAWING)
        if kind == "fld":
            self._in_field = False
        elif kind == "p":
            self.pieces.append("\n")
        elif kind == "tr":
            self._rows.end_row(self.pieces)

    def characters(self, text: str) -> None:
        if self._in_text:
            self.pieces.append(text)
