"""Take results apart into tables: rows, and the columns of figures in them. Pure."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from andy_cli.agent.grounding.figures.quantities import FIGURE, read_number, read_quantity
from andy_cli.agent.grounding.text.segmentation import fold_text
from andy_cli.compiler.expression import Expression

MAX_LINES = 300
"""Of so many lines of text nobody adds up the figures."""
MAX_RECORD_LENGTH = 120
"""Characters of a line that is a record."""
RULE = Expression(r"[\s\-=|+:_*─┼┬┴]*")
BULLET = Expression(r"\s*(?:[-*•]|\d+[.)]|├|└|│)\s*\S")
SIGNS = ";\t|,"


BLANK_LINE = Expression(r"\n\s*\n")


DIGITS = Expression(r"\d+")


MAX_ENUMERATIONS = 40
"""Lines of a text that are read as enumerations."""
JSON_START = Expression(r"^[\[{]", re.MULTILINE)
MAX_DEPTH = 12
"""Lists and objects inside each other that are told in one row."""


class ResultTable(NamedTuple):
    """A list in a result: each row as folded text, and what stands under each other."""

    rows: tuple[str, ...]
    columns: Mapping[str, Sequence[object]]
    sure: bool = False
    """Its rows are records: objects, or lines with cells."""


def parse_result(text: str) -> object:
    """Parse the JSON that a result is, or ends with; return the text itself where it is none."""
    start = JSON_START.search(text.lstrip() if text[:1].isspace() else text)
    if start is None:
        return text
    try:
        value: object = json.loads(text.lstrip()[start.start() :], strict=False)
    except (ValueError, RecursionError):
        return text
    return value


def find_tables(value: object, text: str) -> list[ResultTable]:
    """Find all lists in a result, at any depth; `text` is the result, folded."""
    if isinstance(value, str):
        return find_text_tables(text)
    tables: list[ResultTable] = []
    waiting: list[object] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            tables.append(tabulate_items(item))
            waiting += [child for child in item if isinstance(child, list | dict)]
        elif isinstance(item, dict):
            tables += find_mapping_tables(item)
            waiting += [child for child in item.values() if isinstance(child, list | dict)]
    return tables


def find_mapping_tables(mapping: Mapping[str, object]) -> Iterator[ResultTable]:
    if len(mapping) > 1:
        yield tabulate_mapping(mapping)
        yield ResultTable((), {str(key): [value] for key, value in mapping.items()})
    for value in mapping.values():
        if isinstance(value, str) and "\n" in value:
            yield from find_text_tables(fold_text(value))


def tabulate_items(items: Sequence[object]) -> ResultTable:
    holds_records = all(isinstance(item, dict | list) for item in items)
    return ResultTable(tuple(map(render_row, items)), collect_columns(items), holds_records)


def tabulate_mapping(rows_by_name: Mapping[str, object]) -> ResultTable:
    """Make a row of each key with its value: `{"Oslo": {"max": 2}, "Rome": {"max": 16}}`."""
    values = rows_by_name.values()
    rows = tuple(f"{fold_text(str(key))} {render_row(item)}" for key, item in rows_by_name.items())
    records = all(isinstance(value, Mapping) for value in values) or all(
        isinstance(value, int | float) for value in values
    )
    return ResultTable(rows if records else (), collect_columns(values), records)


def collect_columns(items: Iterable[object]) -> dict[str, list[object]]:
    columns: dict[str, list[object]] = {}
    for item in items:
        for key, value in list_cells(item):
            columns.setdefault(key, []).append(value)
    return columns


def list_cells(item: object) -> Iterator[tuple[str, object]]:
    if isinstance(item, Mapping):
        for key, value in item.items():
            if isinstance(value, Mapping):
                yield from ((f"{key} {name}", cell) for name, cell in value.items())
            else:
                yield str(key), value
    elif isinstance(item, list):
        yield from ((str(column), cell) for column, cell in enumerate(item))
    else:
        yield "", item


def render_row(item: object, depth: int = MAX_DEPTH) -> str:
    """Render the values of a row in one line; what lies deeper has rows of its own."""
    if isinstance(item, Mapping | list) and not depth:
        return "..."
    if isinstance(item, Mapping):
        cells = (f"{key} = {render_row(value, depth - 1)}" for key, value in item.items())
        return fold_text(" ; ".join(cells))
    if isinstance(item, list):
        return " ; ".join(render_row(value, depth - 1) for value in item)
    return fold_text(str(item))


def find_text_tables(text: str) -> list[ResultTable]:
    """Find tables in a text: its lines, each block of them, those with bullets, those under a
    colon, those with the same number of figures or cells, and enumerations in a line."""
    lines = [line for line in split_filled_lines(text) if not RULE.fullmatch(line)]
    blocks = [block for block in BLANK_LINE.split(text) if block.strip()]
    tables = [*find_line_tables(lines)]
    if len(blocks) > 1:
        tables.append(ResultTable(tuple(blocks), {}))
        tables += [tabulate_lines(split_filled_lines(block)) for block in blocks]
    tables += find_headed_tables(lines)
    tables += find_runs(lines)
    for block in blocks:
        tables += find_separated_tables(split_filled_lines(block))
    tables += find_enumerations(lines)
    return [table for table in tables if table.rows]


def split_filled_lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def find_line_tables(lines: Sequence[str]) -> Iterator[ResultTable]:
    yield tabulate_lines(lines)
    if len(lines) > 1:
        yield tabulate_lines(lines[1:])  # without a head
    bulleted = [line for line in lines if BULLET.match(line)]
    if 1 < len(bulleted) < len(lines):
        yield tabulate_lines(bulleted)


def find_enumerations(lines: Sequence[str]) -> Iterator[ResultTable]:
    for line in lines[:MAX_ENUMERATIONS]:
        if ", " in line:
            yield ResultTable(tuple(line.rpartition(": ")[2].split(", ")), {})


def find_separated_tables(lines: Sequence[str]) -> list[ResultTable]:
    """Find lines of cells with one sign between them, the first line the head."""
    lines = [line for line in lines if not RULE.fullmatch(line)]
    for separator in SIGNS:
        tables = [
            tabulate_cells(line_run, separator)
            for line_run in group_by_count(lines, separator)
            if len(line_run) > 2
        ]
        if tables:
            return tables
    return []


def group_by_count(lines: Sequence[str], separator: str) -> list[list[str]]:
    """Group neighbouring lines that have the sign the same number of times."""
    line_runs: list[list[str]] = [[]]
    for line in lines:
        count = line.count(separator)
        if count and (not line_runs[-1] or line_runs[-1][0].count(separator) == count):
            line_runs[-1].append(line)
        elif line_runs[-1]:
            line_runs.append([])
    return line_runs


def tabulate_cells(lines: Sequence[str], separator: str) -> ResultTable:
    head = 0 if any(read_cell(cell) is not None for cell in lines[0].split(separator)) else 1
    rows = [[cell.strip() for cell in line.split(separator)] for line in lines[head:]]
    names = [cell.strip() for cell in lines[0].split(separator)]
    columns = {
        f"{column_index} {name}": [row[column_index] for row in rows]
        for column_index, name in enumerate(names)
    }
    return ResultTable(tuple(" ; ".join(row) for row in rows), columns, True)


def find_runs(lines: Sequence[str]) -> list[ResultTable]:
    """Find lines that follow each other and have the same number of figures: records in a text."""
    line_runs: list[list[str]] = []
    last_count = 0
    for line in lines:
        count = len(DIGITS.compiled.findall(line)) if len(line) <= MAX_RECORD_LENGTH else 0
        if count and count == last_count:
            line_runs[-1].append(line)
        elif count:
            line_runs.append([line])
        last_count = count
    return [
        tabulate_lines(line_run)._replace(sure=True) for line_run in line_runs if len(line_run) > 1
    ]


def find_headed_tables(lines: Sequence[str]) -> list[ResultTable]:
    """Find the lines under each line that ends with a colon."""
    groups: list[list[str]] = []
    for line in lines:
        if line.rstrip().endswith(":"):
            groups.append([])
        elif groups:
            groups[-1].append(line)
    return [tabulate_lines(group) for group in groups]


def tabulate_lines(lines: Sequence[str]) -> ResultTable:
    """Make columns of the figures of lines, counted from both ends."""
    columns: dict[str, list[object]] = {}
    for line in lines if len(lines) <= MAX_LINES else ():
        figures = FIGURE.compiled.findall(line)[:8]
        for column_index, text in enumerate(figures):
            if readings := read_number(text):
                columns.setdefault(str(column_index), []).append(readings[0].value)
                columns.setdefault(f"-{len(figures) - column_index}", []).append(readings[0].value)
    return ResultTable(tuple(lines), columns, are_records(lines))


def are_records(lines: Sequence[str]) -> bool:
    """Tell whether lines are records: short, most with the same number of figures, one at least."""
    if not 1 < len(lines) <= MAX_LINES or any(len(line) > MAX_RECORD_LENGTH for line in lines):
        return False
    counts = Counter(len(FIGURE.compiled.findall(line)) for line in lines)
    common, times = counts.most_common(1)[0]
    return common > 0 and times >= 0.7 * len(lines)


def read_cell(value: object) -> float | None:
    """Read the figure that a cell is, in bytes or seconds where it has such a unit."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < 1e300 else None
    if isinstance(value, str) and len(value) < 24:
        return read_quantity(fold_text(value))
    return None
