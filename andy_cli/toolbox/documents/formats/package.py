"""A document that is a ZIP archive of XML files, read as it is unpacked, so that none is too large.

    with opened_package(file, "Word document") as package:
        package.parse("word/document.xml", start, end, characters)      as expat tells them

Sources: ECMA-376 part 2 (Word, Excel, PowerPoint), OpenDocument 1.3 part 2, EPUB 3.3.
"""

import posixpath
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import zip_longest
from typing import BinaryIO, NamedTuple
from xml.parsers import expat

from andy_cli.errors import ToolError

MAX_BYTES = 64 << 20
"""Unpacked, of all that is read of one document."""
PIECE = 1 << 16
RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"

FAULTS = (
    zipfile.BadZipFile,
    zlib.error,
    expat.ExpatError,
    EOFError,
    LookupError,
    NotImplementedError,
    RuntimeError,
    OSError,
    ValueError,
)
"""The errors of reading a damaged archive, or the XML in it."""


class PartLink(NamedTuple):
    """A pointer from one part of a document to another."""

    kind: str
    """The last word of its type: `slide`, `notesSlide`."""
    target: str
    """The name of the other part in the archive."""


class Package:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._left = MAX_BYTES
        self.names = frozenset(archive.namelist())

    def pieces(self, name: str) -> Iterator[bytes]:
        """Unpack one file. Raises ToolError for far too much."""
        with self._archive.open(name) as packed:
            while data := packed.read(PIECE):
                self._left -= len(data)
                if self._left < 0:
                    raise ToolError("The document would unpack to far more than it is.")
                yield data

    def read(self, name: str) -> bytes:
        return b"".join(self.pieces(name))

    def parse(
        self,
        name: str,
        start: Callable[[str, Mapping[str, str]], None],
        end: Callable[[str], None] | None = None,
        characters: Callable[[str], None] | None = None,
    ) -> None:
        """Read one file of XML, in its order; names are `namespace name`, those of attributes too.

        Raises ToolError for one with entities.
        """
        parser = expat.ParserCreate(namespace_separator=" ")
        # No office program writes any, and an entity can stand for a gigabyte.
        parser.EntityDeclHandler = _refuse_entity
        parser.StartElementHandler = start
        parser.EndElementHandler = end
        parser.CharacterDataHandler = characters
        for data in self.pieces(name):
            parser.Parse(data, False)
        parser.Parse(b"", True)

    def links(self, name: str) -> dict[str, PartLink]:
        """Return where a part points to, by the ids it uses for that."""
        folder, _, file = name.rpartition("/")
        links: dict[str, PartLink] = {}

        def start(element: str, attributes: Mapping[str, str]) -> None:
            is_link = element == f"{RELATIONSHIPS} Relationship"
            if is_link and attributes.get("TargetMode") != "External":
                kind = attributes["Type"].rpartition("/")[2]
                target = posixpath.normpath(posixpath.join("/", folder, attributes["Target"]))
                links[attributes["Id"]] = PartLink(kind, target.lstrip("/"))

        listed = f"{folder}/_rels/{file}.rels"
        if listed in self.names:
            self.parse(listed, start)
        return links


def _refuse_entity(*declared: object) -> None:
    raise ToolError("The document declares entities, which no office program does.")


@contextmanager
def opened_package(file: BinaryIO, kind: str, needs: str) -> Iterator[Package]:
    """Open a document of a `kind`, which holds the file `needs`.

    Raises ToolError for what is damaged, encrypted, another document or a bomb.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            package = Package(archive)
            if needs not in package.names:
                raise ToolError(f"It is no {kind}, or it is encrypted.")
            yield package
    except FAULTS as error:
        raise ToolError("The document is damaged or encrypted and cannot be read.") from error


def plain_name(name: str, namespaces: tuple[str, ...]) -> str:
    """Return the element's own name if it is of one of these namespaces, else nothing."""
    namespace, _, local_name = name.rpartition(" ")
    return local_name if namespace in namespaces else ""


MAX_ROW_CHARACTERS = 1000
"""Characters of a row that stands in one line: what has more is a page laid out by a table."""
MAX_COLUMNS = 100
"""Columns of one cell."""


class _RowCell(NamedTuple):
    start: int
    """The number of pieces in front of it."""
    columns: int


class TableRows:
    """The rows of tables within a text that is collected in pieces: each becomes one line, its
    cells between tabs. What stands in one cell alone, or holds a table, keeps its own lines."""

    def __init__(self) -> None:
        self._rows: list[list[_RowCell]] = []

    def start(self, kind: str, pieces: list[str], columns: str = "1") -> None:
        """Begin a row (`tr`), a cell of it (`tc`), or take from a `gridSpan` how many columns the
        last cell has; other elements are none of a table."""
        if kind == "tr":
            self._rows.append([])
        elif kind == "tc" and self._rows:
            self._rows[-1].append(_RowCell(len(pieces), _read_columns(columns)))
        elif kind == "gridSpan" and self._rows and self._rows[-1]:
            self._rows[-1][-1] = self._rows[-1][-1]._replace(columns=_read_columns(columns))

    def end_row(self, pieces: list[str]) -> None:
        """Make one line of the row that ends, in place of its pieces."""
        cells = self._rows.pop() if self._rows else []
        if self._rows:
            # The row around it holds a table.
            self._rows[-1].clear()
        if len(cells) < 2:
            return
        length = sum(map(len, pieces[cells[0].start :]))
        if length > MAX_ROW_CHARACTERS:
            return
        columns: list[str] = []
        for cell, next_cell in zip_longest(cells, cells[1:]):
            end = next_cell.start if next_cell else len(pieces)
            text = "".join(pieces[cell.start : end])
            columns += [" ".join(text.split())] + [""] * (cell.columns - 1)
        pieces[cells[0].start :] = ["\t".join(columns).rstrip("\t") + "\n"]


def _read_columns(written: str) -> int:
    return min(int(written), MAX_COLUMNS) if written.isdecimal() else 1
