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

from andy_cli.agent.grounding.claims import Claim
from andy_cli.agent.grounding.figures.dates import DATE, TIME, read_date, read_time
from andy_cli.agent.grounding.figures.figure_claims import (
    AnswerFigure,
    EvidenceFigures,
    compute_totals,
    is_marker,
)
from andy_cli.agent.grounding.figures.quantities import (
    CLOCK,
    DURATION,
    FIGURE,
    NUMBER,
    SIZE,
    NumberLine,
    Quantity,
    read_clock_seconds,
    read_duration,
    read_number,
    read_size,
)
from andy_cli.agent.grounding.result_tables import ResultTable
from andy_cli.agent.grounding.text.folding import fold_text, split_words
from andy_cli.agent.grounding.text.layout import Sentence
from andy_cli.agent.grounding.text.vocabulary import MONTHS, STOP

MOST = 200
"""Rows of a table that are looked at."""


class TableRecord(NamedTuple):
    """One row: the words that only it has, and all its figures in base units."""

    text: str
    words: frozenset[str]
    line: NumberLine
    days: frozenset[tuple[int, int]]
    minutes: frozenset[int]


class RecordMention(NamedTuple):
    """A record that an answer speaks of, and where."""

    record: int
    start: int
    end: int


def find_row_claims(
    found: Sequence[AnswerFigure], spoken: Sequence[Sentence], known: EvidenceFigures
) -> Iterator[Claim]:
    """The figures of one record that are told of another."""
    sure = [each for each in known.index.tables if each.sure and 1 < len(each.rows) <= MOST]
    tables = [(read_records(each), NumberLine(compute_totals(each))) for each in sure]
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
                for each in find_misattributed(inside, sentence, table)
                if not is_supported_elsewhere(each, totals, known)
            ]
            yield from (Claim(each.text, each.start, each.end, "row") for each in wrong)
            if wrong:
                break


def find_misattributed(
    inside: Sequence[AnswerFigure], sentence: Sentence, table: Sequence[TableRecord]
) -> Iterator[AnswerFigure]:
    """The figures of a sentence that other records have than those they are told of."""
    mentions = find_mentions(sentence, table, inside)
    if not mentions:
        return
    for each in inside:
        if each.kind in UNBOUND or not any(holds_figure(one, each) for one in table):
            continue
        subjects = find_subjects(each, sentence, mentions, inside, table)
        if not subjects or any(holds_figure(table[at], each) for at in subjects):
            continue
        yield each


def list_endings(word: str) -> Sequence[str]:
    """The word, and without one or two letters at its end."""
    return (word, word[:-1], word[:-2]) if len(word) > 4 else (word,)


def strip_ending(word: str) -> str:
    """A name without its ending: cases bend names in many languages."""
    return word[:-1] if len(word) > 3 and word.isalpha() else f"{word}-"


def find_subjects(
    found: AnswerFigure,
    sentence: Sentence,
    mentions: Sequence[RecordMention],
    inside: Sequence[AnswerFigure],
    table: Sequence[TableRecord],
) -> set[int]:
    """The records that a figure may be told of; none if that cannot be known."""
    start, end = find_part(sentence, found.start, WEAK)
    there = [each for each in mentions if start <= each.start < end]
    in_line = sentence.text.lstrip()[:1] in LINE_MARKS
    if not there:
        start, _ = find_part(sentence, found.start, STRONG)
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
            if start <= each.start < end and any(holds_figure(one, each) for one in table)
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


def find_part(sentence: Sentence, at: int, split: re.Pattern[str]) -> tuple[int, int]:
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


