"""The figures of the evidence: those that stand in it, and what one column of a result comes to.

Nothing else is reckoned: of many figures any could be made. Pure.
"""

import itertools
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from andy_cli.agent.grounding.evidence import MAX_OCCURRENCES, EvidenceIndex, ResultTable
from andy_cli.agent.grounding.figures.quantities import (
    ANY_NUMBER,
    CLOCK,
    DURATION,
    SIZE,
    NumberLine,
    PartialDate,
    Quantity,
    find_date_pieces,
    find_dates,
    find_times,
    read_clock_seconds,
    read_duration,
    read_number,
    read_number_word,
    read_size,
)
from andy_cli.compiler.expression import Expression

PLAIN_NUMBER = Expression(r"\d{1,15}(?:\.\d{1,12})?")
NUMBER_PART = Expression(r"[\d.]")
LONGER_NUMBER = Expression(r"\d|\.\d")
UNITS_OF_BYTES = (1, 1e3, 1e6, 1e9, 2**10, 2**20, 2**30)
UNITS_OF_SECONDS = (0.001, 1, 60, 3600)
MAX_TIME = 1e9
CLOCK_TIMES = 12
"""Times of day of which each two may be the ends of a duration."""

FEW_COLUMNS = 3
"""Of fewer the sum is that of two, which is seldom a total."""
FEW_DURATIONS, DAY_MINUTES = 3, 1440
GROUPED_COLUMNS = 8
MAX_COMPARED_ROWS = 500
FEW_ROWS = 12
CHANCE = 100
"""Smaller figures come about by chance where each pair of columns is reckoned with."""


