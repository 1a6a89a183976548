"""Take results apart into tables: rows, and the columns of figures in them. Pure."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from andy_cli.agent.grounding.folding import folded
from andy_cli.agent.grounding.quantities import FIGURE, quantity, readings
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


class Table(NamedTuple):
    """What a result lists: each row as folded text, and what stands under each other."""

    rows: tuple[str, ...]
    columns: Mapping[str, Sequence[object]]
    sure: bool = False
    """Its rows are records: objects, or lines with cells."""


def parsed(text: str) -> object:
    """The JSON that a result is, or ends with; the text itself where it is none."""
    start = re.search(r"^[\[{]", text.lstrip() if text[:1].isspace() else text, re.MULTILINE)
    if start is None:
        return text
    try:
        value: object = json.loads(text.lstrip()[start.start() :], strict=False)
    except (ValueError, RecursionError):
        return text
    return value


def tables_of(value: object, text: str) -> list[Table]:
    """All lists in a result, at any depth; `text` is the result, folded."""
    if isinstance(value, str):
        return text_tables(text)
    found: list[Table] = []
    waiting: list[object] = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            found.append(listed(each))
            waiting += [item for item in each if isinstance(item, list | dict)]
        elif isinstance(each, dict):
            waiting += [item for item in each.values() if isinstance(item, list | dict)]
            plain = {str(key): [item] for key, item in each.items()}
            if len(each) > 1:
                found.append(named_values(each))
                found.append(Table((), plain))
            for item in each.values():
                if isinstance(item, str) and "\n" in item:
                    found += text_tables(folded(item))
    return found


def listed(items: Sequence[object]) -> Table:
    columns: dict[str, list[object]] = {}
    for item in items:
        for key, value in pairs(item):
            columns.setdefault(key, []).append(value)
    sure = all(isinstance(each, dict | list) for each in items)
    return Table(tuple(row_text(each) for each in items), columns, sure)


def named_values(named: Mapping[str, object]) -> Table:
    """`{"Oslo": {"max": 2}, "Rome": {"max": 16}}`: each key with its value is a row."""
    columns: dict[str, list[object]] = {}
    for item in named.values():
        for key, value in pairs(item):
            columns.setdefault(key, []).append(value)
    rows = tuple(f"{folded(str(key))} {row_text(item)}" for key, item in named.items())
    records = all(isinstance(each, Mapping) for each in named.values()) or all(
        isinstance(each, int | float) for each in named.values()
    )
    return Table(rows if records else (), columns, records)


def pairs(item: object) -> Iterable[tuple[str, object]]:
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


def row_text(item: object, depth: int = DEEPEST) -> str:
    """The values of a row in one line; what lies deeper has rows of its own."""
    if isinstance(item, Mapping | list) and not depth:
        return "..."
    if isinstance(item, Mapping):
        cells = (f"{key} = {row_text(value, depth - 1)}" for key, value in item.items())
        return folded(" ; ".join(cells))
    if isinstance(item, list):
        return " ; ".join(row_text(value, depth - 1) for value in item)
    return folded(str(item))


def text_tables(text: str) -> list[Table]:
    """The lines of a text, each block of them, those with bullets, and lines of cells."""
    lines = [each for each in text.split("\n") if each.strip() and not RULE.fullmatch(each)]
    found = [table_of_lines(lines)]
    if len(lines) > 1:
        found.append(table_of_lines(lines[1:]))  # without a head
    bulleted = [each for each in lines if BULLET.match(each)]
    if 1 < len(bulleted) < len(lines):
        found.append(table_of_lines(bulleted))
    blocks = [each for each in re.split(r"\n\s*\n", text) if each.strip()]
    if len(blocks) > 1:
        found.append(Table(tuple(blocks), {}))
        found += [
            table_of_lines([line for line in each.split("\n") if line.strip()]) for each in blocks
        ]
    found += headed(lines)
    found += runs(lines)
    for block in blocks:
        found += separated([each for each in block.split("\n") if each.strip()])
    for line in lines[:40]:
        if ", " in line:
            found.append(Table(tuple(line.rpartition(": ")[2].split(", ")), {}))
    return [each for each in found if each.rows]


def separated(lines: Sequence[str]) -> list[Table]:
    """Lines of cells with one sign between them, the first line the head."""
    lines = [each for each in lines if not RULE.fullmatch(each)]
    for sign in SIGNS:
        runs: list[list[str]] = [[]]
        for line in lines:
            if line.count(sign) and (not runs[-1] or runs[-1][0].count(sign) == line.count(sign)):
                runs[-1].append(line)
            elif runs[-1]:
                runs.append([])
        found = [table_of_cells(each, sign) for each in runs if len(each) > 2]
        if found:
            return found
    return []


def table_of_cells(lines: Sequence[str], sign: str) -> Table:
    head = 0 if any(figure_of(cell) is not None for cell in lines[0].split(sign)) else 1
    rows = [[cell.strip() for cell in line.split(sign)] for line in lines[head:]]
    names = [cell.strip() for cell in lines[0].split(sign)]
    columns = {f"{at} {name}": [row[at] for row in rows] for at, name in enumerate(names)}
    return Table(tuple(" ; ".join(row) for row in rows), columns, True)


def runs(lines: Sequence[str]) -> list[Table]:
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
    return [table_of_lines(each)._replace(sure=True) for each in found if len(each) > 1]


def headed(lines: Sequence[str]) -> list[Table]:
    """What stands under each line that ends with a colon."""
    found: list[list[str]] = []
    for line in lines:
        if line.rstrip().endswith(":"):
            found.append([])
        elif found:
            found[-1].append(line)
    return [table_of_lines(each) for each in found]


def table_of_lines(lines: Sequence[str]) -> Table:
    """Figures of the lines are columns, counted from both ends."""
    columns: dict[str, list[object]] = {}
    for line in lines if len(lines) <= MANY else ():
        found = FIGURE.compiled.findall(line)[:8]
        for at, text in enumerate(found):
            if value := readings(text):
                columns.setdefault(str(at), []).append(value[0].value)
                columns.setdefault(f"-{len(found) - at}", []).append(value[0].value)
    return Table(tuple(lines), columns, alike(lines))


def alike(lines: Sequence[str]) -> bool:
    """Whether lines are records: short, most with the same number of figures, one at least."""
    if not 1 < len(lines) <= MANY or any(len(each) > LONG for each in lines):
        return False
    counts = Counter(len(FIGURE.compiled.findall(each)) for each in lines)
    common, times = counts.most_common(1)[0]
    return common > 0 and times >= 0.7 * len(lines)


def figure_of(value: object) -> float | None:
    """The figure that a cell is, in bytes or seconds where it has such a unit."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < 1e300 else None
    if isinstance(value, str) and len(value) < 24:
        return quantity(folded(value))
    return None
