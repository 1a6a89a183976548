"""Row binding: a figure told of a subject must stand in a record of that subject. Pure.

Free of language: a subject is a word that only one record of a result has; a figure of the answer
belongs to the nearest subject of its sentence, item or row. If the figure stands in another record
and not in that one, it was told of the wrong row.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from andy_cli.agent.grounding.claim import Claim
from andy_cli.agent.grounding.dates import DATE, TIME, days, times
from andy_cli.agent.grounding.figures import Figures, Found, is_marker, totals_of
from andy_cli.agent.grounding.folding import folded, words_of
from andy_cli.agent.grounding.layout import Sentence
from andy_cli.agent.grounding.quantities import (
    CLOCK,
    DURATION,
    FIGURE,
    NUMBER,
    SIZE,
    Figure,
    Line,
    clock_seconds,
    durations,
    readings,
    sizes,
)
from andy_cli.agent.grounding.records import Table
from andy_cli.agent.grounding.vocabulary import MONTHS, STOP

MOST = 200
"""Rows of a table that are looked at."""


class Record(NamedTuple):
    """One row: the words that only it has, and all its figures in base units."""

    text: str
    words: frozenset[str]
    line: Line
    days: frozenset[tuple[int, int]]
    minutes: frozenset[int]


class Mention(NamedTuple):
    """A record that an answer speaks of, and where."""

    record: int
    start: int
    end: int


def wrong_rows(
    found: Sequence[Found], spoken: Sequence[Sentence], known: Figures
) -> Iterator[Claim]:
    """The figures of one record that are told of another."""
    sure = [each for each in known.index.tables if each.sure and 1 < len(each.rows) <= MOST]
    tables = [(records(each), Line(totals_of(each))) for each in sure]
    tables = [each for each in tables if sum(bool(one.words) for one in each[0]) > 1]
    for sentence in spoken:
        inside = [
            each
            for each in found
            if sentence.start <= each.start < sentence.end and not is_marker(each, sentence)
        ]
        if not inside or sentence.question:
            continue
        for table, totals in tables:
            wrong = [
                each
                for each in told_wrongly(inside, sentence, table)
                if not supported_elsewhere(each, totals, known)
            ]
            yield from (Claim(each.text, each.start, each.end, "row") for each in wrong)
            if wrong:
                break


def told_wrongly(
    inside: Sequence[Found], sentence: Sentence, table: Sequence[Record]
) -> Iterator[Found]:
    """The figures of a sentence that other records have than those they are told of."""
    mentions = mentioned(sentence, table, inside)
    if not mentions:
        return
    for each in inside:
        if each.kind in UNBOUND or not any(holds(one, each) for one in table):
            continue
        subjects = subjects_of(each, sentence, mentions, inside, table)
        if not subjects or any(holds(table[at], each) for at in subjects):
            continue
        yield each


def endings(word: str) -> Sequence[str]:
    """The word, and without one or two letters at its end."""
    return (word, word[:-1], word[:-2]) if len(word) > 4 else (word,)


def stem(word: str) -> str:
    """A name without its ending: cases bend names in many languages."""
    return word[:-1] if len(word) > 3 and word.isalpha() else f"{word}-"


def subjects_of(
    found: Found,
    sentence: Sentence,
    mentions: Sequence[Mention],
    inside: Sequence[Found],
    table: Sequence[Record],
) -> set[int]:
    """The records that a figure may be told of; none if that cannot be known."""
    start, end = part_of(sentence, found.start, WEAK)
    there = [each for each in mentions if start <= each.start < end]
    in_line = sentence.text.lstrip()[:1] in LINE_MARKS
    if not there:
        start, _ = part_of(sentence, found.start, STRONG)
        before = [each for each in mentions if start <= each.start < found.start]
        if len({each.record for each in before}) != 1:
            return set()
        told = any(before[-1].end <= each.start < found.start for each in inside)
        return {before[-1].record} if in_line or not told else set()
    if len({each.record for each in there}) == 1:
        first = min(there, key=lambda each: abs(each.start - found.start))
        between = sentence.text[found.end - sentence.start : first.start - sentence.start]
        reach = REACH if len(found.text) > 2 else SHORT
        far = abs(first.start - found.end) > reach and abs(found.start - first.end) > reach
        return set() if ":" in between or (far and not in_line) else {first.record}
    places = sorted(
        [(each.start, each.record) for each in there]
        + [
            (each.start, FIGURE_HERE)
            for each in inside
            if start <= each.start < end and any(holds(one, each) for one in table)
        ]
    )
    kinds = [record == FIGURE_HERE for _, record in places]
    mixed = any(not a and not b for a, b in itertools.pairwise(kinds))
    if mixed or kinds[0] == kinds[-1]:  # `A and B have 3 and 4`: any of them may be meant
        return {each.record for each in there}
    if kinds[0]:
        return {next(record for at, record in places if at > found.start and record >= 0)}
    return {[record for at, record in places if at < found.start and record >= 0][-1]}


FIGURE_HERE = -1
LINE_MARKS = ("|", "-", "*", "•")
"""Signs that begin a row or an item: all of it is told of one thing."""
REACH, SHORT = 40, 16
"""Characters between a figure and the name that it belongs to; of a figure of one or two digits,
which many records have by chance."""
STRONG, WEAK = (
    re.compile(r"[;.!?。；]\s?|\n"),
    re.compile(r"[,;:.!?。；，、]\s?|\n"),
)
UNBOUND = frozenset(["weekday", "spelled", "version"])


def part_of(sentence: Sentence, at: int, split: re.Pattern[str]) -> tuple[int, int]:
    """Where in the answer the part of a sentence begins and ends in which a position stands; a
    point or comma between digits parts nothing."""
    start, end = sentence.start, sentence.end
    for match in split.finditer(sentence.text):
        if match[0] in ".,:" and sentence.text[match.end() : match.end() + 1].isalnum():
            continue
        if sentence.start + match.end() <= at:
            start = sentence.start + match.end()
        elif sentence.start + match.start() >= at:
            end = sentence.start + match.start()
            break
    return start, end


def mentioned(
    sentence: Sentence, table: Sequence[Record], inside: Sequence[Found]
) -> list[Mention]:
    """The records that the sentence names, in order."""
    text = folded(sentence.text)
    figures = [(each.start - sentence.start, each.end - sentence.start) for each in inside]
    owner = {word: at for at, record in enumerate(table) for word in record.words}
    ends = Counter(map(stem, owner))
    stems = {stem(word): at for word, at in owner.items() if ends[stem(word)] == 1}
    found: list[Mention] = []
    for match in re.finditer(r"[^\W_]+(?:[-_.][^\W_]+)*", text):
        if any(start <= match.start() < end for start, end in figures):
            continue
        for word in {match[0], *words_of(match[0])}:
            at = next(
                (one for each in endings(word) if (one := owner.get(each)) is not None),
                stems.get(stem(word)),
            )
            if at is not None and (not found or found[-1].record != at):
                found.append(Mention(at, *match.span()))
    if not found and not text.isascii():
        for word, at in owner.items():
            place = text.find(word) if not word.isascii() else -1
            if place >= 0:
                found.append(Mention(at, place, place + len(word)))
    return [
        each._replace(start=each.start + sentence.start, end=each.end + sentence.start)
        for each in sorted(found, key=lambda each: each.start)
    ]


def supported_elsewhere(found: Found, totals: Line, known: Figures) -> bool:
    """Whether the user's words or the history have the figure, or it is the sum or the mean of a
    column."""
    if re.search(rf"(?<![\d.,:]){re.escape(folded(found.text))}(?![\d.,:])", known.index.said):
        return True
    return found.kind == "number" and any(map(totals.near, readings(found.text)))


def records(table: Table) -> list[Record]:
    """The rows with what only they have; a row without figures is a head."""
    rows = [names_in(row) if re.search(r"\d", row) else set() for row in table.rows]
    seen = Counter(word for words in rows for word in words)
    return [
        record(text, frozenset(word for word in words if seen[word] == 1))
        for text, words in zip(table.rows, rows, strict=True)
    ]


def names_in(row: str) -> set[str]:
    """The words that may name a row: no figures, and nothing of a date."""
    plain = DATE.sub(lambda match: " ", row)
    first = re.split(r"\s;\s|\s-\s|:|\|", plain)[0].strip()
    found = {*words_of(plain), *re.findall(r"[^\W\d_][\w.-]{2,}", plain), first}
    return {
        each
        for each in found
        if each
        and (len(each) > 1 or each == first)
        and not (each[0].isdigit() and each != first)
        and each not in MONTHS
        and each not in STOP
        and (FIGURE.search(each) is None or (each == first and not each.isdigit()))
    }


def record(text: str, words: frozenset[str]) -> Record:
    figures = {each.value for number in re.findall(NUMBER, text) for each in readings(number)}
    for match in SIZE.compiled.finditer(text):
        figures.update(each.value for each in sizes(match["number"], match["unit"]))
    for match in DURATION.compiled.finditer(text):
        figures.update(each.value for each in durations(match[0]))
    for match in CLOCK.compiled.finditer(text):
        figures.update(clock_seconds(match[0]))
    return Record(
        text,
        words,
        Line(figures),
        frozenset(
            (each.month, each.day)
            for match in DATE.finditer(text)
            for one in days(match)
            for each in one
        ),
        frozenset(
            each.minutes for match in TIME.finditer(text) for end in times(match) for each in end
        ),
    )


def holds(record: Record, found: Found) -> bool:
    """Whether the record has the figure."""
    text = re.escape(folded(found.text))
    if re.search(rf"(?<![\d.,:]){text}(?!\d|[.,:]\d)", record.text):
        return True
    match found.kind:
        case "date" if written := DATE.match(found.text):
            return any(
                not each.day or (each.month, each.day) in record.days
                for one in days(written)
                for each in one
            )
        case "time" if written := TIME.match(found.text):
            return any(each.minutes in record.minutes for end in times(written) for each in end)
        case "size" if written := SIZE.match(found.text):
            asked = sizes(written["number"], written["unit"])
        case "duration":
            asked = durations(found.text)
            asked += [Figure(each.value, max(each.slack, 0.5)) for each in asked]
        case _:
            asked = [each for number in re.findall(NUMBER, found.text) for each in readings(number)]
    return any(map(record.line.near, asked))