class EvidenceFigures:
    """The figures of the evidence, each kind made when it is first asked for."""

    def __init__(self, index: EvidenceIndex) -> None:
        self.index, self._text = index, index.text

    @cached_property
    def days(self) -> frozenset[PartialDate]:
        return frozenset(find_dates("\n".join(find_date_pieces(self._text, self.index.words))))

    @cached_property
    def minutes(self) -> frozenset[int]:
        return frozenset(find_times(self._text))

    @cached_property
    def ends(self) -> frozenset[int]:
        """The times at which a duration of the evidence ends that begins at one of its times, where
        both are few."""
        durations = {int(seconds) // 60 for seconds in find_durations(self._text)}
        if len(self.minutes) > CLOCK_TIMES or len(durations) > FEW_DURATIONS:
            return frozenset()
        pairs = itertools.product(self.minutes, durations)
        return frozenset((start + duration) % DAY_MINUTES for start, duration in pairs)

    @cached_property
    def numbers(self) -> NumberLine:
        texts = set(ANY_NUMBER.compiled.findall(self._text))
        values = {reading.value for text in texts for reading in read_number(text)}
        # Cells of comma-separated values look like one figure.
        values.update(map(float, PLAIN_NUMBER.compiled.findall(self._text)))
        spelled = map(read_number_word, self.index.words)
        values.update(float(number) for number in spelled if number is not None)
        return NumberLine(values)

    @cached_property
    def counts(self) -> NumberLine:
        """Count rows, and how many of one value a column has."""
        counts: set[int] = set()
        longest = []
        for tables in self.index.by_result:
            rows = [len(table.rows) for table in tables]
            counts.update(rows)
            longest.append(max(rows, default=0))
        for table in self.index.tables:
            for values in table.columns.values():
                groups = Counter(map(str, values))
                counts.update(groups.values())
                counts.add(len(groups))
        return NumberLine(map(float, {*counts, sum(longest), len(longest)}))

    @cached_property
    def totals(self) -> NumberLine:
        """Sum, mean and span of each column, and what two of them make; the least and the most of a
        column stand in the results."""
        tables = self.index.tables
        totals = {value for table in tables for value in compute_totals(table)}
        for columns in map(list_number_columns, tables):
            totals.update(compare_columns(columns))
            totals.update(compute_row_totals(columns))
        return NumberLine({*totals, *map(abs, totals)})  # what was spent is told without its sign

    @cached_property
    def bytes(self) -> NumberLine:
        numbers = self.numbers.values  # which may be megabytes, as a key says: `total_mb`
        values = {number * unit for number in numbers for unit in UNITS_OF_BYTES}
        for match in SIZE.finditer(self._text):
            values.update(size.value for size in read_size(match["number"], match["unit"]))
        return NumberLine(values)

    @cached_property
    def seconds(self) -> NumberLine:
        numbers = [number for number in self.numbers.values if number < MAX_TIME]
        values = {number * unit for number in numbers for unit in UNITS_OF_SECONDS}
        values.update(find_durations(self._text))
        for result in self.index.results:
            values.update(compute_clock_totals(result))
            values.add(sum(find_durations(result)))
        times = itertools.combinations(sorted(self.minutes)[:CLOCK_TIMES], 2)
        values.update((later - earlier) * 60.0 for earlier, later in times)
        return NumberLine(values)

    @cached_property
    def durations(self) -> NumberLine:
        """All in seconds, and what columns of minutes or hours come to."""
        totals = (total * unit for total in self.totals.values for unit in (60, 3600))
        return NumberLine({*self.seconds.values, *totals})

    def is_written(self, number: str) -> bool:
        """Tell whether a number stands in the evidence as a whole, at one of the first places where
        it stands: then `numbers`, which takes long to read, has it."""
        if not PLAIN_NUMBER.fullmatch(number):
            return False
        return is_written(number, self._text, NUMBER_PART, LONGER_NUMBER, MAX_OCCURRENCES)

    def has_near(self, quantity: Quantity) -> bool:
        """Tell whether the evidence holds it, or one step over one column makes it."""
        if self.numbers.has_near(quantity) or self.counts.has_near(quantity):
            return True
        return self.totals.has_near(quantity)


def is_written(
    figure: str, text: str, before: Expression, longer: Expression, places: int = sys.maxsize
) -> bool:
    """Tell whether a folded figure stands in a folded text, at one of its first `places`, and is no
    part of a longer one, which has a character of it `before` or goes on behind it."""
    start = -1
    for _ in range(places):
        start = text.find(figure, start + 1)
        if start < 0:
            return False
        is_end = start > 0 and before.compiled.match(text, start - 1)
        if not is_end and not longer.compiled.match(text, start + len(figure)):
            return True
    return False


def find_durations(text: str) -> Iterator[float]:
    for match in DURATION.finditer(text):
        yield from (duration.value for duration in read_duration(match[0]))


def compute_clock_totals(result: str) -> Iterator[float]:
    """Read the durations of a result that are written as on a clock, with their sum and mean."""
    tracks = [read_clock_seconds(match[0]) for match in CLOCK.finditer(result)]
    if not tracks:
        return
    for readings in tracks:
        yield from readings
    for reading in (0, -1):
        column = [readings[reading] for readings in tracks]
        yield from (sum(column), sum(column) / len(column))


def compute_totals(table: ResultTable) -> Iterator[float]:
    yield from compute_column_totals(table)
    yield from compute_group_sums(table)


def compute_column_totals(table: ResultTable) -> Iterator[float]:
    for numbers in table.readings:
        column = [number for number in numbers if number is not None]
        if len(column) > 1:
            yield from (sum(column), sum(column) / len(column), max(column) - min(column))
            if 2 < len(column) <= FEW_ROWS:  # all but one
                yield from (sum(column) - number for number in column)


def compute_row_totals(columns: Sequence[Sequence[float]]) -> Iterator[float]:
    """Compute the sum and the mean of each row of records with three columns of numbers or more
    (quarters, marks), and the sum of them all."""
    if not FEW_COLUMNS <= len(columns) <= GROUPED_COLUMNS:
        return
    sums = [sum(row) for row in zip(*columns, strict=True)]
    yield from (total / divisor for total in (*sums, sum(sums)) for divisor in (1, len(columns)))


def compare_columns(columns: Sequence[Sequence[float]]) -> Iterator[float]:
    """Reckon with each two columns of records: the difference and the product in each row, where
    they are too large to come about by chance, the sum of the products, and the mean of one column
    weighted by the other."""
    pairs = itertools.combinations(columns[:GROUPED_COLUMNS], 2)
    for (first, second), products in zip(pairs, multiply_columns(columns), strict=True):
        differences = [one - other for one, other in zip(first, second, strict=True)]
        yield from filter(is_large, differences + products)
        yield from (sum(products), sum(products) / len(products))
        yield from (sum(products) / sum(column) for column in (first, second) if sum(column))


def multiply_columns(columns: Sequence[Sequence[float]]) -> list[list[float]]:
    """Multiply each two columns of records, row by row."""
    pairs = itertools.combinations(columns[:GROUPED_COLUMNS], 2)
    return [[one * other for one, other in zip(*pair, strict=True)] for pair in pairs]


def list_number_columns(table: ResultTable) -> list[list[float]]:
    """List the columns of records that have a number in every row, where they are few enough for
    people to reckon with."""
    if not table.sure or len(table.rows) > MAX_COMPARED_ROWS:
        return []
    numbers = [[number for number in column if number is not None] for column in table.readings]
    return [column for column in numbers if len(column) == len(table.rows)]


def is_large(value: float) -> bool:
    return abs(value) >= CHANCE


def compute_group_sums(table: ResultTable) -> Iterator[float]:
    """Add up a column, or what two of them make, for each value that another column repeats: totals
    by person."""
    columns = [
        (list(map(str, column)), readings)
        for column, readings in zip(table.columns.values(), table.readings, strict=True)
        if len(column) == len(table.rows)
    ][:GROUPED_COLUMNS]
    numbers: list[Sequence[float | None]] = [readings for _, readings in columns]
    numbers += multiply_columns(list_number_columns(table))
    for keys, _ in columns:
        groups = Counter(keys)
        if not 1 < len(groups) < len(keys):
            continue
        for values in numbers:
            sums_by_key = sum_by_key(keys, values)
            yield from (total for key, total in sums_by_key.items() if groups[key] > 1)


def sum_by_key(keys: Sequence[str], values: Sequence[float | None]) -> dict[str, float]:
    sums_by_key: dict[str, float] = {}
    for key, number in zip(keys, values, strict=True):
        sums_by_key[key] = sums_by_key.get(key, 0.0) + (number or 0.0)
    return sums_by_key
