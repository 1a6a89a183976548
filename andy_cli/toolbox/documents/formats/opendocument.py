"""The text of an OpenDocument file: a text (.odt), a sheet (.ods) or a presentation (.odp).

    content.xml:    <text:p>A line</text:p>
                    <table:table table:name="Sales"><table:table-row><table:table-cell>...
                    <draw:page draw:name="page1">...

Text that was deleted while changes were tracked is in the file and is left out.

Source: OpenDocument 1.3, part 3.
"""

from collections.abc import Mapping
from typing import BinaryIO, NamedTuple

from andy_cli.errors import ToolError
from andy_cli.toolbox.documents.formats.package import TableRows, opened_package, plain_name

CONTENT = "content.xml"
NAMESPACE = "urn:oasis:names:tc:opendocument:xmlns:{}:1.0"
TEXT, TABLE, DRAW, OFFICE = (
    (NAMESPACE.format(name),) for name in ("text", "table", "drawing", "office")
)
BETWEEN = {"tab": "\t", "line-break": "\n", "s": " "}
MAX_SPACES = 100
ASIDES = ("annotation", "note")
MAX_CHARACTERS = 20_000_000
"""Of all sheets: few signs of a file can repeat a row for ever."""


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


WORD_NAMES = {"table-row": "tr", "table-cell": "tc", "covered-table-cell": "tc"}
"""Elements of tables by the names that Word gives them, which TableRows takes."""


class _Aside(NamedTuple):
    """A comment or a footnote: it stands in brackets where it belongs."""

    pieces: list[str]
    outer_paragraphs: int
    """The paragraphs that it stands in: what is in these and in none of its own is no text of it,
    as the name of who wrote a comment and the number of a footnote."""


class _Cell(NamedTuple):
    """A cell of a sheet; the same ones side by side are written once, also empty ones."""

    pieces: list[str]
    repeated: int


class _OpenDocumentReader:
    def __init__(self) -> None:
        self.parts: list[tuple[str, list[str]]] = [("", [])]
        self._in_paragraph = 0
        self._in_deleted = 0
        self._in_sheet = False
        self._asides: list[_Aside] = []
        self._rows = TableRows()
        self._cells: list[_Cell] = []
        self._row_repeated = 1
        self._room = MAX_CHARACTERS
        self._slides = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if self._in_deleted or plain_name(name, TEXT + TABLE) == "tracked-changes":
            self._in_deleted += 1
        elif (kind := plain_name(name, TEXT)) in ("p", "h"):
            self._in_paragraph += 1
        elif kind in BETWEEN:
            number = attributes.get(f"{TEXT[0]} c", "1") if kind == "s" else "1"
            self._add(BETWEEN[kind] * min(int(number), MAX_SPACES))
        elif plain_name(name, TEXT + OFFICE) in ASIDES:
            self._asides.append(_Aside([], self._in_paragraph))
        elif plain_name(name, OFFICE) == "spreadsheet":
            self._in_sheet = True
        elif plain_name(name, DRAW) == "page":
            self._slides += 1
            self.parts.append((f"slide {self._slides}", []))
        elif kind := plain_name(name, TABLE):
            self._start_in_table(kind, attributes)

    def _start_in_table(self, kind: str, attributes: Mapping[str, str]) -> None:
        columns = attributes.get(f"{TABLE[0]} number-columns-repeated", "1")
        if not self._in_sheet:
            self._rows.start(WORD_NAMES.get(kind, ""), self.parts[-1][1], columns)
        elif kind == "table":
            self.parts.append((f"sheet {attributes.get(f'{TABLE[0]} name', '')}", []))
        elif kind == "table-row":
            self._cells = []
            self._row_repeated = int(attributes.get(f"{TABLE[0]} number-rows-repeated", "1"))
        elif kind in ("table-cell", "covered-table-cell"):
            self._cells.append(_Cell([], int(columns)))

    def end(self, name: str) -> None:
        if self._in_deleted:
            self._in_deleted -= 1
        elif plain_name(name, TEXT) in ("p", "h"):
            self._in_paragraph -= 1
            self._add(" " if self._in_sheet else "\n")
        elif self._asides and plain_name(name, TEXT + OFFICE) in ASIDES:
            text = " ".join("".join(self._asides.pop().pieces).split())
            self._add(f" [{text}] " if text else "")
        elif plain_name(name, TABLE) == "table-row":
            self._end_row()

    def _end_row(self) -> None:
        if not self._in_sheet:
            self._rows.end_row(self.parts[-1][1])
            return
        cells = [("".join(cell.pieces).strip(), cell.repeated) for cell in self._cells]
        while cells and not cells[-1][0]:
            cells.pop()  # the rest of a row is empty, to the last column that there can be
        if not cells:
            return
        self._room -= self._row_repeated * sum((len(text) + 1) * count for text, count in cells)
        if self._room < 0:
            raise ToolError("The sheet holds too much to be read as a whole.")
        row = "\t".join(text for text, count in cells for _ in range(count))
        self.parts[-1][1].append(f"{row}\n" * self._row_repeated)

    def characters(self, text: str) -> None:
        outer_paragraphs = self._asides[-1].outer_paragraphs if self._asides else 0
        if self._in_paragraph > outer_paragraphs and not self._in_deleted:
            self._add(text)

    def _add(self, text: str) -> None:
        if self._asides:
            self._asides[-1].pieces.append(text)
        elif not self._in_sheet:
            self.parts[-1][1].append(text)
        elif self._cells:
            self._cells[-1].pieces.append(text)
