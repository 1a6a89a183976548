"""Find the figures in an answer - numbers, shares, dates, times, sizes - and look them up. Pure.

A figure is supported if the evidence holds it, if it is the count, sum, mean or span of one column
of a result, or what two columns of it make, or if it comes about from others: by the answer's own
reckoning, as a multiple of one of the evidence, or in another unit. Nothing else is reckoned: of
many figures any could be made.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from andy_cli.agent.grounding.evidence import Claim, EvidenceIndex
from andy_cli.agent.grounding.figures.evidence_figures import CHANCE, EvidenceFigures
from andy_cli.agent.grounding.figures.quantities import (
    ANY_NUMBER,
    DATE,
    DURATION,
    FIGURE,
    NUMBER,
    SCALES,
    SIZE,
    TIME,
    UNITS_OF_TIME,
    NumberLine,
    PartialDate,
    Quantity,
    is_possible,
    list_days,
    read_clock_seconds,
    read_date,
    read_duration,
    read_number,
    read_number_word,
    read_size,
    read_time,
)
from andy_cli.agent.grounding.text.segmentation import (
    Sentence,
    find_lists,
    find_sentence,
    fold_text,
    split_words,
)
from andy_cli.agent.grounding.text.vocabulary import STOP
from andy_cli.compiler.expression import Expression

PERCENT = Expression(
    rf"(?<![\w.])[-+−]?(?P<number>{NUMBER})\s?"
    r"(?:%|％|percent\b|prozent\b|por cient?o\b|pour cent\b|процент\w*)",
    re.I,
)
VERSION = Expression(r"(?<![\w.])v?\d+(?:\.\d+){2,}(?!\w)|\bv\d+(?:\.\d+)*\b", re.I)
PLAIN = Expression(
    rf"(?<![a-zA-Z_.,#/:\d-])(?P<number>{NUMBER})(?:\s?(?P<scale>{'|'.join(SCALES)}))?"
    r"(?![a-zA-Z_\d]|[.,:/-]\d)",
    re.I,
)
ORDINAL = Expression(r"\b\d+(?:st|nd|rd|th|er|ème|º|ª)\b|第\d+", re.I)
PHONE = Expression(
    r"(?<![\w.:/-])(?!\d{1,2}[-/]\d{1,2}[-/]\d{2,4}(?!\d))"  # no date
    r"(?:\+\d|0)\d{1,3}[ /()-]{1,2}\d[\d ()/-]{4,}\d(?![\w:/-])"
)
KINDS: Sequence[tuple[str, Expression]] = (
    ("", PHONE), ("date", DATE), ("size", SIZE), ("time", TIME), ("duration", DURATION),
    ("percent", PERCENT), ("version", VERSION), ("", ORDINAL), ("number", PLAIN),
)  # fmt: skip


class AnswerFigure(NamedTuple):
    """A figure of the answer."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def find_figures(prose: str, taken_spans: Sequence[tuple[int, int]]) -> list[AnswerFigure]:
    """Find the figures of a text, outside of what is taken, in order."""
    remaining_text = prose
    for start, end in taken_spans:
        remaining_text = blank_span(remaining_text, start, end)
    figures: list[AnswerFigure] = []
    for kind, pattern in KINDS:
        for match in pattern.finditer(remaining_text):
            if kind == "date" and not any(map(is_possible, list_days(match))):
                continue  # `17.80.` at the end of a sentence
            text = match[0].rstrip(" .,")
            if kind:
                figures.append(AnswerFigure(kind, text, match.start()))
            remaining_text = blank_span(remaining_text, match.start(), match.start() + len(text))
    return sorted(figures, key=lambda figure: figure.start)


def blank_span(text: str, start: int, end: int) -> str:
    return f"{text[:start]}{chr(0) * (end - start)}{text[end:]}"


def is_marker(figure: AnswerFigure, sentence: Sentence) -> bool:
    """Tell whether it is the number of a list's item or of a row."""
    text_before = sentence.text[: figure.start - sentence.start]
    text_after = sentence.text[figure.end - sentence.start :][:2]
    if text_before.strip(" \t#>*_|(") or text_after[:1] not in ("", ".", ")", ":", " "):
        return False
    return text_after.startswith(" |") or (len(figure.text) < 3 and text_after[:1] != " ")


