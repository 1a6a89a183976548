"""What results, user and history say, in normal forms, each made once and only when asked for."""

import itertools
import re
from collections.abc import Iterable
from datetime import date
from functools import cached_property

from andy_cli.agent.grounding.claim import Evidence
from andy_cli.agent.grounding.dates import TIME, Clock, Day, dated, dates, times, weekday
from andy_cli.agent.grounding.figures import derived, ratios, totals
from andy_cli.agent.grounding.folding import folded, half_names, unescaped, words_of
from andy_cli.agent.grounding.line import Line
from andy_cli.agent.grounding.quantities import (
    CLOCK,
    DURATION,
    FIGURE,
    SHORT_SIZE,
    SIZE,
    Figure,
    clock_seconds,
    durations,
    readings,
    sizes,
    spelled,
)
from andy_cli.agent.grounding.tables import Table, figure_of, parsed, tables_of
from andy_cli.agent.grounding.windows import CLOCKED, TIMED, measured_in, summed_sizes, windows
from andy_cli.compiler.expression import Expression

CELL = Expression(r"(?:^|(?<=,))\d+(?:\.\d+)?(?=,|$)", re.MULTILINE)
"""A cell of comma-separated values: `58,590` are two figures as well as one."""

SCORE = Expression(r"(?<![\d/])(\d{1,4})\s?[/x×]\s?(\d{1,4})(?![\d/])")
"""`7/10`, `30x20`."""
PORT = Expression(r"(?:\.\d{1,3}:|[a-z]:|\d/)(\d{1,5})(?![\d/])")


