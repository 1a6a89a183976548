"""Row binding: a figure told of a subject must stand in a record of that subject. Pure.

Free of language: a subject is a word that only one record of a result has; a figure of the answer
belongs to the nearest subject of its sentence, item or row. If the figure stands in another record
and not in that one, it was told of the wrong row.
"""

import itertools
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache, partial
from typing import NamedTuple

from andy_cli.agent.grounding.evidence import Claim, ResultTable
from andy_cli.agent.grounding.figures.evidence_figures import (
    PLAIN_NUMBER,
    EvidenceFigures,
    compute_totals,
    is_written,
)
from andy_cli.agent.grounding.figures.figure_claims import AnswerFigure, is_marker
from andy_cli.agent.grounding.figures.quantities import (
    CLOCK,
    DATE,
    DURATION,
    FIGURE,
    SIZE,
    TIME,
    NumberLine,
    PartialDate,
    Quantity,
    find_numbers,
    find_times,
    list_days,
    list_times,
    read_clock_seconds,
    read_duration,
    read_number,
    read_size,
)
from andy_cli.agent.grounding.text.segmentation import Sentence, fold_text, split_words
from andy_cli.agent.grounding.text.vocabulary import MONTHS, STOP
from andy_cli.compiler.expression import Expression

MAX_ROWS = 200
"""The end of the name of a row."""

NAME = Expression(r"[^\W_]+(?:[-_.][^\W_]+)*")

LONG_NAME = Expression(r"[^\W\d_][\w.-]{2,}")

HEAD_END = Expression(r"\s;\s|\s-\s|:|\|")
"""The end of the name of a row."""


