"""The evidence that the audit is given, in normal forms made once, and the claims that it finds.

Results are also taken apart into tables: rows, and the columns of figures in them. Pure.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from andy_cli.agent.grounding.figures.quantities import FIGURE, read_number, read_quantity
from andy_cli.agent.grounding.text.languages import (
    compile_traces,
    detect_languages,
    find_reported_actions,
)
from andy_cli.agent.grounding.text.segmentation import (
    PERCENT_ESCAPES,
    fold_text,
    remove_escapes,
    split_sentences,
    split_words,
    strip_line,
)
from andy_cli.agent.grounding.text.vocabulary import EXTENSIONS
from andy_cli.compiler.expression import Expression
from andy_cli.messages import Effect, Status

MAX_LINES = 300
"""Of so many lines of text nobody adds up the figures."""
MAX_RECORD_LENGTH = 120
"""Characters of a line that is a record."""
STAMP = Expression(r"\W{0,3}(?:\d{4}-\d\d-\d\d[ T])?\d\d:\d\d:\d\d")
RULE = Expression(r"[\s\-=|+:_*─┼┬┴]*")
BULLET = Expression(r"\s*(?:[-*•]|\d+[.)]|├|└|│)\s*\S")
SIGNS = ";\t|,"

BLANK_LINE = Expression(r"\n\s*\n")

DIGITS = Expression(r"\d+")

MAX_ENUMERATIONS = 40
"""Lines of a text that are read as enumerations."""
JSON_START = Expression(r"^[\[{]", re.MULTILINE)
MAX_DEPTH = 12
"""Lists and objects inside each other that are told in one row."""


@dataclass(frozen=True, eq=False)
class ResultTable:
    """A list in a result: each row as folded text, and what stands under each other."""

    rows: tuple[str, ...]
    columns: Mapping[str, Sequence[object]]
    sure: bool = False
    """Its rows are records: objects, or lines with cells."""

    @cached_property
    def readings(self) -> list[list[float | None]]:
        """Read the cells of each column as figures."""
        return [list(map(read_cell, values)) for values in self.columns.values()]


def parse_result(text: str) -> object:
    """Parse the JSON that a result is, or ends with; return the text itself where it is none."""
    start = JSON_START.search(text.lstrip() if text[:1].isspace() else text)
    if start is None:
        return text
    try:
        value: object = json.loads(text.lstrip()[start.start() :], strict=False)
    except (ValueError, RecursionError):
        return text
    return value


def is_json(text: str) -> bool:
    """Tell whether a text is one JSON object or list and nothing else."""
    return text.lstrip()[:1] in ("{", "[") and isinstance(parse_result(text), dict | list)


def find_tables(value: object, text: str) -> list[ResultTable]:
    """Find all lists in a result, at any depth; `text` is the result, folded."""
    if isinstance(value, str):
        return find_text_tables(text)
    tables: list[ResultTable] = []
    waiting: list[object] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            tables.append(tabulate_items(item))
            waiting += [child for child in item if isinstance(child, list | dict)]
        elif isinstance(item, dict):
            tables += find_mapping_tables(item)
            waiting += [child for child in item.values() if isinstance(child, list | dict)]
    return tables


def find_mapping_tables(mapping: Mapping[str, object]) -> Iterator[ResultTable]:
    if len(mapping) > 1:
        yield tabulate_mapping(mapping)
        yield ResultTable((), {str(key): [value] for key, value in mapping.items()})
    for value in mapping.values():
        if isinstance(value, str) and "\n" in value:
            yield from find_text_tables(fold_text(value))


def tabulate_items(items: Sequence[object]) -> ResultTable:
    holds_records = all(isinstance(item, dict | list) for item in items)
    return ResultTable(tuple(map(render_row, items)), collect_columns(items), holds_records)


def tabulate_mapping(rows_by_name: Mapping[str, object]) -> ResultTable:
    """Make a row of each key with its value: `{"Oslo": {"max": 2}, "Rome": {"max": 16}}`."""
    values = rows_by_name.values()
    holds_records = all(isinstance(value, Mapping) for value in values)
    holds_numbers = all(isinstance(value, int | float) for value in values)
    if not holds_records and not holds_numbers:
        return ResultTable((), collect_columns(values), False)
    rows = tuple(f"{fold_text(str(key))} {render_row(item)}" for key, item in rows_by_name.items())
    return ResultTable(rows, collect_columns(values), True)


def collect_columns(items: Iterable[object]) -> dict[str, list[object]]:
    columns: dict[str, list[object]] = {}
    for item in items:
        for key, value in list_cells(item):
            columns.setdefault(key, []).append(value)
    return columns


def list_cells(item: object) -> Iterator[tuple[str, object]]:
    if isinstance(item, Mapping):
        for key, value in item.items():
            if isinstance(value, Mapping):
                yield from ((f"{key} {name}", cell) for name, cell in value.items())
            else:
                yield str(key), value
    elif isinstance(item, list):
        yield from ((str(column), cell) for column, cell in enumerate(item))
    else:
        yield "", item


def render_row(item: object, depth: int = MAX_DEPTH) -> str:
    """Render the values of a row in one line; what lies deeper has rows of its own."""
    if isinstance(item, Mapping | list) and not depth:
        return "..."
    if isinstance(item, Mapping):
        cells = (f"{key} = {render_row(value, depth - 1)}" for key, value in item.items())
        return fold_text(" ; ".join(cells))
    if isinstance(item, list):
        return " ; ".join(render_row(value, depth - 1) for value in item)
    return fold_text(str(item))


def find_text_tables(text: str) -> list[ResultTable]:
    """Find tables in a text: its lines, each block of them, those with bullets, those under a
    colon, those with the same number of figures or cells, and enumerations in a line."""
    lines = [line for line in split_filled_lines(text) if not RULE.fullmatch(line)]
    blocks = [block for block in BLANK_LINE.split(text) if block.strip()]
    tables = [*find_line_tables(lines)]
    if len(blocks) > 1:
        tables.append(ResultTable(tuple(blocks), {}))
        tables += [tabulate_lines(split_filled_lines(block)) for block in blocks]
    tables += find_headed_tables(lines)
    tables += find_runs(lines)
    for block in blocks:
        tables += find_separated_tables(split_filled_lines(block))
    tables += find_enumerations(lines)
    return [table for table in tables if table.rows]


def split_filled_lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def find_line_tables(lines: Sequence[str]) -> Iterator[ResultTable]:
    yield tabulate_lines(lines)
    if len(lines) > 1:
        yield tabulate_lines(lines[1:])  # without a head
    bulleted = [line for line in lines if BULLET.match(line)]
    if 1 < len(bulleted) < len(lines):
        yield tabulate_lines(bulleted)


def find_enumerations(lines: Sequence[str]) -> Iterator[ResultTable]:
    for line in lines[:MAX_ENUMERATIONS]:
        if ", " in line:
            yield ResultTable(tuple(line.rpartition(": ")[2].split(", ")), {})


def find_separated_tables(lines: Sequence[str]) -> list[ResultTable]:
    """Find lines of cells with one sign between them, the first line the head."""
    lines = [line for line in lines if not RULE.fullmatch(line)]
    for separator in SIGNS:
        tables = [
            tabulate_cells(line_run, separator)
            for line_run in group_by_count(lines, separator)
            if len(line_run) > 2
        ]
        if tables:
            return tables
    return []


def group_by_count(lines: Sequence[str], separator: str) -> list[list[str]]:
    """Group neighbouring lines that have the sign the same number of times."""
    line_runs: list[list[str]] = [[]]
    for line in lines:
        count, line_run = line.count(separator), line_runs[-1]
        goes_on = not line_run or line_run[0].count(separator) == count
        if count and goes_on:
            line_run.append(line)
        elif line_run:
            line_runs.append([])
    return line_runs


def split_cells(line: str, separator: str) -> list[str]:
    return [cell.strip() for cell in line.split(separator)]


def tabulate_cells(lines: Sequence[str], separator: str) -> ResultTable:
    names = split_cells(lines[0], separator)
    # A first row with a figure in it is a record as well, beside what it calls the columns.
    is_record = any(read_cell(cell) is not None for cell in lines[0].split(separator))
    records = lines if is_record else lines[1:]
    rows = [split_cells(line, separator) for line in records]
    columns = {
        f"{column_index} {name}": [row[column_index] for row in rows]
        for column_index, name in enumerate(names)
    }
    return ResultTable(tuple(" ; ".join(row) for row in rows), columns, True)


def find_runs(lines: Sequence[str]) -> list[ResultTable]:
    """Find lines that follow each other and have the same number of figures: records in a text."""
    line_runs: list[list[str]] = []
    last_count = 0
    for line in lines:
        count = len(DIGITS.compiled.findall(line)) if len(line) <= MAX_RECORD_LENGTH else 0
        if count and count == last_count:
            line_runs[-1].append(line)
        elif count:
            line_runs.append([line])
        last_count = count
    return [
        replace(tabulate_lines(line_run), sure=True) for line_run in line_runs if len(line_run) > 1
    ]


def find_headed_tables(lines: Sequence[str]) -> list[ResultTable]:
    """Find the lines under each line that ends with a colon."""
    groups: list[list[str]] = []
    for line in lines:
        if line.rstrip().endswith(":"):
            groups.append([])
        elif groups:
            groups[-1].append(line)
    return [tabulate_lines(group) for group in groups]


def tabulate_lines(lines: Sequence[str]) -> ResultTable:
    """Make columns of the figures of lines, counted from both ends."""
    columns: dict[str, list[object]] = {}
    for line in lines if len(lines) <= MAX_LINES else ():
        figures = FIGURE.compiled.findall(line)[:8]
        for column_index, text in enumerate(figures):
            if readings := read_number(text):
                columns.setdefault(str(column_index), []).append(readings[0].value)
                columns.setdefault(f"-{len(figures) - column_index}", []).append(readings[0].value)
    return ResultTable(tuple(lines), columns, are_records(lines))


def are_records(lines: Sequence[str]) -> bool:
    """Tell whether lines are records: short, most with the same number of figures, one at least,
    or each with a time to the second at its beginning, as in a log; an agenda is none."""
    if not 1 < len(lines) <= MAX_LINES or any(len(line) > MAX_RECORD_LENGTH for line in lines):
        return False
    if all(map(STAMP.match, lines)):
        return True
    counts = Counter(len(FIGURE.compiled.findall(line)) for line in lines)
    common, times = counts.most_common(1)[0]
    return common > 0 and times >= 0.7 * len(lines)


def read_cell(value: object) -> float | None:
    """Read the figure that a cell is, in bytes or seconds where it has such a unit."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < 1e300 else None
    if isinstance(value, str) and len(value) < 24 and DIGITS.search(value):
        return read_quantity(fold_text(value))
    return None


