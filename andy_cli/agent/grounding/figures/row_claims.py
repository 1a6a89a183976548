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
from pathlib import PurePath
from typing import NamedTuple

from andy_cli.agent.grounding.evidence import Claim, EvidenceIndex, ResultTable, parse_result
from andy_cli.agent.grounding.figures.evidence_figures import (
    GROUPED_COLUMNS,
    PLAIN_NUMBER,
    EvidenceFigures,
    compute_column_totals,
    compute_totals,
    is_written,
    list_number_columns,
    sum_by_key,
)
from andy_cli.agent.grounding.figures.figure_claims import AnswerFigure, is_marker
from andy_cli.agent.grounding.figures.quantities import (
    CLOCK,
    DATE,
    DURATION,
    FIGURE,
    SIZE,
    TIME,
    ClockTime,
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
from andy_cli.messages import Effect

MAX_ROWS = 200
"""The end of the name of a row."""
MAX_GROUPS = 40
"""Different names of a column up to which its rows are grouped by them."""
MAX_FILE_CHARACTERS = 100_000
"""Characters of all files that were read up to which each is a record."""

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
    def figures(self) -> set[float]:
        """All its figures, in base units."""
        figures = {quantity.value for quantity in find_quantities(self.text)}
        if "," in self.text and ", " not in self.text:
            # Cells of comma-separated values look like one figure.
            figures.update(map(float, PLAIN_NUMBER.compiled.findall(self.text)))
        for match in CLOCK.finditer(self.text):
            figures.update(read_clock_seconds(match[0]))
        return figures

    @cached_property
    def days(self) -> frozenset[tuple[int, int]]:
        days = itertools.chain.from_iterable(map(list_days, self._dates))
        return frozenset((day.month, day.day) for day in days)

    @cached_property
    def _dates(self) -> list[re.Match[str]]:
        return list(DATE.finditer(self.text))

    @cached_property
    def minutes(self) -> frozenset[int]:
        return frozenset(time.minutes for time in find_times(self.text))


class TableRecord:
    """One row, or all those of one name: the words that only it has, and all its figures."""

    def __init__(
        self, rows: Sequence[TableRow], words: frozenset[str], made: Iterable[float] = ()
    ) -> None:
        """`made`: figures that are made of those of the rows."""
        self.words, self._rows, self._made = words, rows, made
        self.text = "\n".join(row.text for row in rows)

    @cached_property
    def line(self) -> NumberLine:
        return NumberLine({*self._made}.union(*(row.figures for row in self._rows)))

    @cached_property
    def days(self) -> frozenset[tuple[int, int]]:
        return frozenset().union(*(row.days for row in self._rows))

    @cached_property
    def minutes(self) -> frozenset[int]:
        return frozenset().union(*(row.minutes for row in self._rows))


class RecordMention(NamedTuple):
    """A record that an answer speaks of, and where."""

    record: int
    start: int
    end: int


def find_row_claims(
    figures: Sequence[AnswerFigure], spoken: Sequence[Sentence], evidence_figures: EvidenceFigures
) -> Iterator[Claim]:
    """Find the figures of one record that are told of another."""
    tables = read_sure_tables(evidence_figures.index.tables) + read_files(evidence_figures.index)
    for sentence in spoken:
        inside = list_figures_of(sentence, figures)
        if not inside or sentence.question:
            continue
        for table in tables:
            wrong = list_wrong_figures(inside, sentence, table, evidence_figures)
            kind = "source" if table.is_of_files else "row"
            if kind == "row" and sentence.text.lstrip()[:1] in LINE_MARKS:
                kind = "entry"
            yield from (Claim(figure.text, figure.start, figure.end, kind) for figure in wrong)
            if wrong:
                break


class SureTable:
    """Records, with what all of them come to; `is_grouped`: each of several rows; `is_of_files`:
    each of a file."""

    def __init__(
        self,
        records: Sequence[TableRecord],
        make_totals: Callable[[], Iterable[float]],
        *,
        is_grouped: bool = False,
        is_of_files: bool = False,
    ) -> None:
        self.records, self._make_totals = records, make_totals
        self.is_grouped, self.is_of_files = is_grouped, is_of_files
        self.owners = {word: row for row, record in enumerate(records) for word in record.words}
        self._holders: dict[tuple[str, str], frozenset[int]] = {}

    @cached_property
    def totals(self) -> NumberLine:
        return NumberLine(self._make_totals())

    @cached_property
    def forms(self) -> frozenset[str]:
        """The forms of words by which a record may be named."""
        return frozenset([*self.owners, *self.stems])

    @cached_property
    def stems(self) -> dict[str, int]:
        return map_unique_stems(self.owners)

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
        # A share is a figure of no group, and no file.
        and not ((table.is_grouped or table.is_of_files) and figure.kind == "percent")
    ]


