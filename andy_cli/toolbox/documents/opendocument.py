"""The text of an OpenDocument file: a text (.odt), a sheet (.ods) or a presentation (.odp).

    content.xml:    <text:p>A line</text:p>
                    <table:table table:name="Sales"><table:table-row><table:table-cell>...
                    <draw:page draw:name="page1">...

Source: OpenDocument 1.3, part 3.
"""

from collections.abc import Mapping
from typing import BinaryIO

from andy_cli.toolbox.documents.package import opened_package, plain_name

CONTENT = "content.xml"
NAMESPACE = "urn:oasis:names:tc:opendocument:xmlns:{}:1.0"
TEXT, TABLE, DRAW, OFFICE = (
    (NAMESPACE.format(name),) for name in ("text", "table", "drawing", "office")
)
BETWEEN = {"tab": "\t", "line-break": "\n", "s": " "}
MAX_SPACES = 100


def read_parts(file: BinaryIO) -> list[tuple[str, str]]:
    """Return (place, text): `sheet Sales`, `slide 2`, or nothing for a text that has no parts.

    Raises ToolError for what cannot be read.
    """
    reader = _OpenDocumentReader()
    with opened_package(file, "OpenDocument file", CONTENT) as package:
        package.parse(CONTENT, reader.start, reader.end, reader.characters)
    named_texts = [
        (part_name, "".join(text_pieces).strip("\n")) for part_name, text_pieces in reader.parts
    ]
    return [(part_name, text) for part_name, text in named_texts if part_name or text]


class _OpenDocumentReader:
    def __init__(self) -> None:
        self.parts: list[tuple[str, list[str]]] = [("", [])]
        self._in_paragraph = 0
        self._in_sheet = False
        self._cells: list[str] = []
        self._slides = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if (kind := plain_name(name, TEXT)) in ("p", "h"):
            self._in_paragraph += 1
        elif kind in BETWEEN:
            number = attributes.get(f"{TEXT[0]} c", "1") if kind == "s" else "1"
            self._add(BETWEEN[kind] * min(int(number), MAX_SPACES))
        elif plain_name(name, OFFICE) == "spreadsheet":
            self._in_sheet = True
        elif plain_name(name, DRAW) == "page":
            self._slides += 1
            self.parts.append((f"slide {self._slides}", []))
        elif self._in_sheet:
            self._start_in_sheet(plain_name(name, TABLE), attributes)

    def _start_in_sheet(self, kind: str, attributes: Mapping[str, str]) -> None:
        if kind == "table":
            self.parts.append((f"sheet {attributes.get(f'{TABLE[0]} name', '')}", []))
        elif kind == "table-row":
            self._cells = []
        elif kind in ("table-cell", "covered-table-cell"):
            self._cells.append("")

    def end(self, name: str) -> None:
        if plain_name(name, TEXT) in ("p", "h"):
            self._in_paragraph -= 1
            self._add(" " if self._in_sheet else "\n")
        elif self._in_sheet and plain_name(name, TABLE) == "table-row":
            row = "\t".join(cell.strip() for cell in self._cells).rstrip("\t")
            if row:
                self.parts[-1][1].append(row + "\n")

    def characters(self, text: str) -> None:
        if self._in_paragraph:
            self._add(text)

    def _add(self, text: str) -> None:
        if not self._in_sheet:
            self.parts[-1][1].append(text)
        elif self._cells:
            self._cells[-1] += text