def read_values(figure: AnswerFigure) -> list[Quantity]:
    match figure.kind:
        case "date" | "version":
            return []
        case "time" | "duration":
            seconds = [Quantity(value, 30) for value in read_clock_seconds(figure.text)]
            return seconds or read_duration(figure.text)
        case _:
            number = FIGURE.search(fold_text(figure.text)) or ANY_NUMBER.search(figure.text)
            return read_number(number[0]) if number else []


MAX_DISTANCE = 400
"""Characters on either side in which an answer shows what it reckons with."""
MAX_OPERANDS = 12
PERIODS = (7, 12, 24, 52, 60, 365, 1000)
"""Numbers that people multiply by without saying so: days of a week, months, hours, metres."""
PRECISE = 3
"""Digits of a figure that does not come about by chance."""


def is_computed(figure: AnswerFigure, supported: Sequence[AnswerFigure]) -> bool:
    """Tell whether the answer itself shows how the figure comes about: from two of those near it,
    or as the sum of them all."""
    near_figures = [other for other in supported if abs(other.start - figure.start) < MAX_DISTANCE]
    operands = [values[0].value for other in near_figures if (values := read_values(other))]
    results = NumberLine(combine_pairs(operands[-MAX_OPERANDS:]))
    return any(map(results.has_near, read_values(figure)))


def make_exact(quantity: Quantity) -> Quantity:
    """Take a round number as it is."""
    return quantity._replace(slack=min(quantity.slack, 0.5))


def combine_pairs(operands: Sequence[float]) -> Iterator[float]:
    """Add up all numbers, and reckon with each two of them."""
    yield sum(operands)
    for first, second in itertools.permutations(operands, 2):
        yield from (first + second, first - second, first * second)
        if second:
            yield from (first / second, 100 * first / second, 100 * (first - second) / second)


def is_precise(text: str) -> bool:
    """Tell whether a figure has so many digits that it is hardly right by chance."""
    return count_digits(text) >= PRECISE


def count_digits(text: str) -> int:
    return sum(map(str.isdigit, text))


def list_factors(prose: str, figures: Sequence[AnswerFigure]) -> list[float]:
    """List the small numbers of an answer, in words too, and the periods, that one may multiply or
    divide by."""
    spelled = filter(None, map(read_number_word, split_words(fold_text(prose))))
    values = {*list_likeliest_values(figures), *map(float, spelled)}
    small = [value for value in values if 1 < value < CHANCE and not value * 2 % 1]
    return [factor for number in (*small, *PERIODS) for factor in (number, 1 / number)]


def list_shares(figures: Sequence[AnswerFigure]) -> list[float]:
    """List what makes the share of each percentage of an answer, and a figure with and without
    it: `with 19 % VAT 1,487.50`."""
    percentages = [figure for figure in figures if figure.kind == "percent"]
    factors: list[float] = []
    for value in list_likeliest_values(percentages):
        factors += [value / 100, (100 + value) / 100, (100 - value) / 100]
    return list(filter(None, factors))


def list_likeliest_values(figures: Iterable[AnswerFigure]) -> list[float]:
    """List the first meaning of each figure that can be read."""
    readings = filter(None, map(read_values, figures))
    return [quantities[0].value for quantities in readings]


def is_multiple(
    figure: AnswerFigure,
    factors: Sequence[float],
    shares: Sequence[float],
    evidence_figures: EvidenceFigures,
) -> bool:
    """Tell whether a precise figure is one of the evidence, times or divided by one of the factors
    (`5.25 a day, 26.25 for the five days`), or a share of one or of a sum."""
    if not is_precise(figure.text):
        return False
    exact = list(map(make_exact, read_values(figure)))
    pairs = [(factor, evidence_figures.numbers) for factor in (*factors, *shares)]
    pairs += [(share, evidence_figures.totals) for share in shares]
    return any(
        line.has_near(Quantity(quantity.value / factor, quantity.slack / factor))
        for quantity in exact
        for factor, line in pairs
    )


CONVERTED: Sequence[tuple[Expression, Callable[[float], float]]] = (
    (Expression(r"°?\s?f\b"), lambda value: (value - 32) / 1.8),
    (Expression(r"°?\s?c\b"), lambda value: value * 1.8 + 32),
    (Expression(r"(?:miles?|mi|mph|meilen|millas|milles)\b"), lambda value: value * 1.609344),
    (Expression(r"(?:km|kilom\w+|km/h)\b"), lambda value: value / 1.609344),
    (Expression(r"(?:lbs?|pounds?)\b"), lambda value: value * 0.45359),
    (Expression(r"(?:feet|foot|ft)\b"), lambda value: value * 0.3048),
)
"""Converts a figure with this unit after it into the unit that it was given in."""