def read_sure_tables(tables: Sequence[ResultTable]) -> list[SureTable]:
    """Read the tables whose rows are records, at least two with names, and behind them the
    tables of their groups."""
    sure_tables: list[SureTable] = []
    grouped_tables: list[SureTable] = []
    read_row = cache(TableRow)  # a line of a text stands in several tables
    for table in tables:
        if not table.sure or not 1 < len(table.rows) <= MAX_ROWS:
            continue
        rows = list(map(read_row, table.rows))
        records = read_records(rows)
        if sum(bool(record.words) for record in records) > 1:
            sure_tables.append(SureTable(records, partial(compute_totals, table)))
        make_totals = cache(partial(compute_group_totals, table))
        grouped_tables += [
            SureTable(groups, make_totals, is_grouped=True) for groups in group_records(table, rows)
        ]
    return sure_tables + grouped_tables


def read_files(index: EvidenceIndex) -> list[SureTable]:
    """Make one record of each file where the turn only read several."""
    files = list_read_files(index)
    if not 1 < len(set(files)) == len(index.results) or len(index.given) > MAX_FILE_CHARACTERS:
        return []
    pieces = zip(files, index.results, index.by_result, strict=True)
    return [SureTable([*itertools.starmap(read_file_record, pieces)], tuple, is_of_files=True)]


def list_read_files(index: EvidenceIndex) -> list[str]:
    """List the files that the calls of the turn read; none if a call did something else."""
    actions = [action for action in index.evidence.actions or () if not action.earlier]
    read = [parse_result(action.arguments) for action in actions if action.effect is Effect.READ]
    paths = [str(values.get("path", "")) for values in read if isinstance(values, dict)]
    return [fold_text(PurePath(path).name) for path in paths] if len(paths) == len(actions) else []


def read_file_record(file: str, text: str, tables: Sequence[ResultTable]) -> TableRecord:
    """Read the figures of a file, with what its columns come to and counts up to its lines."""
    made = itertools.chain.from_iterable(map(compute_totals, tables))
    counts = map(float, range(text.count("\n") + 2))
    return TableRecord([TableRow(text)], frozenset([file]), itertools.chain(made, counts))


def group_records(table: ResultTable, rows: Sequence[TableRow]) -> Iterator[Sequence[TableRecord]]:
    """Make one record of all rows with the same name in a column, with what each column of theirs
    comes to: hours by person."""
    columns = [column for column in table.columns.values() if len(column) == len(table.rows)]
    numbers = list_number_columns(table)
    for key_column in columns[:GROUPED_COLUMNS]:
        keys = [fold_text(str(key)) for key in key_column]
        if 1 < len(set(keys)) < min(len(keys), MAX_GROUPS) and not any(
            map(str.isdecimal, "".join(keys))
        ):
            yield join_groups(keys, rows, numbers)