class Index:
    """The evidence, ready to be asked."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.seen: dict[str, bool] = {}
        self.reckonings = 0
        self.results = [folded(unescaped(each)) for each in evidence.results]
        self.given = "\n".join(self.results)
        deeds = (f"{each.action}\n{each.did}" for each in evidence.deeds)
        self.said = folded("\n".join([evidence.user, *evidence.history, *deeds]))
        self.text = f"\n{self.given}\n{self.said}\n"

    @cached_property
    def given_words(self) -> frozenset[str]:
        return frozenset(words_of(self.given))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The words of the results, with and without an s at the end."""
        words = self.given_words
        if sum(each.isalpha() for each in words) < 3:
            # Bare figures: what they are of stands in the question.
            words = words | set(words_of(folded(self.evidence.user)))
        return words | {each[:-1] for each in words if each[-1] == "s"}

    @cached_property
    def words(self) -> frozenset[str]:
        return self.given_words.union(words_of(self.said))

    @cached_property
    def given_stream(self) -> str:
        """The words of the results alone, one space between them."""
        return f" {' '.join(words_of(self.given))} "

    @cached_property
    def stream(self) -> str:
        return f"{self.given_stream}| {' '.join(words_of(self.said))} "

    def gives(self, pattern: str) -> bool:
        """Is there a match of the pattern in the results? Each is looked for once."""
        if pattern not in self.seen:
            self.seen[pattern] = re.search(pattern, self.given) is not None
        return self.seen[pattern]

    def holds(self, phrase: str) -> bool:
        """Does it occur as it is, not as a part of longer words?"""
        return self.place(phrase) >= 0

    def place(self, phrase: str) -> int:
        text, at = self.text, -1
        if not phrase:
            return -1
        first, last = phrase[0].isalnum(), phrase[-1].isalnum()
        for _ in range(64):
            at = text.find(phrase, at + 1)
            if at < 0:
                return -1
            end = at + len(phrase)
            if not (first and text[at - 1].isalnum()) and not (last and text[end].isalnum()):
                return at
        return -1

    def says(self, phrase: str, given: bool = False) -> bool:
        """Do these words occur in this order, whatever stands between them?"""
        words = words_of(phrase)
        if not words:
            return True
        known = self.given_words if given else self.words
        if not all(each in known for each in words):
            return False
        return len(words) == 1 or f" {' '.join(words)} " in (
            self.given_stream if given else self.stream
        )

    @cached_property
    def days(self) -> frozenset[Day]:
        return frozenset(dates("\n".join(dated(self.text, self.words))))

    @cached_property
    def day_numbers(self) -> frozenset[tuple[int, int]]:
        return frozenset((each.month, each.day) for each in self.days)

    @cached_property
    def ordinals(self) -> list[int]:
        """The first dates as days since the year 1."""
        years = sorted({each.year for each in self.days if each.year})[:2]
        named = {Day(each.year or year, *each[1:]) for each in self.days for year in years}
        complete = sorted(each for each in named if weekday(each) is not None)
        return [date(*each).toordinal() for each in complete[:24]]

    @cached_property
    def weekdays(self) -> frozenset[int]:
        found = (weekday(each) for each in self.days)
        return frozenset(each for each in found if each is not None)

    @cached_property
    def clocks(self) -> tuple[Clock, ...]:
        """In the order of the text; of several readings of one all."""
        return tuple(
            each
            for start, stop in windows(self.text, CLOCKED, 14, 16)
            for match in TIME.compiled.finditer(self.text, start, stop)
            for end in times(match)
            for each in end
        )

    @cached_property
    def minutes(self) -> frozenset[int]:
        return frozenset(each.minutes for each in self.clocks)

    @cached_property
    def instants(self) -> frozenset[int]:
        """Minutes since midnight in Greenwich, where the evidence names a zone."""
        return frozenset(
            (each.minutes - each.offset) % 1440 for each in self.clocks if each.offset is not None
        )

    @cached_property
    def figures(self) -> frozenset[float]:
        """What its digits say, as they stand."""
        texts = set(FIGURE.compiled.findall(self.text))
        return frozenset(each.value for text in texts for each in readings(text))

    @cached_property
    def numbers(self) -> "Line":
        """Every number written anywhere."""
        found = set(self.figures)
        found.update(float(each) for each in CELL.compiled.findall(self.given))
        found.update(float(each) for pair in SCORE.compiled.findall(self.text) for each in pair)
        found.update(float(each) for each in PORT.compiled.findall(self.text))
        for word in self.words:
            value = spelled(word)
            if value is not None:
                found.add(float(value))
        return Line(found)

    @cached_property
    def bytes(self) -> "Line":
        found = set(self.numbers.values)
        for pattern in (SIZE, SHORT_SIZE):
            written = {match.group(1, 2) for match in measured_in(self.text, pattern)}
            found.update(each.value for pair in written for each in sizes(*pair))
        return Line([*found, *summed_sizes(self.results)])

    @cached_property
    def seconds(self) -> "Line":
        found = set(self.numbers.values) | {each / 1000 for each in self.numbers.values}
        found.update(each * 60 for each in self.numbers.values if each < 1000)
        found.update(each * 3600 for each in self.numbers.values if each < 1e6)
        for start, stop in windows(self.text, TIMED, 26, 30):
            for match in DURATION.compiled.finditer(self.text, start, stop):
                found.update(each.value for each in durations(match[0]))
        found.update(int(each) / 1000 for each in re.findall(r"(\d+)\s?ms\b", self.text))
        minutes = [each.minutes for each in self.clocks]
        found.update((b - a) * 60.0 for a, b in itertools.pairwise(minutes) if b > a)
        found.update((b - a) * 60.0 for a, b in zip(minutes, minutes[2:], strict=False) if b > a)
        for text in self.results:
            tracks = [clock_seconds(each[0]) for each in CLOCK.finditer(text)]
            found.update(value for each in tracks for value in each)
            if tracks:
                found.update((sum(each[0] for each in tracks), sum(each[-1] for each in tracks)))
                found.update((sum(each[0] for each in tracks) / len(tracks),))
        summed = self.totals.values
        found.update(each * 60 for each in summed if each < 10_000)
        found.update(each / 1000 for each in summed)
        return Line([*found, *summed])

    @cached_property
    def by_result(self) -> list[list[Table]]:
        results = zip(self.evidence.results, self.results, strict=True)
        return [tables_of(parsed(result), text) for result, text in results]

    @cached_property
    def keys(self) -> frozenset[str]:
        """The names of what the results list."""
        return frozenset(
            word for table in self.tables for key in table.columns for word in words_of(folded(key))
        )

    @cached_property
    def asked_of(self) -> frozenset[str]:
        """The words of the user and the history without their plural endings."""
        return frozenset(each.removesuffix("s") for each in words_of(self.said))

    @cached_property
    def measured(self) -> frozenset[str]:
        """The names of columns of figures: `pages` of a list of books are no list of pages."""
        return frozenset(
            word.removesuffix("s")
            for table in self.tables
            for key, values in table.columns.items()
            if values and isinstance(values[0], int | float)
            for word in words_of(folded(key))
        )

    @cached_property
    def half_names(self) -> frozenset[tuple[str, ...]]:
        """The names of two to four words in the results, each with one of its words left out."""
        return half_names(self.evidence.results)

    @cached_property
    def tables(self) -> list[Table]:
        return [each for tables in self.by_result for each in tables]

    @cached_property
    def rows(self) -> frozenset[tuple[str, ...]]:
        """The lists, each once."""
        return frozenset(each.rows for each in self.tables if each.rows)

    @cached_property
    def telling(self) -> list[float]:
        """The numbers but for those that look like years."""
        return [each for each in self.figures if not 1900 <= each < 2100]

    @cached_property
    def asked(self) -> list[float]:
        """The first figures in what the user said: `250 dollars`."""
        texts = FIGURE.compiled.findall(folded(self.evidence.user[:2000]))
        return [each.value for text in texts[:6] for each in readings(text)]

    @cached_property
    def totals(self) -> "Line":
        return Line(totals(self.tables))

    @cached_property
    def derived(self) -> "Line":
        """Sums, means and differences of what stands in one column or one row."""
        return Line(derived(self.tables, self.telling, self.asked))

    @cached_property
    def ingredients(self) -> list[float]:
        """What other figures may have been worked out from."""
        sums: set[float] = set()
        for table in self.tables:
            for values in table.columns.values():
                column = [each for each in map(figure_of, values) if each is not None]
                sums.add(sum(column))
                if len(column) <= 8:
                    sums.update(a + b for a, b in itertools.combinations(column, 2))
        return sorted({*self.numbers.values, *self.lengths, *sums} - {0.0})

    @cached_property
    def lengths(self) -> frozenset[float]:
        return frozenset(float(len(each.rows)) for each in self.tables)

    @cached_property
    def percents(self) -> "Line":
        lengths = (len(each.rows) for each in self.tables)
        return Line(ratios(self.tables, lengths, self.telling))

    def has(self, figures: Iterable[Figure]) -> bool:
        """Is one of them a number that was given, or follows from some?"""
        return any(map(self.near, figures))

    def near(self, figure: Figure) -> bool:
        return self.numbers.near(figure) or self.derived.near(figure)
