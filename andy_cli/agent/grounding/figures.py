"""The rows and columns in results, and the figures that follow from them. Pure."""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from andy_cli.agent.grounding.quantities import FIGURE, readings
from andy_cli.agent.grounding.vocabulary import EXTENSIONS
from andy_cli.compiler.expression import Expression

FEW = 6
"""Of so few figures any two may be put together; of more, nearly every figure would follow."""
MANY = 300
"""Of so many lines of text nobody adds up the figures."""
LONG = 100
"""Of so many rows nobody sets each in terms of each."""
RULE = Expression(r"[\s\-=|+:_*─┼┬┴]*")
HEADING = Expression(r".*:\s*|total\s+[\d.,]+\w?\s*|#+\s.*|[├└│─\s]*\.\s*", re.IGNORECASE)
SUMMARY = Expression(
    r"^\W*(?:total|found|showing|listed|\d+ (?:files?|director\w+|results?|rows?|matches|items"
    r"|entries|e?-?mails?|messages?|events?|tasks?|songs?|commits?|total|passed)\b"
    r"|there (?:is|are)\b|page \d+|results? \d|on branch|contents of|listing)"
    r"|\b\d+ (?:files?|director\w+|rows?|items|entries)\W*$",
    re.IGNORECASE,
)
ENDING = Expression(r"\.([a-z][a-z0-9]{1,4})(?![\w.])")
NAMED = Expression(
    rf"(?<![^\s,;:\"'/|])[^\s,;:\"'/|]{{1,200}}\.(?:{'|'.join(sorted(EXTENSIONS))})(?![\w.])",
    re.IGNORECASE,
)


class Table(NamedTuple):
    """What a result lists: each row as text in lower case, and what stands under each other."""

    rows: tuple[str, ...]
    columns: Mapping[str, Sequence[object]]


def tables_of(value: object, text: str) -> list[Table]:
    """All lists in a result, at any depth."""
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
            if len(each) > 1:
                found.append(Table((), {str(key): [item] for key, item in each.items()}))
            held = [item for item in each.values() if isinstance(item, dict)]
            if len(held) > 1 and len(held) == len(each):
                found.append(listed(held))
            for item in each.values():
                if isinstance(item, str) and "\n" in item:
                    found += text_tables(item)
    return found


def listed(items: Sequence[object]) -> Table:
    columns: dict[str, list[object]] = {}
    for item in items:
        for key, value in pairs(item):
            columns.setdefault(key, []).append(value)
    return Table(tuple(row_text(each) for each in items), columns)


def pairs(item: object) -> Iterable[tuple[str, object]]:
    if isinstance(item, dict):
        for key, value in item.items():
            if isinstance(value, dict):
                yield from ((f"{key} {name}", each) for name, each in value.items())
            else:
                yield str(key), value
    elif isinstance(item, list):
        yield from ((str(at), each) for at, each in enumerate(item))
    else:
        yield "", item


def row_text(item: object) -> str:
    if isinstance(item, dict):
        return " ".join(f"{key}={value}" for key, value in item.items()).casefold()
    return str(item).casefold()


def text_tables(text: str) -> list[Table]:
    """The lines of a text without its headings; each block of them; the names in it."""
    lines = [each for each in text.split("\n") if each.strip()]
    if lines and all(each.lstrip().startswith("{") for each in lines):
        lines = [each.strip() for each in lines]
    entries = [each for each in lines if is_entry(each)]
    found = [table_of_lines(entries)]
    blocks = text.split("\n\n")
    if len(blocks) > 1:
        found += [
            table_of_lines([line for line in each.split("\n") if line.strip() and is_entry(line)])
            for each in blocks
        ]
        found.append(Table(tuple(each for each in blocks if each.strip()), {}))
    else:
        found += headed(lines)
        found += branches(lines)
    found += separated(entries)
    if len(entries) > 1 and is_head(entries):
        found[0] = table_of_lines(entries[1:])
    bulleted = [each for each in lines if re.match(r"\s*(?:[-*•]|\d+[.)]|├|└|│)\s*", each)]
    if bulleted and len(bulleted) != len(entries):
        found.append(table_of_lines(bulleted))
    names = {*NAMED.compiled.findall(text)}
    if names:
        found.append(Table(tuple(sorted(names)), {}))
    for line in lines[:40]:
        if ", " in line:
            found.append(
                Table(
                    tuple((line.partition(": ")[2] if ": " in line else line).split(", ")),
                    {},
                )
            )
    return [each for each in found if each.rows]