def is_converted(
    figure: AnswerFigure, sentence: Sentence, evidence_figures: EvidenceFigures
) -> bool:
    following_text = fold_text(sentence.text[figure.end - sentence.start :][:12]).lstrip(" |*_")
    in_table = "|" in sentence.text
    for unit, convert in CONVERTED:
        if in_table or unit.match(following_text):
            scale = convert(1.0) - convert(0.0)
            converted = (
                Quantity(convert(value), max(0.6 * scale, 0.6, slack * scale))
                for value, slack in read_values(figure)
            )
            if any(map(evidence_figures.numbers.has_near, converted)):
                return True
    return False


def holds_date(text: str, evidence_figures: EvidenceFigures) -> bool:
    match = DATE.match(text)
    if match is None:  # a day and a month, or a number with the full stop of its sentence
        match = DATE.match(f"{text}.")
        if match is None or holds_number(text, evidence_figures):
            return True
    for meaning in read_date(match):
        if all(is_known_date(day, evidence_figures) for day in meaning):
            return True
    return False


def is_known_date(day: PartialDate, evidence_figures: EvidenceFigures) -> bool:
    return any(is_same_date(day, other) for other in evidence_figures.days)


def is_same_date(day: PartialDate, known_day: PartialDate) -> bool:
    """Tell whether two dates agree in what both of them name; a month must be known."""
    if day.month and day.month != known_day.month:
        return False
    agrees_in_day = 0 in (day.day, known_day.day) or day.day == known_day.day
    agrees_in_year = 0 in (day.year, known_day.year) or day.year == known_day.year
    return agrees_in_day and agrees_in_year


def holds_time(text: str, evidence_figures: EvidenceFigures) -> bool:
    match = TIME.match(text)
    if match is None:
        return True
    known = (evidence_figures.minutes, evidence_figures.ends)
    if all(any(not times.isdisjoint(end) for times in known) for end in read_time(match)):
        return True
    seconds = read_clock_seconds(text)
    return any(evidence_figures.seconds.has_near(Quantity(value, 0.5)) for value in seconds)


def holds_size(text: str, evidence_figures: EvidenceFigures) -> bool:
    match = SIZE.match(text)
    if match is None:
        return True
    readings = [*read_size(match["number"], match["unit"]), *read_number(match["number"])]
    return any(
        evidence_figures.bytes.has_near(reading) or evidence_figures.has_near(reading)
        for reading in readings
    )


def holds_duration(text: str, evidence_figures: EvidenceFigures) -> bool:
    readings = [Quantity(value, max(slack, 0.5)) for value, slack in read_duration(text)]
    # Seconds that are left out may have been cut off as well as rounded.
    cut_readings = [Quantity(value + slack, 2 * slack) for value, slack in readings if slack >= 30]
    if any(map(evidence_figures.durations.has_near, readings + cut_readings)):
        return True
    plain = [reading for number in FIGURE.compiled.findall(text) for reading in read_number(number)]
    return len(plain) == 1 and evidence_figures.has_near(plain[0])


def holds_percent(text: str, evidence_figures: EvidenceFigures) -> bool:
    match = PERCENT.match(text)
    readings = read_number(match["number"]) if match else []
    shares = [Quantity(value / 100, slack / 100) for value, slack in readings]
    return any(map(evidence_figures.has_near, [*readings, *shares]))


def holds_number(text: str, evidence_figures: EvidenceFigures) -> bool:
    match = PLAIN.match(text)
    if match is None or evidence_figures.is_written(match["number"]):
        return True
    scale = SCALES.get((match["scale"] or "").casefold(), 1)
    readings = read_number(match["number"])
    scaled = [Quantity(value * scale, slack * scale) for value, slack in readings]
    return any(map(evidence_figures.has_near, readings + scaled))


def holds_version(text: str, evidence_figures: EvidenceFigures) -> bool:
    return fold_text(text).lstrip("v") in evidence_figures.index.text


HOLDS: dict[str, Callable[[str, EvidenceFigures], bool]] = {
    "date": holds_date,
    "time": holds_time,
    "size": holds_size,
    "duration": holds_duration,
    "percent": holds_percent,
    "number": holds_number,
    "version": holds_version,
}


