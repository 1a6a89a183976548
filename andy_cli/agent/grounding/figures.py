"""Find the figures in an answer - numbers, dates, times, sizes - and look them up. Pure.

A figure is supported if the evidence holds it, or if it is the count, sum, mean, least or most of
one column of a result. Nothing else is reckoned: of many figures any could be made.
"""

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from andy_cli.agent.grounding.claim import Claim
from andy_cli.agent.grounding.dates import (
    DATE,
    TIME,
    WEEKDAY,
    Day,
    dated,
    dates,
    days,
    times,
    weekday,
)
from andy_cli.agent.grounding.evidence import Index
from andy_cli.agent.grounding.folding import folded, words_of
from andy_cli.agent.grounding.layout import Sentence, lists, tables
from andy_cli.agent.grounding.quantities import (
    CLOCK,
    DURATION,
    FIGURE,
    NUMBER,
    SCALES,
    SIZE,
    UNITS_OF_TIME,
    Figure,
    Line,
    clock_seconds,
    durations,
    readings,
    sizes,
    spelled,
)
from andy_cli.agent.grounding.records import Table, figure_of
from andy_cli.agent.grounding.vocabulary import NUMBER_WORDS, STOP, WEEKDAYS
from andy_cli.compiler.expression import Expression

PERCENT = Expression(
    rf"(?<![\w.])[-+−]?(?P<number>{NUMBER})\s?"
    r"(?:%|％|percent\b|prozent\b|por cient?o\b|pour cent\b|процент\w*)",
    re.I,
)
VERSION = Expression(r"(?<![\w.])v?\d+(?:\.\d+){2,}(?!\w)|\bv\d+(?:\.\d+)*\b", re.I)
PLAIN = Expression(
    rf"(?<![a-zA-Z_.,#/:\d-])(?P<number>{NUMBER})\s?(?P<scale>{'|'.join(SCALES)})?"
    r"(?![a-zA-Z_\d]|[.,:/-]\d)",
    re.I,
)
ORDINAL = Expression(r"\b\d+(?:st|nd|rd|th|er|ème|º|ª)\b|第\d+", re.I)
COUNTED = sorted((word for word, value in NUMBER_WORDS.items() if value > 1), key=len, reverse=True)
SPELLED = Expression(rf"(?<!\w)(?:{'|'.join(COUNTED)})(?!\w)", re.I)
DAY_NAME = Expression(
    rf"(?<!\w)(?:{WEEKDAY})s?(?!\w)|[月火水木金土日]曜日?|(?:星期|周)[一二三四五六日]", re.I
)
MARKER = re.compile(r"[\s>#*_]*\(?\d{1,3}[.)]?\s?$|[\s>#*_|]*$")


