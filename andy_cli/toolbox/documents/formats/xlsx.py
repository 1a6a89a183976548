"""The values of an Excel workbook (.xlsx, .xlsm), sheet by sheet, a row a line. A formula stands
for itself where no value of it was kept: programs that compute nothing write it so.

By openpyxl, as it reads row by row: python-calamine is faster, but takes the memory of all cells
between the first and the last one, and two cells in far corners end the process.
"""

import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, time
from typing import BinaryIO, Literal, Protocol, runtime_checkable

from andy_cli.errors import ToolError
from andy_cli.toolbox.documents.formats.package import MAX_BYTES

MISSING = "Reading Excel sheets needs openpyxl: pip install 'andy-cli[docs]'"
MAX_ROWS = 1_048_576
"""Of a sheet: what Excel itself allows."""
MAX_CHARACTERS = 20_000_000

FAULTS = (
    zipfile.BadZipFile,
    zlib.error,
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    NotImplementedError,
    RuntimeError,
    OSError,
    SyntaxError,  # of XML
    TypeError,
    ValueError,
)
"""The errors of openpyxl over damaged files, beside what it means to raise."""


def read_sheets(file: BinaryIO, go_on: Callable[[], None]) -> Iterator[tuple[str, str]]:
    """Give (name, text) of each sheet; with its name is said that it is hidden.

    Raises ToolError for what cannot be read, where openpyxl is missing, and what `go_on` raises.
    """
    try:
        from openpyxl import load_workbook  # 0.2 s, and an extra
        from openpyxl.utils.exceptions import InvalidFileException
    except ImportError as error:
        raise ToolError(MISSING) from error
    # It warns of styles it does not know, on the screen.
    warnings.filterwarnings("ignore", module="openpyxl")
    try:
        _check_size(file)
        # The values that were last computed stand for formulas.
        workbook = load_workbook(file, read_only=True, data_only=True, keep_links=False)
        formulas = load_workbook(file, read_only=True) if _has_formulas(file) else workbook
        for name in workbook.sheetnames:
            sheet = workbook[name]
            note = "" if sheet.sheet_state == "visible" else " (hidden)"
            yield f"{name}{note}", _read_sheet(sheet, formulas[name], go_on)
        workbook.close()
        formulas.close()
    except (InvalidFileException, *FAULTS) as error:
        raise ToolError("The sheet is damaged or encrypted and cannot be read.") from error


def _check_size(file: BinaryIO) -> None:
    with zipfile.ZipFile(file) as archive:
        # No more than this is unpacked, whatever there is.
        if sum(member.file_size for member in archive.infolist()) > MAX_BYTES:
            raise ToolError("The document would unpack to far more than it is.")


FORMULA = re.compile(rb"<f[ >]")
PIECE_BYTES = 1 << 20


def _has_formulas(file: BinaryIO) -> bool:
    """Tell whether a cell has a formula; without one the workbook is read once."""
    with zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            if member.filename.startswith("xl/worksheets/"):
                with archive.open(member) as part:
                    end = b""
                    while piece := part.read(PIECE_BYTES):
                        if FORMULA.search(end + piece):
                            return True
                        end = piece[-2:]
    return False


@runtime_checkable
class Sheet(Protocol):
    """The part of a sheet of openpyxl that we need."""

    def reset_dimensions(self) -> None: ...

    def iter_rows(self, *, values_only: Literal[True]) -> Iterable[tuple[object, ...]]: ...


def _read_sheet(sheet: object, formulas: object, go_on: Callable[[], None]) -> str:
    """The rows of a sheet; `formulas` is the same sheet with them, or that sheet itself."""
    if not isinstance(sheet, Sheet) or not isinstance(formulas, Sheet):
        return ""  # it is a chart
    # Else each row between two cells is made as wide as the whole sheet says it is.
    sheet.reset_dimensions()
    rows = sheet.iter_rows(values_only=True)
    if formulas is not sheet:
        formulas.reset_dimensions()
        both = zip(rows, formulas.iter_rows(values_only=True), strict=False)
        rows = (tuple(map(_choose_value, *pair)) for pair in both)
    return _read_rows(rows, go_on)


def _choose_value(value: object, formula: object) -> object:
    return formula if value is None and isinstance(formula, str) else value


def _read_rows(rows: Iterable[tuple[object, ...]], go_on: Callable[[], None]) -> str:
    lines: list[str] = []
    characters = 0
    for number, row in enumerate(rows):
        go_on()
        line = "\t".join(map(_write_value, row)).rstrip("\t")
        characters += len(line)
        if number > MAX_ROWS or characters > MAX_CHARACTERS:
            raise ToolError("The sheet holds too much to be read as a whole.")
        if line:
            lines.append(line)
    return "\n".join(lines)


def _write_value(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float):
        return f"{value:.15g}"
    return " ".join(str(value).split())
