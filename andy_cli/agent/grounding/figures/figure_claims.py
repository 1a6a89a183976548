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

from andy_cli.agent.grounding.claims import Claim
from andy_cli.agent.grounding.evidence import EvidenceIndex
from andy_cli.agent.grounding.figures.dates import (
    DATE,
    TIME,
    WEEKDAY,
    PartialDate,
    find_date_pieces,
    find_dates,
    find_weekday,
    read_date,
    read_time,
)
from andy_cli.agent.grounding.figures.quantities import (
    CLOCK,
    DURATION,
    FIGURE,
    NUMBER,
    SCALES,
    SIZE,
    UNITS_OF_TIME,
    NumberLine,
    Quantity,
    read_clock_seconds,
    read_duration,
    read_number,
    read_number_word,
    read_size,
)
from andy_cli.agent.grounding.result_tables import ResultTable, read_cell
from andy_cli.agent.grounding.text.folding import fold_text, split_words
from andy_cli.agent.grounding.text.layout import Sentence, find_lists, find_table_columns
from andy_cli.agent.grounding.text.vocabulary import NUMBER_WORDS, STOP, WEEKDAYS
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


class AnswerFigure(NamedTuple):
    """A figure of the answer."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class EvidenceFigures:
    """The figures of the evidence, each kind made when it is first asked for."""

    def __init__(self, index: EvidenceIndex) -> None:
        self.index, self._text = index, index.text

    @cached_property
    def days(self) -> frozenset[PartialDate]:
        return frozenset(find_dates("\n".join(find_date_pieces(self._text, self.index.words))))

    @cached_property
    def weekdays(self) -> frozenset[int]:
        known = (find_weekday(each) for each in self.days)
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
            for end in read_time(match)
            for each in end
        )

    @cached_property
    def numbers(self) -> NumberLine:
        texts = set(re.findall(NUMBER, self._text))
        found = {each.value for text in texts for each in read_number(text)}
        # Cells of comma-separated values look like one figure.
        found.update(map(float, re.findall(r"\d{1,15}(?:\.\d{1,12})?", self._text)))
        found.update(
            float(value)
            for word in self.index.words
            if (value := read_number_word(word)) is not None
        )
        return NumberLine(found)

    @cached_property
    def counts(self) -> NumberLine:
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
        return NumberLine({*found, float(sum(longest)), float(len(longest))})

    @cached_property
    def totals(self) -> NumberLine:
        """Sum, mean and span of each column; its least and most stand in the results."""
        return NumberLine({value for table in self.index.tables for value in compute_totals(table)})

    @cached_property
    def bytes(self) -> NumberLine:
        found = set(self.numbers.values)
        for match in SIZE.compiled.finditer(self._text):
            found.update(each.value for each in read_size(match["number"], match["unit"]))
        return NumberLine(found)

    @cached_property
    def seconds(self) -> NumberLine:
        found = {
            value * unit
            for value in self.numbers.values
            for unit in (0.001, 1, 60, 3600)
            if value < 1e9
        }
        for match in DURATION.compiled.finditer(self._text):
            found.update(each.value for each in read_duration(match[0]))
        for text in self.index.results:
            tracks = [read_clock_seconds(each[0]) for each in CLOCK.compiled.finditer(text)]
            found.update(value for each in tracks for value in each)
            for way in (0, -1):
                if tracks:
                    column = [each[way] for each in tracks]
                    found.update((sum(column), sum(column) / len(column)))
        minutes = sorted(self.minutes)
        found.update((b - a) * 60.0 for a, b in itertools.combinations(minutes[:12], 2))
        return NumberLine(found)

    def has_near(self, figure: Quantity) -> bool:
        """Whether the evidence holds it, or one step over one column makes it."""
        return any(line.has_near(figure) for line in (self.numbers, self.counts, self.totals))


def compute_totals(table: ResultTable) -> Iterator[float]:
    for values in table.columns.values():
        column = [each for each in map(read_cell, values) if each is not None]
        if len(column) > 1:
            yield from (sum(column), sum(column) / len(column), max(column) - min(column))
            if math.isclose(sum(column[:-1]), column[-1]):  # the last row is the total
                yield column[-1]
    yield from compute_group_sums(table)


def compute_group_sums(table: ResultTable) -> Iterator[float]:
    """What a column comes to for each value that another column repeats: totals by person."""
    columns = [each for each in table.columns.values() if len(each) == len(table.rows)][:8]
    for keys in columns:
        groups = Counter(map(str, keys))
        if not 1 < len(groups) < len(keys):
            continue
        for values in columns:
            sums: dict[str, float] = {}
            for key, value in zip(keys, map(read_cell, values), strict=True):
                sums[str(key)] = sums.get(str(key), 0.0) + (value or 0.0)
            yield from (each for key, each in sums.items() if groups[key] > 1)


def find_figures(prose: str, taken: Sequence[tuple[int, int]]) -> list[AnswerFigure]:
    """The figures of a text, outside of what is taken, in order."""
    rest = prose
    for start, end in taken:
        rest = f"{rest[:start]}{chr(0) * (end - start)}{rest[end:]}"
    found: list[AnswerFigure] = []
    for kind, pattern in KINDS:
        for match in pattern.compiled.finditer(rest):
            text = match[0].rstrip(" .,")
            if kind:
                found.append(AnswerFigure(kind, text, match.start()))
            end = match.start() + len(text)
            rest = f"{rest[: match.start()]}{chr(0) * len(text)}{rest[end:]}"
    return sorted(found, key=lambda each: each.start)


KINDS: Sequence[tuple[str, Expression]] = (
    ("date", DATE), ("size", SIZE), ("time", TIME), ("duration", DURATION), ("percent", PERCENT),
    ("version", VERSION), ("", ORDINAL), ("weekday", DAY_NAME), ("number", PLAIN),
    ("spelled", SPELLED),
)  # fmt: skip


def holds_date(text: str, known: EvidenceFigures) -> bool:
    match = DATE.match(text)
    return match is None or any(
        all(is_known_date(day, known) for day in each) for each in read_date(match)
    )


def is_known_date(day: PartialDate, known: EvidenceFigures) -> bool:
    return any(
        (not day.month or day.month == each.month)
        and (not day.day or not each.day or day.day == each.day)
        and (not day.year or not each.year or day.year == each.year)
        for each in known.days
    )


def holds_time(text: str, known: EvidenceFigures) -> bool:
    match = TIME.match(text)
    if match is None:
        return True
    if all(any(each.minutes in known.minutes for each in end) for end in read_time(match)):
        return True
    return any(known.seconds.has_near(Quantity(each, 0.5)) for each in read_clock_seconds(text))


def holds_weekday(text: str, known: EvidenceFigures) -> bool:
    name = fold_text(text)
    number = WEEKDAYS.get(name, WEEKDAYS.get(name.removesuffix("s"), WEEKDAYS.get(f"{name[:2]}日")))
    return number is None or not known.weekdays or number in known.weekdays


def holds_size(text: str, known: EvidenceFigures) -> bool:
    match = SIZE.match(text)
    if match is None:
        return True
    asked = [*read_size(match["number"], match["unit"]), *read_number(match["number"])]
    return any(known.bytes.has_near(each) or known.has_near(each) for each in asked)


def holds_duration(text: str, known: EvidenceFigures) -> bool:
    asked = [each._replace(slack=max(each.slack, 0.5)) for each in read_duration(text)]
    # Seconds that are left out may have been cut off as well as rounded.
    wide = [Quantity(each.value + each.slack, 2 * each.slack) for each in asked if each.slack >= 30]
    plain = [each for number in FIGURE.compiled.findall(text) for each in read_number(number)]
    return any(known.seconds.has_near(each) for each in [*asked, *wide]) or (
        len(plain) == 1 and known.has_near(plain[0])
    )


def holds_percent(text: str, known: EvidenceFigures) -> bool:
    match = PERCENT.match(text)
    asked = read_number(match["number"]) if match else []
    shares = [Quantity(each.value / 100, each.slack / 100) for each in asked]
    return any(map(known.has_near, [*asked, *shares]))


def holds_number(text: str, known: EvidenceFigures) -> bool:
    match = PLAIN.match(text)
    if match is None:
        return True
    scale = SCALES.get((match["scale"] or "").casefold(), 1)
    exact = read_number(match["number"])
    asked = [*exact, *(Quantity(each.value * scale, each.slack * scale) for each in exact)]
    return any(map(known.has_near, asked))


def holds_number_word(text: str, known: EvidenceFigures) -> bool:
    value = read_number_word(text)
    return value is None or known.has_near(Quantity(value, 0.1))


def holds_version(text: str, known: EvidenceFigures) -> bool:
    return fold_text(text).lstrip("v") in known.index.text


HOLDS: dict[str, Callable[[str, EvidenceFigures], bool]] = {
    "date": holds_date,
    "time": holds_time,
    "weekday": holds_weekday,
    "size": holds_size,
    "duration": holds_duration,
    "percent": holds_percent,
    "number": holds_number,
    "spelled": holds_number_word,
    "version": holds_version,
}


def find_figure_claims(
    prose: str, found: Sequence[AnswerFigure], spoken: Sequence[Sentence], known: EvidenceFigures
) -> Iterator[Claim]:
    """The figures told of something that the results know, and that nothing supports."""
    listed = NumberLine(
        float(len(each)) for each in [*find_lists(prose), *find_table_columns(prose)]
    )
    good = {each: HOLDS[each.kind](each.text, known) for each in found}
    for each in found:
        sentence = next((one for one in spoken if one.start <= each.start < one.end), None)
        if sentence is None or sentence.question or is_marker(each, sentence) or good[each]:
            continue
        if not is_about(each, sentence, known.index) or is_converted(each, sentence, known):
            continue
        near = [one for one in found if good[one] and abs(one.start - each.start) < PARAGRAPH]
        if not (is_computed(each, near) or any(map(listed.has_near, read_values(each)))):
            yield Claim(each.text, each.start, each.end, each.kind)


PARAGRAPH = 400
"""Characters on either side in which an answer shows what it reckons with."""
OPERANDS = 12


def is_computed(found: AnswerFigure, near: Sequence[AnswerFigure]) -> bool:
    """Whether the answer itself shows how the figure comes about: from two of its own, or as the
    sum of them all."""
    values = [each[0].value for each in map(read_values, near) if each][-OPERANDS:]
    pairs = itertools.permutations(values, 2)
    made = [
        one
        for a, b in pairs
        for one in (a + b, a - b, a * b, *((a / b, 100 * a / b, 100 * (a - b) / b) if b else ()))
    ]
    line = NumberLine([*made, sum(values)])
    return any(map(line.has_near, read_values(found)))


def read_values(found: AnswerFigure) -> list[Quantity]:
    match found.kind:
        case "date" | "weekday" | "version":
            return []
        case "spelled":
            value = read_number_word(found.text)
            return [] if value is None else [Quantity(float(value), 0.1)]
        case "time" | "duration":
            return [Quantity(each, 30) for each in read_clock_seconds(found.text)] or read_duration(
                found.text
            )
        case _:
            number = FIGURE.search(fold_text(found.text)) or re.search(NUMBER, found.text)
            return read_number(number[0]) if number else []


CONVERTED: Sequence[tuple[str, Callable[[float], float]]] = (
    (r"°?\s?f\b", lambda value: (value - 32) / 1.8),
    (r"°?\s?c\b", lambda value: value * 1.8 + 32),
    (r"(?:miles?|mi|mph|meilen|millas|milles)\b", lambda value: value * 1.609344),
    (r"(?:km|kilom\w+|km/h)\b", lambda value: value / 1.609344),
    (r"(?:lbs?|pounds?)\b", lambda value: value * 0.45359),
    (r"(?:feet|foot|ft)\b", lambda value: value * 0.3048),
)
"""What a figure with this unit behind it was before it was converted."""


def is_converted(found: AnswerFigure, sentence: Sentence, known: EvidenceFigures) -> bool:
    behind = fold_text(sentence.text[found.end - sentence.start :][:12]).lstrip(" |*_")
    head = sentence.text if "|" in sentence.text else ""
    return any(
        known.numbers.has_near(Quantity(way(each.value), max(0.6 * way(1.0) - 0.6 * way(0.0), 0.6)))
        for unit, way in CONVERTED
        if re.match(unit, behind) or head
        for each in read_values(found)
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


def has_kind(found: AnswerFigure, sentence: Sentence, index: EvidenceIndex) -> bool:
    """Whether the results have figures of this kind, or in this unit, at all."""
    if pattern := KINDS_GIVEN.get(found.kind):
        return pattern.search(index.given) is not None
    unit = UNIT.match(fold_text(sentence.text[found.end - sentence.start :]))
    return found.kind != "number" or unit is None or unit[1] in index.given


BARE = 3
YEAR = re.compile(r"(?<!\d)(?:1[0-9]|20)\d\d(?!\d)")


def is_marker(found: AnswerFigure, sentence: Sentence) -> bool:
    """The number of a list's item or of a row."""
    before = sentence.text[: found.start - sentence.start]
    after = sentence.text[found.end - sentence.start :][:2]
    return (
        not before.strip(" \t#>*_|(")
        and after[:1] in ("", ".", ")", ":", " ")
        and ((len(found.text) < 3 and after[:1] != " ") or after.startswith(" |"))
    )


def is_about(found: AnswerFigure, sentence: Sentence, index: EvidenceIndex) -> bool:
    """Whether its sentence shares a telling word with the results: of other things everybody may
    know figures."""
    if found.kind == "spelled":
        behind = split_words(fold_text(sentence.text[found.end - sentence.start :][:40]))[:2]
        return any(each not in STOP and index.contains_stem(each) for each in behind)
    if found.kind == "number" and YEAR.fullmatch(found.text) and not YEAR.search(index.given):
        return False
    if not has_kind(found, sentence, index):
        return False
    near = fold_text(sentence.text)
    known = index.given_words
    if sum(map(str.isalpha, known)) < BARE:  # what bare figures are of stands in the question
        known = index.words
    return any(
        word in known
        for word in split_words(near)
        if len(word) > 2 and word not in STOP and not word[0].isdigit()
    ) or (not near.isascii() and share_letters(near, index))


def share_letters(near: str, index: EvidenceIndex) -> bool:
    """Chinese and Japanese: two letters side by side stand in the results too."""
    pairs = (near[at : at + 2] for at in range(len(near) - 1))
    return any(
        all("\u2e80" <= each <= "\u9fff" for each in pair) and pair in index.given for pair in pairs
    )