def compute_group_totals(table: ResultTable) -> list[float]:
    """Compute what columns come to, in all and for each two names together: hours by person and
    project."""
    totals = list(compute_column_totals(table))
    columns = [column for column in table.columns.values() if len(column) == len(table.rows)]
    number_columns = list_number_columns(table)
    for pair in itertools.combinations(columns[:GROUPED_COLUMNS], 2):
        keys = list(map(str, zip(*pair, strict=True)))
        count = Counter(keys)
        for numbers in number_columns:
            sums = sum_by_key(keys, numbers)
            totals += [total for key, total in sums.items() if count[key] > 1]
    return totals


def join_groups(
    keys: Sequence[str], rows: Sequence[TableRow], numbers: Sequence[Sequence[float]]
) -> list[TableRecord]:
    """Make one record of the rows of each key. A figure up to the count of all may count them."""
    words_by_key = {key: {*split_words(key)} - STOP - {*MONTHS} for key in sorted(set(keys))}
    count = Counter(itertools.chain.from_iterable(words_by_key.values()))
    sums_by_key = [sum_by_key(keys, column) for column in numbers]
    counts = list(map(float, range(len(keys) + 1)))
    joined = []
    for key, words in words_by_key.items():
        own_rows = [row for row, other in zip(rows, keys, strict=True) if other == key]
        own_words = frozenset(word for word in words if count[word] == 1)
        made = [*(by[key] for by in sums_by_key), *counts]
        joined.append(TableRecord(own_rows, own_words, made))
    return joined


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
    if not mentions or (table.is_of_files and compares_files(mentions, inside, table)):
        return
    for figure in inside:
        if figure.kind in UNBOUND or not table.find_holders(figure):
            continue
        subjects = find_all_subjects(figure, sentence, mentions, inside, table)
        if subjects and subjects.isdisjoint(table.find_holders(figure)):
            yield figure


def find_all_subjects(
    figure: AnswerFigure,
    sentence: Sentence,
    mentions: Sequence[RecordMention],
    inside: Sequence[AnswerFigure],
    table: SureTable,
) -> set[int]:
    """Find the records that a figure may be told of, with the one that a line begins with: `Price:
    59.80 (QX7)`."""
    subjects = find_listed_subjects(figure, sentence, mentions, inside, table)
    subjects = subjects or find_subjects(figure, sentence, mentions, inside, table)
    if subjects and sentence.text.lstrip()[:1] in LINE_MARKS:
        return subjects | {mentions[0].record}
    return subjects


def compares_files(
    mentions: Sequence[RecordMention], inside: Sequence[AnswerFigure], table: SureTable
) -> bool:
    """Tell whether a sentence names several files, or one with a figure that it alone has: then
    another may be what it is compared with: `b.ini has 443 instead of 8081`."""
    files = {mention.record for mention in mentions}
    return len(files) > 1 or any(table.find_holders(figure) == files for figure in inside)


def list_endings(word: str) -> Sequence[str]:
    """List the word, and the word without one or two letters at its end."""
    return (word, word[:-1], word[:-2]) if len(word) > 4 else (word,)


def strip_ending(word: str) -> str:
    """Take the ending off a name: cases bend names in many languages."""
    return word[:-1] if len(word) > 3 and word.isalpha() else f"{word}-"


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
    in_line = sentence.text.lstrip()[:1] in LINE_MARKS
    if not near_mentions:
        return find_earlier_subject(figure, sentence, mentions, inside, in_line)
    if len({mention.record for mention in near_mentions}) == 1:
        has_other = has_own_figure(figure, near_mentions[0], inside, table)
        return find_near_subject(figure, sentence, near_mentions, in_line, has_other)
    numbers = [other for other in inside if start <= other.start < end]
    return pair_subjects(
        figure, near_mentions, [other.start for other in numbers if table.is_telling(other)]
    )