class TableRow:
    """The text of a row; what stands in it is read when it is first asked for, as an answer tells
    of few rows of a long table."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def names(self) -> set[str]:
        """The words that may name the row: no figures, and nothing of a date."""
        if not any(map(str.isdecimal, self.text)):
            return set()
        starts = [0, *(date.end() for date in self._dates)]
        ends = [*(date.start() for date in self._dates), None]
        plain = " ".join(self.text[start:end] for start, end in zip(starts, ends, strict=True))
        first = HEAD_END.split(plain, 1)[0].strip()
        words = {*split_words(plain), *LONG_NAME.compiled.findall(plain), first}
        return {word for word in words if is_row_name(word, first)}

    @cached_property
    def line(self) -> NumberLine:
        """All its figures, in base units."""
        figures = [quantity.value for quantity in find_quantities(self.text)]
        if "," in self.text and ", " not in self.text:
            # Cells of comma-separated values look like one figure.
            figures += map(float, PLAIN_NUMBER.compiled.findall(self.text))
        for match in CLOCK.finditer(self.text):
            figures += read_clock_seconds(match[0])
        return NumberLine(figures)

    @cached_property
    def days(self) -> frozenset[tuple[int, int]]:
        days = itertools.chain.from_iterable(map(list_days, self._dates))
        return frozenset((day.month, day.day) for day in days)

    @cached_property
    def _dates(self) -> list[re.Match[str]]:
        return list(DATE.finditer(self.text))

    @cached_property
    def minutes(self) -> frozenset[int]:
        return frozenset(find_times(self.text))


class TableRecord(NamedTuple):
    """A row, and the words that only it has."""

    row: TableRow
    words: frozenset[str]


class RecordMention(NamedTuple):
    """A record that an answer speaks of, and where."""

    record: int
    start: int
    end: int


def find_row_claims(
    figures: Sequence[AnswerFigure], spoken: Sequence[Sentence], evidence_figures: EvidenceFigures
) -> Iterator[Claim]:
    """Find the figures of one record that are told of another."""
    tables = read_sure_tables(evidence_figures.index.tables)
    for sentence in spoken:
        inside = list_figures_of(sentence, figures)
        if not inside or sentence.question:
            continue
        for table in tables:
            wrong = list_wrong_figures(inside, sentence, table, evidence_figures)
            kind = "entry" if is_line(sentence) else "row"
            yield from (Claim(figure.text, figure.start, figure.end, kind) for figure in wrong)
            if wrong:
                break


class SureTable:
    """Records, with what all of them come to."""

    def __init__(self, table: ResultTable, rows: Sequence[TableRow]) -> None:
        self._table = table
        count = Counter(itertools.chain.from_iterable(row.names for row in rows))
        self.records = [
            TableRecord(row, frozenset(word for word in row.names if count[word] == 1))
            for row in rows
        ]
        self.owners = {
            word: row for row, record in enumerate(self.records) for word in record.words
        }
        self._holders: dict[tuple[str, str], frozenset[int]] = {}

    @cached_property
    def totals(self) -> NumberLine:
        return NumberLine(compute_totals(self._table))

    def is_telling(self, figure: AnswerFigure) -> bool:
        """Tell whether some of the records have the figure, and others not."""
        return 0 < len(self.find_holders(figure)) < len(self.records)

    def find_holders(self, figure: AnswerFigure) -> frozenset[int]:
        """Find the records that have the figure; each is looked up once."""
        key = (figure.kind, figure.text)
        if key not in self._holders:
            self._holders[key] = list_matching_rows(self.records, figure)
        return self._holders[key]


def list_wrong_figures(
    inside: Sequence[AnswerFigure],
    sentence: Sentence,
    table: SureTable,
    evidence_figures: EvidenceFigures,
) -> list[AnswerFigure]:
    return [
        figure
        for figure in find_misattributed(inside, sentence, table)
        if not is_supported_elsewhere(figure, table.totals, evidence_figures)
    ]


def read_sure_tables(tables: Sequence[ResultTable]) -> list[SureTable]:
    """Read the tables whose rows are records, at least two with names."""
    read_row = cache(TableRow)  # a line of a text stands in several tables
    sure_tables = [
        SureTable(table, list(map(read_row, table.rows)))
        for table in tables
        if table.sure and 1 < len(table.rows) <= MAX_ROWS
    ]
    return [table for table in sure_tables if count_named(table.records) > 1]


def count_named(records: Sequence[TableRecord]) -> int:
    return sum(bool(record.words) for record in records)


def is_line(sentence: Sentence) -> bool:
    """Tell whether it is a row of a table or an item: all of it is told of one thing."""
    return sentence.text.lstrip()[:1] in LINE_MARKS


def list_figures_of(sentence: Sentence, figures: Sequence[AnswerFigure]) -> list[AnswerFigure]:
    return [
        figure
        for figure in figures
        if sentence.start <= figure.start < sentence.end and not is_marker(figure, sentence)
    ]


def find_misattributed(
    inside: Sequence[AnswerFigure], sentence: Sentence, table: SureTable
) -> Iterator[AnswerFigure]:
    """Find the figures of a sentence that other records have than those they are told of."""
    mentions = find_mentions(sentence, table, inside)
    for figure in inside if mentions else ():
        holders = frozenset() if figure.kind == "version" else table.find_holders(figure)
        subjects = find_subjects(figure, sentence, mentions, inside, table) if holders else set()
        if subjects and subjects.isdisjoint(holders):
            yield figure


def find_subjects(
    figure: AnswerFigure,
    sentence: Sentence,
    mentions: Sequence[RecordMention],
    inside: Sequence[AnswerFigure],
    table: SureTable,
) -> set[int]:
    """Find the records that a figure may be told of; none if that cannot be known."""
    start, end = find_part(sentence, figure.start, WEAK)
    near_mentions = [mention for mention in mentions if start <= mention.start < end]
    if names_several(near_mentions):
        numbers = [other for other in inside if start <= other.start < end]
        return pair_subjects(figure, near_mentions, list(filter(table.is_telling, numbers)))
    if is_line(sentence):
        return {(near_mentions or mentions)[0].record}
    if not near_mentions:
        return find_earlier_subject(figure, sentence, mentions, inside)
    if has_own_figure(figure, near_mentions[0], inside, table):
        return set()
    return find_near_subject(figure, sentence, near_mentions)


def names_several(mentions: Sequence[RecordMention]) -> bool:
    return len({mention.record for mention in mentions}) > 1


def find_earlier_subject(
    figure: AnswerFigure,
    sentence: Sentence,
    mentions: Sequence[RecordMention],
    inside: Sequence[AnswerFigure],
) -> set[int]:
    """Find the one record named before (`Brandt owes most: 2915.75`), if no other figure has been
    told of it since, and no record is named behind the figure."""
    start, end = find_part(sentence, figure.start, STRONG)
    named = [mention for mention in mentions if start <= mention.start < end]
    subjects = {mention.record for mention in named}
    if len(subjects) != 1 or named[-1].start > figure.start:
        return set()
    has_figure = any(named[-1].end <= other.start < figure.start for other in inside)
    return set() if has_figure else subjects


def has_own_figure(
    figure: AnswerFigure,
    mention: RecordMention,
    inside: Sequence[AnswerFigure],
    table: SureTable,
) -> bool:
    """Tell whether a name has a time between it and another (`the call with Nils at 15:00 and the
    choir at 19:30`), or stands behind the figure and before one of its own (`with 1,500 values the
    mean is 42.3`)."""
    others = [other for other in inside if mention.end <= other.start]
    if mention.end <= figure.start:
        others = [other for other in others if other.start < figure.start]
        others = [other for other in others if other.kind == figure.kind == "time"]
    return any(mention.record in table.find_holders(other) for other in others)


def find_near_subject(
    figure: AnswerFigure, sentence: Sentence, near_mentions: Sequence[RecordMention]
) -> set[int]:
    """Find the one record that is named beside the figure, if it stands within reach."""
    nearest_mention = min(near_mentions, key=lambda mention: abs(mention.start - figure.start))
    between = sentence.text[figure.end - sentence.start : nearest_mention.start - sentence.start]
    reach = REACH if len(figure.text) > 2 else SHORT
    distance = min(abs(nearest_mention.start - figure.end), abs(figure.start - nearest_mention.end))
    return {nearest_mention.record} if ":" not in between and distance <= reach else set()


def pair_subjects(
    figure: AnswerFigure, near_mentions: Sequence[RecordMention], numbers: Sequence[AnswerFigure]
) -> set[int]:
    """Pair the figure with one of several records, where names and figures take turns."""
    names = sorted((mention.start, mention.record) for mention in near_mentions)
    positions = sorted([*names, *((number.start, FIGURE_HERE) for number in numbers)])
    kinds = [record == FIGURE_HERE for _, record in positions]
    mixed = any(not first and not second for first, second in itertools.pairwise(kinds))
    if mixed or kinds[0] == kinds[-1]:  # `A and B have 3 and 4`: any of them may be meant
        return {record for _, record in names}
    following = bisect_left(names, (figure.start, FIGURE_HERE))
    return {names[following if kinds[0] else following - 1][1]}


FIGURE_HERE = -1
LINE_MARKS = ("|", "-", "*", "•")
"""Signs that begin a row or an item."""
REACH, SHORT = 40, 16
"""Characters between a figure and the name that it belongs to; of a figure of one or two digits,
which many records have by chance."""
STRONG = Expression(r"[;.!?。；]\s?|\n")
WEAK = Expression(r"[,;:.!?。；，、]\s?|\n")
FIGURE_PART = Expression(r"[\d.,:]")
LONGER = Expression(r"\d|[.,:]\d")
"""The rest of a longer figure; a full stop alone may end its sentence."""


def find_part(sentence: Sentence, position: int, split: Expression) -> tuple[int, int]:
    """Find where in the answer the part of a sentence begins and ends in which a position stands;
    a point or comma between digits parts nothing."""
    start = sentence.start
    for match in split.finditer(sentence.text):
        if match[0] in ".,:" and sentence.text[match.end() : match.end() + 1].isalnum():
            continue
        sign_start, sign_end = sentence.start + match.start(), sentence.start + match.end()
        if sign_end <= position:
            start = sign_end
        elif sign_start >= position:
            return start, sign_start
    return start, sentence.end


def find_mentions(
    sentence: Sentence, table: SureTable, inside: Sequence[AnswerFigure]
) -> list[RecordMention]:
    """Find the records that the sentence names, in order."""
    text = fold_text(sentence.text)
    figures = [(figure.start - sentence.start, figure.end - sentence.start) for figure in inside]
    may_name = not table.owners.keys().isdisjoint(find_name_words(text))
    mentions = find_word_mentions(text, figures, table.owners) if may_name else []
    if not mentions and not text.isascii():
        mentions = list(find_unspaced_mentions(text, table.owners))
    return [
        RecordMention(row, start + sentence.start, end + sentence.start)
        for row, start, end in sorted(mentions, key=lambda mention: mention.start)
    ]


@lru_cache(maxsize=8)
def find_name_words(text: str) -> frozenset[str]:
    """Find the words of a sentence that may be names; each table is asked."""
    names = NAME.compiled.findall(text)
    return frozenset([*names, *itertools.chain.from_iterable(map(split_words, names))])


def find_word_mentions(
    text: str, figures: Sequence[tuple[int, int]], owners: Mapping[str, int]
) -> list[RecordMention]:
    """Find the words, outside of figures, that name a record; of neighbours of one record the
    first."""
    mentions: list[RecordMention] = []
    for match in NAME.finditer(text):
        if any(start <= match.start() < end for start, end in figures):
            continue
        for word in {match[0], *split_words(match[0])}:
            row = owners.get(word)
            if row is not None and (not mentions or mentions[-1].record != row):
                mentions.append(RecordMention(row, *match.span()))
    return mentions


def find_unspaced_mentions(text: str, owners: Mapping[str, int]) -> Iterator[RecordMention]:
    """Find names inside of words: Chinese and Japanese have no blanks between words."""
    for word, row in owners.items():
        # A Latin one is no part of a longer Latin word.
        name = rf"(?<![a-z\d]){re.escape(word)}(?![a-z\d])" if word.isascii() else re.escape(word)
        if match := re.search(name, text):
            yield RecordMention(row, *match.span())


def is_supported_elsewhere(
    figure: AnswerFigure, totals: NumberLine, evidence_figures: EvidenceFigures
) -> bool:
    """Tell whether the user's words or the history have the figure, or it is the sum or the mean
    of a column."""
    if is_written(fold_text(figure.text), evidence_figures.index.said, FIGURE_PART, FIGURE_PART):
        return True
    return figure.kind == "number" and any(map(totals.has_near, read_number(figure.text)))


def is_row_name(word: str, first: str) -> bool:
    """Tell whether a word may name its row; what stands `first` in it may hold a figure."""
    if not word or word in MONTHS or word in STOP:
        return False
    if word == first:
        return not word.isdigit() or FIGURE.search(word) is None
    return len(word) > 1 and not word[0].isdigit() and FIGURE.search(word) is None


def find_quantities(text: str) -> Iterator[Quantity]:
    """Find the numbers, sizes and durations of a text, in base units."""
    yield from find_numbers(text)
    for match in SIZE.finditer(text):
        yield from read_size(match["number"], match["unit"])
    for match in DURATION.finditer(text):
        yield from read_duration(match[0])


def list_matching_rows(records: Sequence[TableRecord], figure: AnswerFigure) -> frozenset[int]:
    """List the numbers of the records that have the figure."""
    text, holds = fold_text(figure.text), make_record_test(figure)
    return frozenset(
        row
        for row, record in enumerate(records)
        if is_written(text, record.row.text, FIGURE_PART, LONGER) or holds(record.row)
    )


def make_record_test(figure: AnswerFigure) -> Callable[[TableRow], bool]:
    """Make the test of a record for a figure that may be written otherwise there."""
    if figure.kind == "date" and (written := DATE.match(figure.text)):
        return partial(holds_day, days=list_days(written))
    if figure.kind == "time" and (written := TIME.match(figure.text)):
        return partial(holds_time, text=figure.text, times=list_times(written))
    return partial(holds_quantity, quantities=list_quantities(figure))


def holds_day(row: TableRow, days: Iterable[PartialDate]) -> bool:
    return any(not day.day or (day.month, day.day) in row.days for day in days)


def holds_quantity(row: TableRow, quantities: Sequence[Quantity]) -> bool:
    return any(map(row.line.has_near, quantities))


def holds_time(row: TableRow, text: str, times: Sequence[int]) -> bool:
    """Tell whether the record has a time of day, or what is none as how long something took:
    `41:12` is `00:41:12`."""
    if times:
        return not row.minutes.isdisjoint(times)
    return any(row.line.has_near(Quantity(value, 0.5)) for value in read_clock_seconds(text))


def list_quantities(figure: AnswerFigure) -> list[Quantity]:
    """List what a figure of the answer may stand for."""
    if figure.kind == "size" and (written := SIZE.match(figure.text)):
        return read_size(written["number"], written["unit"])
    numbers = list(find_numbers(figure.text))
    if figure.kind == "duration":
        read = read_duration(figure.text)
        # The unit may stand in the head of its column alone.
        plain = numbers if len(numbers) == 1 else []
        return read + [Quantity(value, max(slack, 0.5)) for value, slack in read] + plain
    return numbers
