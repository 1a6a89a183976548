"""Take results apart into tables: rows, and the columns of figures in them. Pure."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from andy_cli.agent.grounding.figures.quantities import FIGURE, read_number, read_quantity
from andy_cli.agent.grounding.text.folding import fold_text
from andy_cli.compiler.expression import Expression

MANY = 300
"""Of so many lines of text nobody adds up the figures."""
LONG = 120
"""Characters of a line that is a record."""
RULE = Expression(r"[\s\-=|+:_*─┼┬┴]*")
BULLET = Expression(r"\s*(?:[-*•]|\d+[.)]|├|└|│)\s*\S")
SIGNS = ";\t|,"
DEEPEST = 12
"""Lists and objects inside each other that are told in one row."""


class ResultTable(NamedTuple):
    """What a result lists: each row as folded text, and what stands under each other."""

    rows: tuple[str, ...]
    columns: Mapping[str, Sequence[object]]
    sure: bool = False
    """Its rows are records: objects, or lines with cells."""


def parse_result(text: str) -> object:
    """The JSON that a result is, or ends with; the text itself where it is none."""
    start = re.search(r"^[\[{]", text.lstrip() if text[:1].isspace() else text, re.MULTILINE)
    if start is None:
        return text
    try:
        value: object = json.loads(text.lstrip()[start.start() :], strict=False)
    except (ValueError, RecursionError):
        return text
    return value


def find_tables(value: object, text: str) -> list[ResultTable]:
    """All lists in a result, at any depth; `text` is the result, folded."""
    if isinstance(value, str):
        return find_text_tables(text)
    found: list[ResultTable] = []
    waiting: list[object] = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            found.append(tabulate_items(each))
            waiting += [item for item in each if isinstance(item, list | dict)]
        elif isinstance(each, dict):
            waiting += [item for item in each.values() if isinstance(item, list | dict)]
            plain = {str(key): [item] for key, item in each.items()}
            if len(each) > 1:
                found.append(tabulate_mapping(each))
                found.append(ResultTable((), plain))
            for item in each.values():
                if isinstance(item, str) and "\n" in item:
                    found += find_text_tables(fold_text(item))
    return found


def tabulate_items(items: Sequence[object]) -> ResultTable:
    columns: dict[str, list[object]] = {}
    for item in items:
        for key, value in list_cells(item):
            columns.setdefault(key, []).append(value)
    sure = all(isinstance(each, dict | list) for each in items)
    return ResultTable(tuple(render_row(each) for each in items), columns, sure)


def tabulate_mapping(named: Mapping[str, object]) -> ResultTable:
    """`{"Oslo": {"max": 2}, "Rome": {"max": 16}}`: each key with its value is a row."""
    columns: dict[str, list[object]] = {}
    for item in named.values():
        for key, value in list_cells(item):
            columns.setdefault(key, []).append(value)
    rows = tuple(f"{fold_text(str(key))} {render_row(item)}" for key, item in named.items())
    records = all(isinstance(each, Mapping) for each in named.values()) or all(
        isinstance(each, int | float) for each in named.values()
    )
    return ResultTable(rows if records else (), columns, records)


def list_cells(item: object) -> Iterable[tuple[str, object]]:
    if isinstance(item, Mapping):
        for key, value in item.items():
            if isinstance(value, Mapping):
                yield from ((f"{key} {name}", each) for name, each in value.items())
            else:
                yield str(key), value
    elif isinstance(item, list):
        yield from ((str(at), each) for at, each in enumerate(item))
    else:
        yield "", item


def render_row(item: object, depth: int = DEEPEST) -> str:
    """The values of a row in one line; what lies deeper has rows of its own."""
    if isinstance(item, Mapping | list) and not depth:
        return "..."
    if isinstance(item, Mapping):
        cells = (f"{key} = {render_row(value, depth - 1)}" for key, value in item.items())
        return fold_text(" ; ".join(cells))
    if isinstance(item, list):
        return " ; ".join(render_row(value, depth - 1) for value in item)
    return fold_text(str(item))


def find_text_tables(text: str) -> list[ResultTable]:
    """The lines of a text, each block of them, those with bullets, and lines of cells."""
    lines = [each for each in text.split("\n") if each.strip() and not RULE.fullmatch(each)]
    found = [tabulate_lines(lines)]
    if len(lines) > 1:
        found.append(tabulate_lines(lines[1:]))  # without a head
    bulleted = [each for each in lines if BULLET.match(each)]
    if 1 < len(bulleted) < len(lines):
        found.append(tabulate_lines(bulleted))
    blocks = [each for each in re.split(r"\n\s*\n", text) if each.strip()]
    if len(blocks) > 1:
        found.append(ResultTable(tuple(blocks), {}))
        found += [
            tabulate_lines([line for line in each.split("\n") if line.strip()]) for each in blocks
        ]
    found += find_headed_tables(lines)
    found += find_runs(lines)
    for block in blocks:
        found += find_separated_tables([each for each in block.split("\n") if each.strip()])
    for line in lines[:40]:
        if ", " in line:
            found.append(ResultTable(tuple(line.rpartition(": ")[2].split(", ")), {}))
    return [each for each in found if each.rows]


def find_separated_tables(lines: Sequence[str]) -> list[ResultTable]:
    """Lines of cells with one sign between them, the first line the head."""
    lines = [each for each in lines if not RULE.fullmatch(each)]
    for sign in SIGNS:
        runs: list[list[str]] = [[]]
        for line in lines:
            if line.count(sign) and (not runs[-1] or runs[-1][0].count(sign) == line.count(sign)):
                runs[-1].append(line)
            elif runs[-1]:
                runs.append([])
        found = [tabulate_cells(each, sign) for each in runs if len(each) > 2]
        if found:
            return found
    return []


def tabulate_cells(lines: Sequence[str], sign: str) -> ResultTable:
    head = 0 if any(read_cell(cell) is not None for cell in lines[0].split(sign)) else 1
    rows = [[cell.strip() for cell in line.split(sign)] for line in lines[head:]]
    names = [cell.strip() for cell in lines[0].split(sign)]
    columns = {f"{at} {name}": [row[at] for row in rows] for at, name in enumerate(names)}
    return ResultTable(tuple(" ; ".join(row) for row in rows), columns, True)


def find_runs(lines: Sequence[str]) -> list[ResultTable]:
    """Lines that follow each other and have the same number of figures: records in a text."""
    found: list[list[str]] = []
    last = 0
    for line in lines:
        count = len(re.findall(r"\d+", line)) if len(line) <= LONG else 0
        if count and count == last:
            found[-1].append(line)
        elif count:
            found.append([line])
        last = count
    return [tabulate_lines(each)._replace(sure=True) for each in found if len(each) > 1]


def find_headed_tables(lines: Sequence[str]) -> list[ResultTable]:
    """What stands under each line that ends with a colon."""
    found: list[list[str]] = []
    for line in lines:
        if line.rstrip().endswith(":"):
            found.append([])
        elif found:
            found[-1].append(line)
    return [tabulate_lines(each) for each in found]


def tabulate_lines(lines: Sequence[str]) -> ResultTable:
    """Figures of the lines are columns, counted from both ends."""
    columns: dict[str, list[object]] = {}
    for line in lines if len(lines) <= MANY else ():
        found = FIGURE.compiled.findall(line)[:8]
        for at, text in enumerate(found):
            if value := read_number(text):
                columns.setdefault(str(at), []).append(value[0].value)
                columns.setdefault(f"-{len(found) - at}", []).append(value[0].value)
    return ResultTable(tuple(lines), columns, are_alike(lines))


def are_alike(lines: Sequence[str]) -> bool:
    """Whether lines are records: short, most with the same number of figures, one at least."""
    if not 1 < len(lines) <= MANY or any(len(each) > LONG for each in lines):
        return False
    counts = Counter(len(FIGURE.compiled.findall(each)) for each in lines)
    common, times = counts.most_common(1)[0]
    return common > 0 and times >= 0.7 * len(lines)


def read_cell(value: object) -> float | None:
    """The figure that a cell is, in bytes or seconds where it has such a unit."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < 1e300 else None
    if isinstance(value, str) and len(value) < 24:
        return read_quantity(fold_text(value))
    return None