def find_mentions(
    sentence: Sentence, table: Sequence[TableRecord], inside: Sequence[AnswerFigure]
) -> list[RecordMention]:
    """The records that the sentence names, in order."""
    text = fold_text(sentence.text)
    figures = [(each.start - sentence.start, each.end - sentence.start) for each in inside]
    owner = {word: at for at, record in enumerate(table) for word in record.words}
    ends = Counter(map(strip_ending, owner))
    stems = {strip_ending(word): at for word, at in owner.items() if ends[strip_ending(word)] == 1}
    found: list[RecordMention] = []
    for match in re.finditer(r"[^\W_]+(?:[-_.][^\W_]+)*", text):
        if any(start <= match.start() < end for start, end in figures):
            continue
        for word in {match[0], *split_words(match[0])}:
            at = next(
                (one for each in list_endings(word) if (one := owner.get(each)) is not None),
                stems.get(strip_ending(word)),
            )
            if at is not None and (not found or found[-1].record != at):
                found.append(RecordMention(at, *match.span()))
    if not found and not text.isascii():
        for word, at in owner.items():
            place = text.find(word) if not word.isascii() else -1
            if place >= 0:
                found.append(RecordMention(at, place, place + len(word)))
    return [
        each._replace(start=each.start + sentence.start, end=each.end + sentence.start)
        for each in sorted(found, key=lambda each: each.start)
    ]


def is_supported_elsewhere(found: AnswerFigure, totals: NumberLine, known: EvidenceFigures) -> bool:
    """Whether the user's words or the history have the figure, or it is the sum or the mean of a
    column."""
    if re.search(rf"(?<![\d.,:]){re.escape(fold_text(found.text))}(?![\d.,:])", known.index.said):
        return True
    return found.kind == "number" and any(map(totals.near, read_number(found.text)))


def read_records(table: ResultTable) -> list[TableRecord]:
    """The rows with what only they have; a row without figures is a head."""
    rows = [find_row_names(row) if re.search(r"\d", row) else set() for row in table.rows]
    seen = Counter(word for words in rows for word in words)
    return [
        read_record(text, frozenset(word for word in words if seen[word] == 1))
        for text, words in zip(table.rows, rows, strict=True)
    ]


def find_row_names(row: str) -> set[str]:
    """The words that may name a row: no figures, and nothing of a date."""
    plain = DATE.sub(lambda match: " ", row)
    first = re.split(r"\s;\s|\s-\s|:|\|", plain)[0].strip()
    found = {*split_words(plain), *re.findall(r"[^\W\d_][\w.-]{2,}", plain), first}
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


def read_record(text: str, words: frozenset[str]) -> TableRecord:
    figures = {each.value for number in re.findall(NUMBER, text) for each in read_number(number)}
    for match in SIZE.compiled.finditer(text):
        figures.update(each.value for each in read_size(match["number"], match["unit"]))
    for match in DURATION.compiled.finditer(text):
        figures.update(each.value for each in read_duration(match[0]))
    for match in CLOCK.compiled.finditer(text):
        figures.update(read_clock_seconds(match[0]))
    return TableRecord(
        text,
        words,
        NumberLine(figures),
        frozenset(
            (each.month, each.day)
            for match in DATE.finditer(text)
            for one in read_date(match)
            for each in one
        ),
        frozenset(
            each.minutes
            for match in TIME.finditer(text)
            for end in read_time(match)
            for each in end
        ),
    )


def holds_figure(record: TableRecord, found: AnswerFigure) -> bool:
    """Whether the record has the figure."""
    text = re.escape(fold_text(found.text))
    if re.search(rf"(?<![\d.,:]){text}(?!\d|[.,:]\d)", record.text):
        return True
    match found.kind:
        case "date" if written := DATE.match(found.text):
            return any(
                not each.day or (each.month, each.day) in record.days
                for one in read_date(written)
                for each in one
            )
        case "time" if written := TIME.match(found.text):
            return any(each.minutes in record.minutes for end in read_time(written) for each in end)
        case "size" if written := SIZE.match(found.text):
            asked = read_size(written["number"], written["unit"])
        case "duration":
            asked = read_duration(found.text)
            asked += [Quantity(each.value, max(each.slack, 0.5)) for each in asked]
        case _:
            asked = [
                each for number in re.findall(NUMBER, found.text) for each in read_number(number)
            ]
    return any(map(record.line.near, asked))