def find_listed_subjects(
    figure: AnswerFigure,
    sentence: Sentence,
    mentions: Sequence[RecordMention],
    inside: Sequence[AnswerFigure],
    table: SureTable,
) -> set[int]:
    """Find the records of a row of names that a row of as many figures follows (`A, B and C have 3,
    4 and 5`): any of them may be meant."""
    start, end = find_part(sentence, figure.start, STRONG)
    names = [mention for mention in mentions if start <= mention.start < end]
    figures = [other for other in inside if start <= other.start < end and table.is_telling(other)]
    is_listed = len(names) == len(figures) > 1 and names[-1].end <= figures[0].start
    return {mention.record for mention in names} if is_listed else set()


def has_own_figure(
    figure: AnswerFigure,
    mention: RecordMention,
    inside: Sequence[AnswerFigure],
    table: SureTable,
) -> bool:
    """Tell whether a name has a time between it and another (`the call with Nils at 15:00 and the
    choir at 19:30`), or a figure behind it (`with 1,500 values the mean is 42.3`). The name of a
    group may be no name in a sentence: `Ada has paid 90 and still owes 15`."""
    between = [other for other in inside if mention.end <= other.start < figure.start]
    own = [other for other in between if table.is_grouped or other.kind == figure.kind == "time"]
    if figure.end <= mention.start:
        own += [other for other in inside if mention.end <= other.start]
    return any(mention.record in table.find_holders(other) for other in own)


def find_earlier_subject(
    figure: AnswerFigure,
    sentence: Sentence,
    mentions: Sequence[RecordMention],
    inside: Sequence[AnswerFigure],
    in_line: bool,
) -> set[int]:
    """Find the one record named before, if no other figure has been told of it since, and no
    record is named behind the figure: `After the backup, at 11:05, the login failed`."""
    start, end = find_part(sentence, figure.start, STRONG)
    subjects = {mention.record for mention in mentions if start <= mention.start < end}
    earlier_ends = [mention.end for mention in mentions if start <= mention.start < figure.start]
    if len(subjects) != 1 or not earlier_ends:
        return set()
    has_figure = any(earlier_ends[-1] <= other.start < figure.start for other in inside)
    return subjects if in_line or not has_figure else set()


def find_near_subject(
    figure: AnswerFigure,
    sentence: Sentence,
    near_mentions: Sequence[RecordMention],
    in_line: bool,
    has_other: bool,
) -> set[int]:
    """Find the one record that is named beside the figure, if it stands within reach and has no
    other figure: then this one may be of something that is named otherwise."""
    nearest_mention = min(near_mentions, key=lambda mention: abs(mention.start - figure.start))
    between = sentence.text[figure.end - sentence.start : nearest_mention.start - sentence.start]
    if ":" in between or (has_other and not in_line):
        return set()
    reach = REACH if len(figure.text) > 2 else SHORT
    distance = min(abs(nearest_mention.start - figure.end), abs(figure.start - nearest_mention.end))
    return {nearest_mention.record} if in_line or distance <= reach else set()


def pair_subjects(
    figure: AnswerFigure, near_mentions: Sequence[RecordMention], figures_at: Sequence[int]
) -> set[int]:
    """Pair the figure with one of several records, where names and figures take turns."""
    names = sorted((mention.start, mention.record) for mention in near_mentions)
    positions = sorted([*names, *((position, FIGURE_HERE) for position in figures_at)])
    kinds = [record == FIGURE_HERE for _, record in positions]
    mixed = any(not first and not second for first, second in itertools.pairwise(kinds))
    if mixed or kinds[0] == kinds[-1]:  # `A and B have 3 and 4`: any of them may be meant
        return {record for _, record in names}
    following = bisect_left(names, (figure.start, FIGURE_HERE))
    return {names[following if kinds[0] else following - 1][1]}