class Found(NamedTuple):
    """A figure of the answer."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class Figures:
    """The figures of the evidence, each kind made when it is first asked for."""

    def __init__(self, index: Index) -> None:
        self.index, self._text = index, index.text

    @cached_property
    def days(self) -> frozenset[Day]:
        return frozenset(dates("\n".join(dated(self._text, self.index.words))))

    @cached_property
    def weekdays(self) -> frozenset[int]:
        known = (weekday(each) for each in self.days)
        words, text = self.index.words, self._text
        named = {
            number
            for name, number in WEEKDAYS.items()
            if name in words or (not name.isascii() and name in text)
        }
        return frozenset(each for each in known if each is not None) | named

    @cached_property
    def minutes(self) -> frozenset[int]:
        return frozenset(
            each.minutes
            for match in TIME.compiled.finditer(self._text)
            for end in times(match)
            for each in end
        )

    @cached_property
    def numbers(self) -> Line:
        texts = set(re.findall(NUMBER, self._text))
        found = {each.value for text in texts for each in readings(text)}
        # Cells of comma-separated values look like one figure.
        found.update(map(float, re.findall(r"\d{1,15}(?:\.\d{1,12})?", self._text)))
        found.update(
            float(value) for word in self.index.words if (value := spelled(word)) is not None
        )
        return Line(found)

    @cached_property
    def counts(self) -> Line:
        """How many rows there are, and how many of one value in a column."""
        found: set[float] = set()
        for result in self.index.by_result:
            found.update(float(len(each.rows)) for each in result)
            for table in result:
                for values in table.columns.values():
                    groups = Counter(map(str, values))
                    found.update(map(float, groups.values()))
                    found.add(float(len(groups)))
        longest = [
            max((len(each.rows) for each in result), default=0) for result in self.index.by_result
        ]
        return Line({*found, float(sum(longest)), float(len(longest))})

    @cached_property
    def totals(self) -> Line:
        """Sum, mean and span of each column; its least and most stand in the results."""
        return Line({value for table in self.index.tables for value in totals_of(table)})

    @cached_property
    def bytes(self) -> Line:
        found = set(self.numbers.values)
        for match in SIZE.compiled.finditer(self._text):
            found.update(each.value for each in sizes(match["number"], match["unit"]))
        return Line(found)

    @cached_property
    def seconds(self) -> Line:
        found = {
            value * unit
            for value in self.numbers.values
            for unit in (0.001, 1, 60, 3600)
            if value < 1e9
        }
        for match in DURATION.compiled.finditer(self._text):
            found.update(each.value for each in durations(match[0]))
        for text in self.index.results:
            tracks = [clock_seconds(each[0]) for each in CLOCK.compiled.finditer(text)]
            found.update(value for each in tracks for value in each)
            for way in (0, -1):
                if tracks:
                    column = [each[way] for each in tracks]
                    found.update((sum(column), sum(column) / len(column)))
        minutes = sorted(self.minutes)
        found.update((b - a) * 60.0 for a, b in itertools.combinations(minutes[:12], 2))
        return Line(found)

    def near(self, figure: Figure) -> bool:
        """Whether the evidence holds it, or one step over one column makes it."""
        return any(line.near(figure) for line in (self.numbers, self.counts, self.totals))


def totals_of(table: Table) -> Iterator[float]:
    for values in table.columns.values():
        column = [each for each in map(figure_of, values) if each is not None]
        if len(column) > 1:
            yield from (sum(column), sum(column) / len(column), max(column) - min(column))
            if math.isclose(sum(column[:-1]), column[-1]):  # the last row is the total
                yield column[-1]
    yield from group_sums(table)


def group_sums(table: Table) -> Iterator[float]:
    """What a column comes to for each value that another column repeats: totals by person."""
    columns = [each for each in table.columns.values() if len(each) == len(table.rows)][:8]
    for keys in columns:
        groups = Counter(map(str, keys))
        if not 1 < len(groups) < len(keys):
            continue
        for values in columns:
            sums: dict[str, float] = {}
            for key, value in zip(keys, map(figure_of, values), strict=True):
                sums[str(key)] = sums.get(str(key), 0.0) + (value or 0.0)
            yield from (each for key, each in sums.items() if groups[key] > 1)


def find_figures(prose: str, taken: Sequence[tuple[int, int]]) -> list[Found]:
    """The figures of a text, outside of what is taken, in order."""
    rest = prose
    for start, end in taken:
        rest = f"{rest[:start]}{chr(0) * (end - start)}{rest[end:]}"
    found: list[Found] = []
    for kind, pattern in KINDS:
        for match in pattern.compiled.finditer(rest):
            text = match[0].rstrip(" .,")
            if kind:
                found.append(Found(kind, text, match.start()))
            end = match.start() + len(text)
            rest = f"{rest[: match.start()]}{chr(0) * len(text)}{rest[end:]}"
    return sorted(found, key=lambda each: each.start)


KINDS: Sequence[tuple[str, Expression]] = (
    ("date", DATE), ("size", SIZE), ("time", TIME), ("duration", DURATION), ("percent", PERCENT),
    ("version", VERSION), ("", ORDINAL), ("weekday", DAY_NAME), ("number", PLAIN),
    ("spelled", SPELLED),
)  # fmt: skip


def date_holds(text: str, known: Figures) -> bool:
    match = DATE.match(text)
    return match is None or any(all(is_known(day, known) for day in each) for each in days(match))


def is_known(day: Day, known: Figures) -> bool:
    return any(
        (not day.month or day.month == each.month)
        and (not day.day or not each.day or day.day == each.day)
        and (not day.year or not each.year or day.year == each.year)
        for each in known.days
    )


def time_holds(text: str, known: Figures) -> bool:
    match = TIME.match(text)
    if match is None:
        return True
    if all(any(each.minutes in known.minutes for each in end) for end in times(match)):
        return True
    return any(known.seconds.near(Figure(each, 0.5)) for each in clock_seconds(text))


def weekday_holds(text: str, known: Figures) -> bool:
    name = folded(text)
    number = WEEKDAYS.get(name, WEEKDAYS.get(name.removesuffix("s"), WEEKDAYS.get(f"{name[:2]}日")))
    return number is None or not known.weekdays or number in known.weekdays


def size_holds(text: str, known: Figures) -> bool:
    match = SIZE.match(text)
    if match is None:
        return True
    asked = [*sizes(match["number"], match["unit"]), *readings(match["number"])]
    return any(known.bytes.near(each) or known.near(each) for each in asked)


def duration_holds(text: str, known: Figures) -> bool:
    asked = [each._replace(slack=max(each.slack, 0.5)) for each in durations(text)]
    # Seconds that are left out may have been cut off as well as rounded.
    wide = [Figure(each.value + each.slack, 2 * each.slack) for each in asked if each.slack >= 30]
    plain = [each for number in FIGURE.compiled.findall(text) for each in readings(number)]
    return any(known.seconds.near(each) for each in [*asked, *wide]) or (
        len(plain) == 1 and known.near(plain[0])
    )


def percent_holds(text: str, known: Figures) -> bool:
    match = PERCENT.match(text)
    asked = readings(match["number"]) if match else []
    shares = [Figure(each.value / 100, each.slack / 100) for each in asked]
    return any(map(known.near, [*asked, *shares]))


def number_holds(text: str, known: Figures) -> bool:
    match = PLAIN.match(text)
    if match is None:
        return True
    scale = SCALES.get((match["scale"] or "").casefold(), 1)
    exact = readings(match["number"])
    asked = [*exact, *(Figure(each.value * scale, each.slack * scale) for each in exact)]
    return any(map(known.near, asked))


def spelled_holds(text: str, known: Figures) -> bool:
    value = spelled(text)
    return value is None or known.near(Figure(value, 0.1))


def version_holds(text: str, known: Figures) -> bool:
    return folded(text).lstrip("v") in known.index.text


HOLDS: dict[str, Callable[[str, Figures], bool]] = {
    "date": date_holds,
    "time": time_holds,
    "weekday": weekday_holds,
    "size": size_holds,
    "duration": duration_holds,
    "percent": percent_holds,
    "number": number_holds,
    "spelled": spelled_holds,
    "version": version_holds,
}


def unsupported_figures(
    prose: str, found: Sequence[Found], spoken: Sequence[Sentence], known: Figures
) -> Iterator[Claim]:
    """The figures told of something that the results know, and that nothing supports."""
    listed = Line(float(len(each)) for each in [*lists(prose), *tables(prose)])
    good = {each: HOLDS[each.kind](each.text, known) for each in found}
    for each in found:
        sentence = next((one for one in spoken if one.start <= each.start < one.end), None)
        if sentence is None or sentence.question or is_marker(each, sentence) or good[each]:
            continue
        if not is_about(each, sentence, known.index) or is_converted(each, sentence, known):
            continue
        near = [one for one in found if good[one] and abs(one.start - each.start) < PARAGRAPH]
        if not (is_reckoned(each, near) or any(map(listed.near, values_of(each)))):
            yield Claim(each.text, each.start, each.end, each.kind)


PARAGRAPH = 400
"""Characters on either side in which an answer shows what it reckons with."""
OPERANDS = 12


def is_reckoned(found: Found, near: Sequence[Found]) -> bool:
    """Whether the answer itself shows how the figure comes about: from two of its own, or as the
    sum of them all."""
    values = [each[0].value for each in map(values_of, near) if each][-OPERANDS:]
    pairs = itertools.permutations(values, 2)
    made = [
        one
        for a, b in pairs
        for one in (a + b, a - b, a * b, *((a / b, 100 * a / b, 100 * (a - b) / b) if b else ()))
    ]
    line = Line([*made, sum(values)])
    return any(map(line.near, values_of(found)))


def values_of(found: Found) -> list[Figure]:
    match found.kind:
        case "date" | "weekday" | "version":
            return []
        case "spelled":
            value = spelled(found.text)
            return [] if value is None else [Figure(float(value), 0.1)]
        case "time" | "duration":
            return [Figure(each, 30) for each in clock_seconds(found.text)] or durations(found.text)
        case _:
            number = FIGURE.search(folded(found.text)) or re.search(NUMBER, found.text)
            return readings(number[0]) if number else []


CONVERTED: Sequence[tuple[str, Callable[[float], float]]] = (
    (r"°?\s?f\b", lambda value: (value - 32) / 1.8),
    (r"°?\s?c\b", lambda value: value * 1.8 + 32),
    (r"(?:miles?|mi|mph|meilen|millas|milles)\b", lambda value: value * 1.609344),
    (r"(?:km|kilom\w+|km/h)\b", lambda value: value / 1.609344),
    (r"(?:lbs?|pounds?)\b", lambda value: value * 0.45359),
    (r"(?:feet|foot|ft)\b", lambda value: value * 0.3048),
)
"""What a figure with this unit behind it was before it was converted."""


def is_converted(found: Found, sentence: Sentence, known: Figures) -> bool:
    behind = folded(sentence.text[found.end - sentence.start :][:12]).lstrip(" |*_")
    head = sentence.text if "|" in sentence.text else ""
    return any(
        known.numbers.near(Figure(way(each.value), max(0.6 * way(1.0) - 0.6 * way(0.0), 0.6)))
        for unit, way in CONVERTED
        if re.match(unit, behind) or head
        for each in values_of(found)
    )


KINDS_GIVEN = {
    "percent": Expression(r"%|percent|ratio|share"),
    "size": Expression(r"\d\s?[kmgt]i?b?\b|byte|size|_[kmgt]b"),
    "duration": Expression(
        rf"\d:\d\d|\d\s?(?:{UNITS_OF_TIME})(?![a-zа-я])|second|minute|hour|duration|_ms\b"
    ),
    "time": Expression(r"\d[:h]\d\d|\d\s?(?:am|pm|uhr|h)\b|\d[時时点]"),
}
"""How results show that they have figures of a kind: of others everybody may know some."""
UNIT = re.compile(r"\s?(°|[^\W\d_]{1,2}[²³]?(?![^\W\d_]))")


def has_kind(found: Found, sentence: Sentence, index: Index) -> bool:
    """Whether the results have figures of this kind, or in this unit, at all."""
    if pattern := KINDS_GIVEN.get(found.kind):
        return pattern.search(index.given) is not None
    unit = UNIT.match(folded(sentence.text[found.end - sentence.start :]))
    return found.kind != "number" or unit is None or unit[1] in index.given


BARE = 3
YEAR = re.compile(r"(?<!\d)(?:1[0-9]|20)\d\d(?!\d)")


def is_marker(found: Found, sentence: Sentence) -> bool:
    """The number of a list's item or of a row."""
    before = sentence.text[: found.start - sentence.start]
    after = sentence.text[found.end - sentence.start :][:2]
    return (
        not before.strip(" \t#>*_|(")
        and after[:1] in ("", ".", ")", ":", " ")
        and ((len(found.text) < 3 and after[:1] != " ") or after.startswith(" |"))
    )


def is_about(found: Found, sentence: Sentence, index: Index) -> bool:
    """Whether its sentence shares a telling word with the results: of other things everybody may
    know figures."""
    if found.kind == "spelled":
        behind = words_of(folded(sentence.text[found.end - sentence.start :][:40]))[:2]
        return any(each not in STOP and index.stems(each) for each in behind)
    if found.kind == "number" and YEAR.fullmatch(found.text) and not YEAR.search(index.given):
        return False
    if not has_kind(found, sentence, index):
        return False
    near = folded(sentence.text)
    known = index.given_words
    if sum(map(str.isalpha, known)) < BARE:  # what bare figures are of stands in the question
        known = index.words
    return any(
        word in known
        for word in words_of(near)
        if len(word) > 2 and word not in STOP and not word[0].isdigit()
    ) or (not near.isascii() and shares_letters(near, index))


def shares_letters(near: str, index: Index) -> bool:
    """Chinese and Japanese: two letters side by side stand in the results too."""
    pairs = (near[at : at + 2] for at in range(len(near) - 1))
    return any(
        all("\u2e80" <= each <= "\u9fff" for each in pair) and pair in index.given for pair in pairs
    )