def branches(lines: Sequence[str]) -> list[Table]:
    """What stands at one depth under one line, as in the listing of a tree."""
    open_groups: list[tuple[int, list[str]]] = []
    found: list[list[str]] = []
    for line in lines:
        depth = len(line) - len(line.lstrip(" \t│├└─"))
        while open_groups and open_groups[-1][0] > depth:
            open_groups.pop()
        if not open_groups or open_groups[-1][0] < depth:
            open_groups.append((depth, []))
            found.append(open_groups[-1][1])
        open_groups[-1][1].append(line)
    return [table_of_lines(each) for each in found] if len(found) > 1 else []


def separated(lines: Sequence[str]) -> list[Table]:
    """Lines of cells with one sign between them, the first line the head."""
    for sign in ";\t|,":
        widths = {line.count(sign) for line in lines}
        if len(lines) > 2 and len(widths) == 1 and widths != {0}:
            rows = [[cell.strip() for cell in line.split(sign)] for line in lines[1:]]
            names = [cell.strip() for cell in lines[0].split(sign)]
            columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
            return [Table(tuple(lines[1:]), columns)]
    return []


def headed(lines: Sequence[str]) -> list[Table]:
    """What stands under each line that ends with a colon."""
    found: list[list[str]] = []
    for line in lines:
        if line.rstrip().endswith(":"):
            found.append([])
        elif found:
            found[-1].append(line)
    return [table_of_lines(each) for each in found]


def is_entry(line: str) -> bool:
    return not (RULE.fullmatch(line) or HEADING.fullmatch(line) or SUMMARY.search(line))


def is_head(lines: Sequence[str]) -> bool:
    """Is the first line the head of a table: no figure in it, but in most of the others?"""
    first, rest = lines[0], lines[1:]
    if any(each.isdigit() for each in first):
        return False
    if len({line.count(",") for line in lines}) == 1 and first.count(","):
        return True
    return sum(any(map(str.isdigit, each)) for each in rest) == len(rest) and (
        first.upper() == first or "  " in first.strip() or "|" in first or "\t" in first
    )


def table_of_lines(lines: Sequence[str]) -> Table:
    """Numbers of the lines are columns, counted from both ends."""
    columns: dict[str, list[object]] = {}
    for line in lines if len(lines) <= MANY else ():
        found = [
            readings(each)[0].value for each in FIGURE.compiled.findall(line) if readings(each)
        ]
        for at, value in enumerate(found[:8]):
            columns.setdefault(str(at), []).append(value)
            columns.setdefault(f"-{len(found) - at}", []).append(value)
    return Table(tuple(lines), columns)