FIGURE_HERE = -1
LINE_MARKS = ("|", "-", "*", "•")
"""Signs that begin a row or an item: all of it is told of one thing."""
REACH, SHORT = 40, 16
"""Characters between a figure and the name that it belongs to; of a figure of one or two digits,
which many records have by chance."""
STRONG = Expression(r"[;.!?。；]\s?|\n")
WEAK = Expression(r"[,;:.!?。；，、]\s?|\n")
UNBOUND = frozenset(["weekday", "spelled", "version"])
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
    may_name = not table.forms.isdisjoint(find_word_forms(text))
    mentions = find_word_mentions(text, figures, table) if may_name else []
    if not mentions and not text.isascii():
        mentions = list(find_unspaced_mentions(text, table.owners))
    return [
        RecordMention(row, start + sentence.start, end + sentence.start)
        for row, start, end in sorted(mentions, key=lambda mention: mention.start)
    ]


@lru_cache(maxsize=8)
def find_word_forms(text: str) -> frozenset[str]:
    """Find the words of a sentence, with and without their endings; each table is asked."""
    names = NAME.compiled.findall(text)
    words = {*names, *itertools.chain.from_iterable(map(split_words, names))}
    return frozenset(form for word in words for form in (*list_endings(word), strip_ending(word)))


def find_word_mentions(
    text: str, figures: Sequence[tuple[int, int]], table: SureTable
) -> list[RecordMention]:
    """Find the words, outside of figures, that name a record; of neighbours of one record the
    first."""
    mentions: list[RecordMention] = []
    for match in NAME.finditer(text):
        if any(start <= match.start() < end for start, end in figures):
            continue
        for word in {match[0], *split_words(match[0])}:
            row = find_owner(word, table.owners, table.stems)
            if row is not None and (not mentions or mentions[-1].record != row):
                mentions.append(RecordMention(row, *match.span()))
    return mentions


def map_unique_stems(owners: Mapping[str, int]) -> dict[str, int]:
    """Map the stems that only one word of the table has to the row of that word."""
    count = Counter(map(strip_ending, owners))
    return {
        strip_ending(word): row for word, row in owners.items() if count[strip_ending(word)] == 1
    }


def find_owner(word: str, owners: Mapping[str, int], stems: Mapping[str, int]) -> int | None:
    for word_form in list_endings(word):
        if word_form in owners:
            return owners[word_form]
    return stems.get(strip_ending(word))


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


def read_records(rows: Sequence[TableRow]) -> list[TableRecord]:
    """Read the rows with what only they have; a row without figures is a head."""
    count = Counter(itertools.chain.from_iterable(row.names for row in rows))
    records: list[TableRecord] = []
    for row in rows:
        own_words = frozenset(word for word in row.names if count[word] == 1)
        records.append(TableRecord([row], own_words))
    return records


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
        if is_written(text, record.text, FIGURE_PART, LONGER) or holds(record)
    )


def make_record_test(figure: AnswerFigure) -> Callable[[TableRecord], bool]:
    """Make the test of a record for a figure that may be written otherwise there."""
    if figure.kind == "date" and (written := DATE.match(figure.text)):
        return partial(holds_day, days=list_days(written))
    if figure.kind == "time" and (written := TIME.match(figure.text)):
        return partial(holds_time, text=figure.text, times=list_times(written))
    return partial(holds_quantity, quantities=list_quantities(figure))


def holds_day(record: TableRecord, days: Iterable[PartialDate]) -> bool:
    return any(not day.day or (day.month, day.day) in record.days for day in days)


def holds_quantity(record: TableRecord, quantities: Sequence[Quantity]) -> bool:
    return any(map(record.line.has_near, quantities))


def holds_time(record: TableRecord, text: str, times: Iterable[ClockTime]) -> bool:
    """Tell whether the record has a time of day, or what is none as how long something took:
    `41:12` is `00:41:12`."""
    minutes = {time.minutes for time in times}
    if minutes:
        return not minutes.isdisjoint(record.minutes)
    return any(record.line.has_near(Quantity(value, 0.5)) for value in read_clock_seconds(text))


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
