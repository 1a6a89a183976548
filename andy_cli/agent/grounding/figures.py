"""The rows and columns in results, and the figures that follow from them. Pure."""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from andy_cli.agent.grounding.tables import Table, figure_of

FEW = 6
"""Of so few figures any two may be put together; of more, nearly every figure would follow."""

LONG = 100
"""Of so many rows nobody sets each in terms of each."""


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
            columns = [
                [figure_of(each) or 0.0 for each in column] for column in table.columns.values()
            ]
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
        if len(table.rows) <= LONG:
            found.update(across(table))
    return found


def across(table: Table) -> Iterator[float]:
    """The figures of each row in terms of each other."""
    columns = [[figure_of(each) for each in values] for values in table.columns.values()][:8]
    for first, second in itertools.product(columns, repeat=2):
        if len(first) != len(second):
            continue
        for a, b in zip(first, second, strict=True):
            if a and b:
                yield 100 * a / b
                yield abs(change(b, a))


def columns_of(tables: Sequence[Table]) -> Iterator[list[float]]:
    for table in tables:
        for values in table.columns.values():
            yield [each for each in map(figure_of, values) if each is not None]


def change(first: float, second: float) -> float:
    return abs(100 * (second - first) / first)