COMMAND_END = re.compile(r"&&|;|\\n")
BACKGROUND = re.compile(r"[^&>]&\s*\"")
"""Both in the arguments as JSON."""


class ActionRecord(NamedTuple):
    """A call that was made, in words: `play 01.mp3` was to be done, `started 01.mp3` was."""

    tool: str
    effect: Effect
    action: str
    """Empty of a tool that does not exist."""
    did: str = ""
    status: Status = Status.SUCCESS
    arguments: str = ""
    """As text: what it was done to."""
    problem: str = ""
    """Why it failed, or what of it could not be looked at."""
    earlier: bool = False
    """It was made in an earlier turn."""
    exit_code: int = 0
    """Of the command line that it ran: a result there is in any case."""
    changed_nothing: bool = False
    """There was nothing to do it to: nothing was playing."""
    unfinished: str = ""
    """The part that is still to come: lines that were not read, a program that runs on."""
    may_be_done: bool = False
    """It failed, and nobody knows whether it was done all the same."""

    @property
    def ok(self) -> bool:
        return self.status is Status.SUCCESS

    @property
    def text(self) -> str:
        return f"{self.tool}\n{self.action}\n{self.did}\n{self.arguments}"

    @property
    def runs_on(self) -> bool:
        """A command line that was put into the background and has not ended."""
        return bool(self.unfinished) and BACKGROUND.search(self.arguments) is not None

    @property
    def completed_commands(self) -> str:
        """The commands of a line that may have succeeded although the line did not: all but the
        last, which failed, was not reached or runs on."""
        return "\n".join(COMMAND_END.split(self.arguments)[:-1])