def find_figure_claims(
    prose: str,
    figures: Sequence[AnswerFigure],
    spoken: Sequence[Sentence],
    evidence_figures: EvidenceFigures,
) -> Iterator[Claim]:
    """Find the figures told of something that the results know, and that nothing supports."""
    supported = [figure for figure in figures if HOLDS[figure.kind](figure.text, evidence_figures)]
    unknown = set(figures).difference(supported)
    listed = NumberLine(map(float, map(len, find_lists(prose))))
    factors, shares = list_factors(prose, figures), list_shares(figures)
    for figure in figures:
        if figure not in unknown or not is_checkable(figure, spoken, evidence_figures):
            continue
        if is_multiple(figure, factors, shares, evidence_figures):
            supported.append(figure)
            continue
        is_of_listed = any(map(listed.has_near, read_values(figure)))
        if not is_of_listed and not is_computed(figure, supported):
            yield Claim(figure.text, figure.start, figure.end, figure.kind)


def is_checkable(
    figure: AnswerFigure, spoken: Sequence[Sentence], evidence_figures: EvidenceFigures
) -> bool:
    """Tell whether the figure is stated, of something that the results are about."""
    sentence = find_sentence(spoken, figure.start)
    if sentence is None or sentence.question or is_marker(figure, sentence):
        return False
    is_short = len(spoken) <= SHORT_ANSWER
    if not is_about(figure, sentence, evidence_figures.index, is_short):
        return False
    return not is_converted(figure, sentence, evidence_figures)


KINDS_GIVEN = {
    "percent": Expression(r"%|percent|ratio|share"),
    "size": Expression(r"\d\s?[kmgt]i?b?\b|byte|size|_[kmgt]b"),
    "duration": Expression(
        rf"\d:\d\d|\d\s?(?:{UNITS_OF_TIME})(?![a-zа-я])|second|minute|hour|duration|_ms\b"
    ),
    "time": Expression(r"\d[:h]\d\d|\d\s?(?:am|pm|uhr|h)\b|\d[時时点]"),
}
"""Signs in results that they have figures of a kind: of others everybody may know some."""
UNIT = Expression(r"\s?(°|[^\W\d_]{1,2}[²³]?(?![^\W\d_]))")


def has_kind(figure: AnswerFigure, sentence: Sentence, index: EvidenceIndex) -> bool:
    """Tell whether the results have figures of this kind, or in this unit, at all."""
    if pattern := KINDS_GIVEN.get(figure.kind):
        return pattern.search(index.given) is not None
    if figure.kind != "number":
        return True
    unit = UNIT.match(fold_text(sentence.text[figure.end - sentence.start :]))
    return unit is None or unit[1] in STOP or unit[1] in index.given


BARE = 3
YEAR = Expression(r"(?<!\d)(?:1[0-9]|20)\d\d(?!\d)")

SHORT_ANSWER = 2
"""Sentences that say what was asked for and no more."""


def is_about(
    figure: AnswerFigure, sentence: Sentence, index: EvidenceIndex, is_short: bool
) -> bool:
    """Tell whether its sentence shares a telling word with the results: of other things everybody
    may know figures. A short answer is about what was asked."""
    if figure.kind == "number" and YEAR.fullmatch(figure.text) and not YEAR.search(index.given):
        return False
    if not has_kind(figure, sentence, index):
        return False
    text = fold_text(sentence.text)
    if share_word(text, index, is_short or figure.kind == "date"):
        return True
    return not text.isascii() and share_letters(text, index)


def share_word(text: str, index: EvidenceIndex, with_question: bool = False) -> bool:
    known_words = index.given_words
    is_bare = sum(map(str.isalpha, known_words)) < BARE
    # What bare figures are of stands in the question, and when something is.
    if with_question or is_bare:
        known_words = index.words
    shared = known_words.intersection(split_words(text))
    return any(len(word) > 2 and word not in STOP and not word[0].isdigit() for word in shared)


def share_letters(text: str, index: EvidenceIndex) -> bool:
    """Tell whether two Chinese or Japanese letters side by side stand in the results too."""
    return any(letter_pair in index.given for letter_pair in find_letter_pairs(text))


def find_letter_pairs(text: str) -> set[str]:
    """Find each two Chinese or Japanese letters side by side; no blanks part their words."""
    pairs = map("".join, itertools.pairwise(text))
    return {pair for pair in pairs if all("\u2e80" <= letter <= "\u9fff" for letter in pair)}
