"""Rows of cells as models write them. Pure."""

import csv
import io
import json
import re
from collections.abc import Sequence

from andy_cli.toolbox.tool import ToolError

Cell = str | int | float | bool | None
Rows = list[list[Cell]]

MAX_CELLS = 50_000
"""Cells at once."""

FORMULA = re.compile(r"(?:^|,)[ \t]*(?==)", re.MULTILINE)
"""The place of a formula in a CSV."""
FORMULA_SIGN = re.compile(r'"[^"\n]*"|[(),\n]')

LEFT_ALONE = "(as it is)"
PLAIN_CELL = re.compile(r'[^\s"|]([^|]*[^\s"|])?')
"""A text that cannot be taken for several cells, or for none."""

MAX_CHARACTERS = 50_000
"""Characters of a cell; Google takes no more."""


def rows_of(written: object) -> Rows:
    """`[["a", 1], ["b", 2]]`, one row `["a", 1]`, or the lines of a CSV. Raises ToolError."""
    if isinstance(written, str):
        written = _from_text(written)
    if not isinstance(written, list | tuple) or not written:
        raise ToolError(
            "The values are rows of cells.", 'Write them like [["Name", "Age"], ["Ada", 36]].'
        )
    if not any(isinstance(element, list | tuple) for element in written):
        written = [written]
    rows = [[_cell(cell) for cell in _row(row)] for row in written]
    if sum(map(len, rows)) > MAX_CELLS:
        raise ToolError(f"Those are more than {MAX_CELLS} cells.", "Write them in parts.")
    return rows


def _from_text(written: str) -> object:
    if written.lstrip().startswith("["):
        try:
            return json.loads(written)
        except (ValueError, RecursionError) as error:
            raise ToolError("The values are no JSON.", 'Write them like [["Ada", 36]].') from error
    try:
        lines = io.StringIO(_quote_formulas(written))
        return [row for row in csv.reader(lines, skipinitialspace=True) if row]
    except csv.Error as error:
        raise ToolError("The values are no rows.", 'Write them like [["Ada", 36]].') from error


def _quote_formulas(written: str) -> str:
    """Quote the formulas of a CSV: `=SUM(A1,B1)` is one cell."""
    pieces: list[str] = []
    position = quotes = 0
    for beginning in FORMULA.finditer(written):
        start = beginning.end()
        if start < position:
            continue
        pieces.append(written[position:start])
        quotes += pieces[-1].count('"')
        position = start
        if quotes % 2 == 0:
            position = _find_formula_end(written, start)
            formula = written[start:position].replace('"', '""')
            pieces.append(f'"{formula}"')
    return "".join([*pieces, written[position:]])


def _find_formula_end(written: str, start: int) -> int:
    """Find the comma or line end behind a formula: one outside of its brackets and texts."""
    depth = 0
    for sign in FORMULA_SIGN.finditer(written, start):
        depth += (sign[0] == "(") - (sign[0] == ")")
        if sign[0] == "\n" or (sign[0] == "," and depth <= 0):
            return sign.start()
    return len(written)


def _row(row: object) -> Sequence[object]:
    return row if isinstance(row, list | tuple) else [row]


def _cell(cell: object) -> Cell:
    if isinstance(cell, str) and len(cell) > MAX_CHARACTERS:
        raise ToolError(f"A cell holds {MAX_CHARACTERS} characters at most.")
    if cell is None or isinstance(cell, str | int | float | bool):
        return cell
    raise ToolError("A cell holds a text, a number or true or false, and nothing that has parts.")


def show_rows(rows: Rows) -> str:
    """For people: a line for each row, its cells apart. A text that would look like several cells
    or none is quoted, and a cell without a value is one that is left as it is.
    """
    return "\n".join(" | ".join(map(_show_cell, row)) for row in rows)


def _show_cell(cell: Cell) -> str:
    if cell is None:
        return LEFT_ALONE
    is_plain = isinstance(cell, str) and PLAIN_CELL.fullmatch(cell) and cell.isprintable()
    return str(cell) if is_plain and cell != LEFT_ALONE else json.dumps(cell, ensure_ascii=False)