def figure_of(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < 1e300 else None
    if isinstance(value, str) and len(value) < 24:
        digits = FIGURE.compiled.findall(value)
        if len(digits) == 1 and (found := readings(digits[0])):
            return found[0].value
    return None


def derived(
    tables: Sequence[Table], numbers: Sequence[float], asked: Sequence[float] = ()
) -> set[float]:
    """Figures that follow: of each column the sum, the mean, the median and the differences of
    neighbours and of the ends; of few numbers in all also sums and differences of two."""
    found: set[float] = set()
    for table in tables:
        numeric: list[tuple[frozenset[str], list[float]]] = []
        for key, values in table.columns.items():
            column = [each for each in map(figure_of, values) if each is not None]
            if len(column) > 1:
                found.update(of_column(column))
            numeric.append((frozenset(UNITS.findall(key.casefold())), column))
        # Of lines of text nobody knows what their figures measure.
        if len(numeric) <= 12 and "-1" not in table.columns:
            found.update(of_rows(numeric))
            found.update(by_group(table))
    if len(numbers) <= FEW:
        whole = [each for each in numbers if each >= 1]
        found.update(a + b for a in whole for b in whole if a != b)
        found.update(a - b for a in numbers for b in numbers)
        rates = [each for each in numbers if each != int(each)]
        found.update(a * b for a in asked for b in rates)
        found.update(a / b for a in asked for b in rates if b)
    found.update([-each for each in found if each < 0])
    found.discard(0.0)
    return found


def totals(tables: Sequence[Table]) -> Iterator[float]:
    """Sums and means of columns, and of their parts by the values of another column: what is told
    without a word that it was worked out."""
    for table in tables:
        for values in table.columns.values():
            column = [each for each in map(figure_of, values) if each is not None]
            if len(column) > 1:
                yield sum(column)
                if "-1" not in table.columns:
                    yield sum(column) / len(column)
        if len(table.columns) <= 12 and "-1" not in table.columns:
            yield from by_group(table)
            columns = [[figure_of(each) or 0.0 for each in column] for column in table.columns.values()]
            if len({len(each) for each in columns}) == 1:
                yield from map(sum, zip(*columns, strict=True))


def of_column(column: Sequence[float]) -> Iterable[float]:
    total, ordered = sum(column), sorted(column)
    yield total
    yield total / len(column)
    yield ordered[len(ordered) // 2]
    yield (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    yield ordered[-1] - ordered[0]
    yield abs(column[-1] - column[0])
    yield from (abs(a - b) for a, b in itertools.pairwise(column))
    if len(column) <= 6:
        yield from (abs(a - b) for a in column for b in column)
    running = 0.0
    for value in column[:12]:
        running += value
        yield running


UNITS = re.compile(
    r"km|minutes|seconds?|sec\b|ms\b|kg|bytes|[kmgt]b|pages|hours?|percent|rating|price"
    r"|amount|score"
)


def of_rows(columns: Sequence[tuple[frozenset[str], Sequence[float]]]) -> Iterable[float]:
    """What two figures of a row come to; sums only of figures in one unit."""
    for at, (unit, first) in enumerate(columns):
        for other, second in columns[at + 1 :]:
            if len(first) != len(second):
                continue
            for a, b in zip(first, second, strict=True):
                if unit == other:
                    yield from (a + b, abs(a - b))
                if a and b:
                    yield from (a / b, b / a)
            products = [a * b for a, b in zip(first, second, strict=True)]
            yield from products
            yield sum(products)


def by_group(table: Table) -> Iterable[float]:
    """Sums of a column for each value of another."""
    texts = {
        key: values
        for key, values in table.columns.items()
        if 1 < len({str(each) for each in values}) < len(values)
    }
    for key, names in texts.items():
        for other, values in table.columns.items():
            if other == key or len(values) != len(names):
                continue
            sums: dict[str, float] = {}
            for name, value in zip(names, values, strict=True):
                sums[str(name)] = sums.get(str(name), 0.0) + (figure_of(value) or 0.0)
            yield from sums.values()


def ratios(tables: Sequence[Table], counts: Iterable[int], numbers: Sequence[float]) -> set[float]:
    """Percentages that follow: parts of a column's sum, changes along it, shares of counts, and
    of few numbers in all each in terms of each other."""
    found: set[float] = set()
    for table in tables:
        for values in table.columns.values():
            column = [each for each in map(figure_of, values) if each is not None]
            total = sum(column)
            if len(column) > 1 and total:
                found.update(100 * each / total for each in column)
                found.update(change(a, b) for a, b in itertools.pairwise(column) if a)
                if column[0]:
                    found.add(change(column[0], column[-1]))
    sums = [sum(each) for each in columns_of(tables) if len(each) > 1]
    single = [each[0] for each in columns_of(tables) if len(each) == 1][:12]
    found.update(100 * a / b for a in sums for b in single if b)
    whole = sorted(set(counts))[-24:]
    found.update(100 * a / b for b in whole if b for a in whole if a <= b)
    if len(numbers) <= FEW:
        found.update(100 * a / b for b in numbers if b for a in numbers)
        found.update(change(b, a) for b in numbers if b for a in numbers)
        found.update(100 - 100 * a / b for b in numbers if b for a in numbers)
    for table in tables:
        if len(table.rows) > LONG:
            continue
        columns = [[figure_of(each) for each in values] for values in table.columns.values()][:8]
        for first in columns:
            for second in columns:
                if len(first) == len(second):
                    found.update(100 * a / b for a, b in zip(first, second, strict=True) if a and b)
                    found.update(
                        abs(change(b, a)) for a, b in zip(first, second, strict=True) if a and b
                    )
    return found


def columns_of(tables: Sequence[Table]) -> Iterator[list[float]]:
    for table in tables:
        for values in table.columns.values():
            yield [each for each in map(figure_of, values) if each is not None]


def change(first: float, second: float) -> float:
    return abs(100 * (second - first) / first)