class Evidence(NamedTuple):
    """All that an answer may rest on. `results` are texts or JSON, oldest first."""

    results: tuple[str, ...]
    user: str = ""
    history: tuple[str, ...] = ()
    actions: tuple[ActionRecord, ...] | None = None
    """None where it is not known which calls were made."""
    not_done: tuple[str, ...] = ()
    """Actions, in words, that were asked for and not done."""


class Claim(NamedTuple):
    """A piece of the answer that can be checked: `answer[start:end] == text`.

    `kind`: deed, file, path, url, address, id, code, quote, item, name, calendar (the weekday of a
    date); and with figures date, weekday, time, size, duration, percent, number, and of the wrong
    record: row, in an item of a list or a row of a table entry.
    """

    text: str
    start: int
    end: int
    kind: str


class SentenceBacking(NamedTuple):
    """A sentence of an answer and the piece of a result that backs it."""

    sentence: str
    result: int | None
    """Which result, counted from 0; None if nothing ties it to one."""
    snippet: str = ""


FILE = re.compile(
    rf"(?<![a-zA-Z\d_.+-])[\w.+-]{{1,255}}?\.(?:{'|'.join(sorted(EXTENSIONS))})(?![a-zA-Z\d_-]|\.\w)"
)
"""After it there may be letters without a blank, as in Japanese."""
UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff](?=[^.])")
NAME = re.compile(rf"{FILE.pattern}|(?<![\w-])[\w-]*[_/@\d][\w./@-]*")
IDENTIFIER = Expression(r"(?<![^\W_])[^\W_]+(?:[_.-][^\W_]+)+|(?<![a-z])[a-z]+[A-Z]\w+")
PART_END = Expression(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
MAX_REPORT_LENGTH = 400
"""Characters of a result that may be a report."""
SUCCESS = Expression(
    r"^\W*(?:ok|done|success\w*|true)\W*$|\"(?:ok|success|done)\": ?true"
    r"|\"(?:status|result|state)\": ?\"(?:ok|success|succeeded|done|accepted|confirmed)\""
)
UNTRUE = Expression(r"\"\w+\": ?(?:false|null)")
"""A member of an object that says what was not done: `"sent": false`."""
QUESTION_MARKS = frozenset("?？؟")
MAX_GIVEN = 20_000
"""Characters of a text that is looked at for what it tells."""
TEXT_START = Expression(r"[:：]|\n|(?<!\w)[\"'“„«「]")
MAX_OCCURRENCES = 64
"""Places at which a word is looked for, so that one which is part of many costs no more."""


class EvidenceIndex:
    """The evidence, ready to be asked."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.results = [fold_text(remove_escapes(result)) for result in evidence.results]
        self.given = "\n".join(self.results)
        actions = (action.text for action in evidence.actions or ())
        spoken_text = fold_text(
            remove_escapes("\n".join([evidence.user, *evidence.history, *actions]))
        )
        if PERCENT_ESCAPES.search(self.given) or PERCENT_ESCAPES.search(spoken_text):
            spoken_text += fold_text(unquote(f"{self.given}\n{spoken_text}"))
        self.said = spoken_text
        self.text = f"\n{self.given}\n{self.said}\n"

    @cached_property
    def given_words(self) -> frozenset[str]:
        return frozenset(split_words(self.given))

    @cached_property
    def given_lines(self) -> frozenset[str]:
        return frozenset(map(strip_line, self.given.split("\n")))

    @property
    def is_asked(self) -> bool:
        """Tell whether the user's words are a question."""
        return not QUESTION_MARKS.isdisjoint(self.evidence.user)

    @cached_property
    def given_reports(self) -> Sequence[tuple[frozenset[str], frozenset[str]]]:
        """The names in each sentence of a text that the user gives to have something made of it,
        and what the sentence reports as done. Such a text stands behind a colon, a quotation mark
        or a line end."""
        start = TEXT_START.search(self.evidence.user)
        given = self.evidence.user[start.end() :][:MAX_GIVEN] if start else ""
        reports: list[tuple[frozenset[str], frozenset[str]]] = []
        for sentence in split_sentences(given):
            names = find_names(sentence.text)
            for language in detect_languages(sentence.text):
                reports.append((names, find_reported_actions(language, sentence.text)))
        return reports

    @cached_property
    def words(self) -> frozenset[str]:
        return self.given_words.union(split_words(self.said))

    @cached_property
    def stream(self) -> str:
        """The words of all, one space between them."""
        return f" {' '.join(split_words(self.given))} | {' '.join(split_words(self.said))} "

    def contains(self, phrase: str) -> bool:
        """Tell whether it occurs as it is, not as a part of longer words."""
        text, start = self.text, -1
        if not phrase:
            return False
        begins_in_word, ends_in_word = joins_words(phrase[0]), joins_words(phrase[-1])
        for _ in range(MAX_OCCURRENCES):
            start = text.find(phrase, start + 1)
            if start < 0:
                return False
            has_word_before = begins_in_word and joins_words(text[start - 1])
            has_word_behind = ends_in_word and joins_words(text[start + len(phrase)])
            if not has_word_before and not has_word_behind:
                return True
        return False

    def contains_words(self, phrase: str) -> bool:
        """Tell whether these words occur in this order, whatever signs stand between them."""
        words = split_words(phrase)
        if not self.words.issuperset(words):
            # Chinese and Japanese have no blanks between words.
            return not phrase.isascii() and phrase in self.text
        return len(words) < 2 or f" {' '.join(words)} " in self.stream

    def contains_name(self, name: str) -> bool:
        return self.contains(name) or self.contains_words(name)

    def contains_stem(self, word: str) -> bool:
        """Tell whether the evidence has the word or one that begins like it."""
        return word in self.words or (len(word) > 3 and word[:4] in self._beginnings)

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        return frozenset(word[:4] for word in self.words)

    def has_similar(self, identifier: str) -> bool:
        """Tell whether an identifier of the evidence has a part in common with this one."""
        return not self._parts.isdisjoint(split_identifier(identifier))

    @cached_property
    def _parts(self) -> frozenset[str]:
        identifiers = set(IDENTIFIER.compiled.findall("\n".join(self.evidence.results)))
        return frozenset().union(*map(split_identifier, identifiers))

    def tells_of(self, action: str, history: bool = False) -> bool:
        """Tell whether a result tells of such an action, or `history` does."""
        texts = [*map(fold_text, self.evidence.history)] if history else self._good_results
        return any(tells_of_action(action, text) for text in texts)

    @cached_property
    def _good_results(self) -> Sequence[str]:
        """The results but of calls that failed, which name what they did not do; all where it is
        not known which they are. That a call was refused is something that was done."""
        made = [
            action
            for action in self.evidence.actions or ()
            if not action.earlier and action.status is not Status.CANCELLED
        ]
        results = [UNTRUE.sub(" ", result) for result in self.results]
        if len(made) != len(results):
            return results
        told = zip(made, results, strict=True)
        failures = (Status.FAILED, Status.TIMED_OUT)
        return [
            result
            for action, result in told
            if action.status not in failures and not action.exit_code
        ]

    def reports_success(self, actions: Collection[str]) -> bool:
        """Tell whether a short result, which is no list, says that one of these was done."""
        for text in filter(is_short_report, self.results):
            if SUCCESS.search(text) or any(tells_of_action(action, text) for action in actions):
                return True
        return False

    @cached_property
    def by_result(self) -> list[list[ResultTable]]:
        results = zip(self.evidence.results, self.results, strict=True)
        return [find_tables(parse_result(result), text) for result, text in results]

    @cached_property
    def tables(self) -> list[ResultTable]:
        return [table for tables in self.by_result for table in tables]


def is_short_report(text: str) -> bool:
    """Tell whether a result is a few lines of prose; a list or a long text tells of other things
    too."""
    if text.startswith("["):
        return False
    return len(text) < MAX_REPORT_LENGTH and text.count("\n") < 4


@lru_cache(maxsize=256)
def tells_of_action(action: str, text: str) -> bool:
    """Tell whether a folded text tells of the action, by an English word or in its own language;
    each sentence asks of the same results."""
    if compile_traces()[action].search(text.replace("_", " ")):
        return True
    return any(language.tells_of(action, text) for language in detect_languages(text[:2000]))


def list_file_readings(name: str) -> list[str]:
    """List what a name may be where Chinese or Japanese words stand before it without a blank."""
    return [name, *(name[match.end() :] for match in UNSPACED.finditer(name))]


@lru_cache(maxsize=64)
def find_names(text: str) -> frozenset[str]:
    """Find the files, addresses and ids that a text names; each sentence is compared with the same
    request."""
    return frozenset(NAME.findall(fold_text(text)))


def split_identifier(identifier: str) -> set[str]:
    """Split `testCorrupt_header` into test, corrupt, header; parts of one or two letters tell
    nothing."""
    words = PART_END.split(identifier)
    return {word.lower() for word in words if len(word) > 2 and not word.isdigit()}


def joins_words(character: str) -> bool:
    """A letter or digit that makes one word with its neighbour: not of Chinese or Japanese."""
    return character.isalnum() and not "\u2e80" <= character <= "\u9fff"
