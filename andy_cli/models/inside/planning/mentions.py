"""Find what a request names: files and folders that are there, values that a command knows."""

import csv
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain, combinations
from typing import NamedTuple

from andy_cli.messages import Choice
from andy_cli.models.inside.encoder import Encoder
from andy_cli.models.inside.planning.answered_question import SAME_FILE, Reading, list_readings
from andy_cli.models.inside.planning.choosing import is_name, list_said_words, name_things
from andy_cli.models.inside.planning.command_kinds import reads_file
from andy_cli.models.inside.planning.cutting import ADVERBS, BEGINNING, list_openers
from andy_cli.models.inside.planning.planned_request import PlannedRequest, Step
from andy_cli.models.inside.planning.sections import HeadedLine, read_headed_lines
from andy_cli.models.inside.values.calendar_words import (
    MEANINGS,
    find_full_name,
    find_named_in,
    list_calendar_names,
    spell_out,
    strip_accents,
)
from andy_cli.models.inside.values.entries import LISTED_LEAD, find_meant, is_readable
from andy_cli.models.inside.values.parameters import list_parameters
from andy_cli.models.inside.values.spans import find_named
from andy_cli.models.inside.values.superlatives import says_which
from andy_cli.models.inside.values.words import (
    ENDING,
    LINKS,
    WORD,
    find_plain_words,
    find_things,
    find_words,
)

MEANT_LEAD = 0.03
"""By so much nearer in meaning to a question than the others is the file that answers it."""
MIN_RATING = -0.04
"""The rating of a text that answers a question, with half of its lead over the next text."""
SURE_RATING = 0.05
"""The rating of a text that almost always answers a question."""
LEAD_WEIGHT = 2.5
"""The weight of a lead, of plain cosines, against a rating: they lie as much closer together."""
BETTER_BY = 0.04
"""By so much better than one that is read anyway is a text that answers a further question."""
SHARED_WORD_WEIGHT = 0.05
"""The weight of a word of the question that stands in one line alone."""
MAX_RARITY = 2.0
NAMED = 1.0
"""Beside the rare words of a line that has a name of the question: of 321 questions about folders
that nothing was learned from 276 are best answered by the right file, 268 without this.
"""
MAX_LINES_OF_WORD = 5
"""Lines; a word that stands in so many tells none from the other."""
STEM_LETTERS = 5
"""Letters by which two words may be forms of one."""
TELLING_LINES = 8
"""Lines."""
BEST_SHARE = 0.75
"""Of a text's rating: that of its best line."""
RATED_LINES = 20
"""Lines of all texts that are encoded for a question: each takes 14 ms, its guess next to nothing.
"""
MAX_PASSAGE = 500
"""Characters of a line: the time that it takes grows with their square."""
GUESS_WORD_WEIGHT = 0.4
"""The weight of a rare word beside a guess."""
OTHER_LEAD = 0.05
"""By so much nearer to another command is what is no more value for the one before."""
FEW_WORDS = 2
"""Words beside articles and the like that are what a file is called, and ask for nothing else."""
ABBREVIATION = 3
"""Letters of an abbreviated word: `Tue`."""
TABLE_ENDING, DELIMITERS = ".csv", ",;\t"
RULE = frozenset("|-: \t\r")
"""The characters of the line below the columns' names of a table in Markdown."""
MIN_TABLE_LINES = 2
"""Lines of a table that names its columns."""
SAME_RATING = 0.02
"""By so little a line answers a question worse than the best one that both are shown: of 280
answers 234 are among them, and 223 are the best one."""
LONG_WORD = 4
"""Letters; longer ones may be what a file is called."""


class AnsweringFile(NamedTuple):
    """The file that is nearest to a question."""

    name: str
    is_sure: bool
    """It is so near that it almost always answers the question."""


class Mentions:
    """Finds the names in texts of one request."""

    def __init__(self, request: PlannedRequest) -> None:
        self._request = request

    def means_file(self, text: str) -> bool:
        """Tell whether the text, or a word of it, means one of the files clearly more than others:
        `wie viele zitronen stehen auf der einkaufsliste`.
        """
        names = [name for name in self._request.names if is_readable(name)]
        if find_called(text, names):
            return True
        said = [word for word in find_words(text) if len(word) > LONG_WORD and word not in LINKS]
        encoder = self._request.encoder
        return any(find_meant(encoder, part, names, MEANT_LEAD) for part in (text, *said))

    def find_answering_file(
        self, question: str, doubt: float = 0.0, counts_words: bool = True
    ) -> AnsweringFile | None:
        """Find the file with the line that answers a question best, clearly better than anything
        does: `de qué color quería pintar la valla` is about `Paint the fence green.`

        `doubt` is by how much more: the lead of what else the question may be; `counts_words`: by
        the words that both have, too.
        """
        if not self._passages:
            return None
        ratings = self._rate_files(question, SHARED_WORD_WEIGHT if counts_words else 0.0)
        best = max(ratings, key=ratings.__getitem__)
        rival = max((rating for name, rating in ratings.items() if name != best), default=0.0)
        clearness = ratings[best] + (ratings[best] - rival) / 2 - LEAD_WEIGHT * doubt
        return AnsweringFile(best, clearness > SURE_RATING) if clearness > MIN_RATING else None

    def answers_better(self, question: str, name: str, others: Sequence[str]) -> bool:
        """Tell whether a file answers a question clearly better than each of some others; one that
        is too long to be rated was called by its name.
        """
        ratings = self._rate_files(question, SHARED_WORD_WEIGHT)
        rivals = [ratings[other] for other in others if other in ratings]
        return name not in others and ratings.get(name, 1.0) > max(rivals, default=0.0) + BETTER_BY

    def _rate_files(self, question: str, shared: float) -> Mapping[str, float]:
        answered = self._request.answered
        readings = list_readings(question, answered)
        named = {*find_plain_words(question)} - list_said_words() - LINKS - MEANINGS.keys()
        by_words = [
            rarity + (0.0 if named.isdisjoint(names) else NAMED)
            for rarity, names in zip(
                sum_words(readings, self._stems_of_lines), self._names_in_lines, strict=True
            )
        ]
        passages = self._spelled_passages if names_day(question) else self._passages
        all_lines = list(chain.from_iterable(passages.values()))
        by_meaning = self._rate_lines(readings, by_words, all_lines)
        ratings: dict[str, float] = {}
        start = 0
        for name, lines in self._passages.items():
            own = slice(start, start + len(lines))
            ratings[name] = rate_text(by_meaning[own]) + shared * max(by_words[own])
            if answered is not None and name == answered.file:
                ratings[name] += SAME_FILE
            start = own.stop
        return ratings

    def _rate_lines(
        self, readings: Sequence[Reading], by_words: Sequence[float], lines: Sequence[str]
    ) -> Sequence[float]:
        """Rate all lines by what they mean: those that a guess or a rare word makes likely, while
        the guess stands for the others.
        """
        encoder = self._request.encoder
        guesses = sum_meanings(readings, lambda text: encoder.guess_passages(text, lines))
        likeliness = [
            guess + GUESS_WORD_WEIGHT * rarity
            for guess, rarity in zip(guesses, by_words, strict=True)
        ]
        likeliest = sorted(range(len(lines)), key=likeliness.__getitem__)[-RATED_LINES:]
        near = [lines[place] for place in likeliest]
        exact = sum_meanings(readings, lambda text: encoder.rate_passages(text, near))
        rated = guesses
        for place, rating in zip(likeliest, exact, strict=True):
            rated[place] = rating
        return rated

    def has_telling_word(self, text: str, values: Iterable[str]) -> bool:
        """Tell whether a word of a text that nobody asks with, and that is in none of some values,
        stands in a line."""
        telling = find_stems(" ".join(list_unasked_words(text))) - find_stems(" ".join(values))
        return not telling.isdisjoint(frozenset().union(*self._stems_of_lines))

    def find_written_run(self, text: str) -> str | None:
        """Find the longest run of words of a text that stands in a line, with one that tells."""
        words = text.split()
        lines = [line.casefold() for lines in self._passages.values() for line in lines]
        longest: str | None = None
        for start, end in combinations(range(len(words) + 1), 2):
            run = " ".join(words[start:end])
            is_longer = longest is None or len(run) > len(longest)
            if is_longer and list_unasked_words(run) and is_within(run.casefold(), lines):
                longest = run
        return longest

    @cached_property
    def _stems_of_lines(self) -> Sequence[frozenset[str]]:
        return [find_stems(line) for lines in self._passages.values() for line in lines]

    @cached_property
    def _names_in_lines(self) -> Sequence[frozenset[str]]:
        return [find_name_words(line) for lines in self._passages.values() for line in lines]

    @cached_property
    def _passages(self) -> Mapping[str, Sequence[str]]:
        """The lines of the short texts that are there, each after what its file is called."""
        return {
            name: write_passages(name, read_rows(name, lines))
            for name, lines in self._request.constraint.context.read_lines().items()
            if is_readable(name)
        }

    @cached_property
    def _spelled_passages(self) -> Mapping[str, Sequence[str]]:
        """The same with months and weekdays written out, for a question that names one."""
        return {name: spell_out(lines) for name, lines in self._passages.items()}

    def find_file_of(self, step: Step) -> str | None:
        """Find the file to read that is meant, said by its name or not."""
        if not reads_file(self._request.choices[step.at]):
            return None
        names = [name for name in self._request.names if is_readable(name)]
        encoder = self._request.encoder
        return find_meant(encoder, step.text, names, LISTED_LEAD) if says_which(step.text) else None

    def names_value(self, step: Step) -> bool:
        """Tell whether a value of its command is called by its name, or a file by what it means."""
        choice = self._request.choices[step.at]
        is_meant = reads_file(choice) and self.means_file(step.text)
        return is_meant or self.has_name(step.text, choice)

    def has_name(self, text: str, choice: Choice) -> bool:
        """Tell whether something is called by its name: a file, an address, a known value."""
        return self.has_thing(text) or find_member(text, choice) is not None

    def has_thing(self, text: str) -> bool:
        return bool(find_things(text)) or name_things(text, self._request.names) != text

    def names_recording(self, text: str) -> bool:
        """Tell whether a song is called by its name."""
        names = [name for name in self._request.names if is_file(name) and not is_readable(name)]
        return find_called(text, names) is not None

    def find_folder(self, text: str) -> str | None:
        """Find the folder that is called by its name."""
        return find_called(text, [name for name in self._request.names if not is_file(name)])

    def names_folder_alone(self, text: str) -> bool:
        """Tell whether a folder is called by its name, and no file is."""
        kinds = {thing.kind for thing in find_things(text)}
        named = find_named(text, self._request.names, frozenset())
        kinds |= {"file" if is_file(match.name) else "folder" for match in named if match.is_clear}
        return "folder" in kinds and "file" not in kinds

    def is_meant(self, text: str, choice: Choice) -> bool:
        """Tell whether something that the command takes is called by its name, or by its meaning
        where it is a file to read.
        """
        return self.has_thing(text) or (reads_file(choice) and self.means_file(text))

    def is_value(self, part: str, choice: Choice) -> bool:
        """Tell whether the part of a request is nothing but one more value for the command."""
        if is_name(part, self._request.names):
            return self._fits(part, choice)
        part = BEGINNING.sub("", part, count=1)
        rest = [word for word in find_plain_words(part) if word not in LINKS | ADVERBS]
        said = " ".join(rest)
        if not rest or self.find_value(said, choice, whole=True) is not None:
            return bool(rest)
        if len(rest) > FEW_WORDS or not list_openers().isdisjoint(rest) or not reads_file(choice):
            return False
        return not self._is_other_wish(part, choice) and self.means_file(said)

    def _is_other_wish(self, part: str, choice: Choice) -> bool:
        """Tell whether a part is talk, or clearly nearer to another command."""
        scores = self._request.compare(part)
        nearest = max(scores.commands)
        lead = nearest - scores.commands[self._request.choices.index(choice)]
        return nearest <= scores.talk or lead >= OTHER_LEAD

    def _fits(self, named: str, choice: Choice) -> bool:
        """Tell whether what is named is of a kind that the command takes."""
        kinds = {parameter.kind for parameter in list_parameters(choice)}
        things = [thing for thing in find_things(named) if thing.kind in kinds]
        if any(thing.kind != "file" for thing in things):
            return True
        called = find_named(named, self._request.names, frozenset())[:1]
        files = [*(thing.text for thing in things), *(match.name for match in called)]
        return "file" in kinds and any(takes_name(choice, name) for name in files)

    def find_value(self, text: str, choice: Choice, whole: bool = False) -> str | None:
        """Find what is said by its name and the command takes; `whole`: and nothing else."""
        member = find_member(text, choice, whole)
        kinds = {parameter.kind for parameter in list_parameters(choice)}
        if member or "file" not in kinds:
            return member
        names = [name for name in self._request.names if takes_name(choice, name)]
        return find_called(text, names, whole)


def is_within(text: str, lines: Iterable[str]) -> bool:
    return any(text in line for line in lines)


def rate_text(rated_lines: Sequence[float]) -> float:
    """Rate a text by its best line and by those that it is told from others by."""
    telling = sorted(rated_lines)[-TELLING_LINES:]
    return BEST_SHARE * telling[-1] + (1 - BEST_SHARE) * sum(telling) / len(telling)


def read_rows(name: str, lines: Sequence[str]) -> list[HeadedLine]:
    return read_headed_lines(name_columns(name, lines))


def write_passages(name: str, rows: Sequence[HeadedLine]) -> list[str]:
    """Write lines of a text after what its file is called and their headings."""
    about = name_plainly(name)
    return [": ".join(filter(None, (about, row.heading, row.text[:MAX_PASSAGE]))) for row in rows]


def name_plainly(name: str) -> str:
    """Name a file as people do, without its folder and ending."""
    return ENDING.sub("", name.rpartition("/")[2])


def list_unasked_words(text: str) -> list[str]:
    """List the longer words that nobody says who asks for something."""
    words = find_plain_words(text)
    return [word for word in words if len(word) >= LONG_WORD and word not in list_said_words()]


def sum_rarity(stems: Iterable[str], count: Mapping[str, int]) -> float:
    """Sum up how rare some stems are, by the number of lines that have each."""
    return sum(1 / count[stem] for stem in stems if count[stem] < MAX_LINES_OF_WORD)


def sum_meanings(
    readings: Sequence[Reading], rate: Callable[[str], Sequence[float]]
) -> list[float]:
    """Sum up how lines are rated by what they mean, for each way to understand a question."""
    ratings = [(reading.meaning, rate(reading.text)) for reading in readings]
    return sum_weighed(ratings)


def sum_words(readings: Sequence[Reading], stems_of_lines: Sequence[frozenset[str]]) -> list[float]:
    """Sum up how lines are rated by the rare words that they share with each of them."""
    ratings = [(reading.words, rate_words(reading.text, stems_of_lines)) for reading in readings]
    return sum_weighed(ratings)


def sum_weighed(ratings: Sequence[tuple[float, Sequence[float]]]) -> list[float]:
    """Add up several ratings of the same lines, each times its weight."""
    weighed = [[weight * rating for rating in rated_lines] for weight, rated_lines in ratings]
    return [sum(of_line) for of_line in zip(*weighed, strict=True)]


def find_best_lines(
    encoder: Encoder, readings: Sequence[Reading], name: str, lines: Sequence[str]
) -> list[str]:
    """Find the line of a file that answers a question best, and what does as well; no heading."""
    telling = list_telling_rows(name, lines)
    passages = write_passages(name, telling)
    if any(names_day(reading.text) for reading in readings):
        passages = spell_out(passages)
    stems = [find_stems(f"{row.heading} {row.text}") for row in telling]
    by_meaning = sum_meanings(readings, lambda text: encoder.rate_passages(text, passages))
    by_words = sum_words(readings, stems)
    rated = [
        meaning + SHARED_WORD_WEIGHT * shared
        for meaning, shared in zip(by_meaning, by_words, strict=True)
    ]
    near = max(rated) - SAME_RATING
    chosen = [row for row, rating in zip(telling, rated, strict=True) if rating >= near]
    return [row.text for row in complete_list(chosen, telling)]


def complete_list(chosen: Sequence[HeadedLine], rows: Sequence[HeadedLine]) -> list[HeadedLine]:
    """Add the other items of a list of which several are chosen: some of them alone would pass for
    all that there are.
    """
    items = [row.heading for row in chosen if row.is_item]
    lists = {heading for heading in items if heading and items.count(heading) > 1}
    return [row for row in rows if row in chosen or (row.is_item and row.heading in lists)]


def list_telling_rows(name: str, lines: Sequence[str]) -> list[HeadedLine]:
    """List the rows that may answer a question: no heading, and no names of columns."""
    rows = read_rows(name, lines)
    begins = has_columns(name, lines) or has_title([row.text for row in rows])
    return [row for row in rows[begins:] if not row.is_heading] or rows


def has_columns(name: str, lines: Sequence[str]) -> bool:
    """Tell whether the first line of a table names its columns: figures stand below it alone, or
    nowhere, and what it says in no row.
    """
    if not name.endswith(TABLE_ENDING) or len(lines) < MIN_TABLE_LINES:
        return False
    has_figures = [any(map(str.isdigit, line)) for line in lines]
    if any(has_figures):
        return not has_figures[0]
    delimiter = find_delimiter(lines[0])
    columns, *rows = [split_row(line, delimiter) for line in lines]
    return len(columns) > 1 and set(columns).isdisjoint(chain.from_iterable(rows))


def has_title(lines: Sequence[str]) -> bool:
    """Tell whether the first line of a text says what the others are about, and answers nothing
    itself: most of those have figures, and it has none, nor a colon.
    """
    title, *others = lines
    with_figures = sum(any(map(str.isdigit, line)) for line in others)
    is_plain = ":" not in title and not any(map(str.isdigit, title))
    return is_plain and 2 * with_figures > len(others)


def find_delimiter(line: str) -> str:
    return max(DELIMITERS, key=line.count)


def name_columns(name: str, lines: Sequence[str]) -> list[str]:
    """Write each value of a table in rows behind the name of its column; other lines as they are.

    `day,price` and `Mon,118` are `day,price` and `day: Mon, price: 118`.
    """
    if not has_columns(name, lines):
        return name_piped_columns(lines)
    delimiter = find_delimiter(lines[0])
    columns = split_row(lines[0], delimiter)
    return [lines[0], *(join_row(columns, line, delimiter) for line in lines[1:])]


def name_piped_columns(lines: Sequence[str]) -> list[str]:
    """Name the columns of tables in Markdown, without their first two lines; other lines stay."""
    named: list[str] = []
    columns: list[str] = []
    for line in lines:
        if {"|", "-"} <= set(line) <= RULE and named and "|" in named[-1]:
            columns = split_row(named.pop(), "|")
        elif columns and "|" in line:
            named.append(join_row(columns, line, "|"))
        else:
            columns = []
            named.append(line)
    return named


def join_row(columns: Sequence[str], line: str, delimiter: str) -> str:
    values = split_row(line, delimiter)
    if len(values) != len(columns):
        return line
    named = zip(columns, values, strict=True)
    return ", ".join(f"{column.replace('_', ' ')}: {value}" for column, value in named if value)


def split_row(line: str, delimiter: str) -> list[str]:
    plain = line[:MAX_PASSAGE].replace("\r", " ")
    return [value.strip() for value in next(csv.reader([plain], delimiter=delimiter))]


def rate_words(question: str, stems_of_lines: Sequence[frozenset[str]]) -> list[float]:
    """Rate each line by the rarest words that it shares with a question: 1.0 for one that stands
    in no other line, 2.0 at most.
    """
    asked = find_asked_stems(question)
    shared = [stems & asked for stems in stems_of_lines]
    count = Counter(stem for stems in shared for stem in stems)
    return [min(MAX_RARITY, sum_rarity(stems, count)) for stems in shared]


def find_name_words(text: str) -> frozenset[str]:
    """Find the plain words of a text that may be names: they begin with a capital, or are codes."""
    words = [word[0] for word in WORD.finditer(text) if is_name_like(word[0])]
    return frozenset(find_plain_words(" ".join(words)))


def is_name_like(word: str) -> bool:
    has_figures = any(map(str.isdigit, word)) and any(map(str.isalpha, word))
    return has_figures or (word[0].isupper() and not word.isupper())


def find_asked_stems(question: str) -> set[str]:
    """Find what lines may share with a question: words, which a line may abbreviate to their first
    three letters, and the names of a weekday or month in other languages.
    """
    said = list_telling_words(question)
    words = [name for word in said for name in (word, *list_calendar_names(word))]
    abbreviated = {word[:ABBREVIATION] for word in words if len(word) > LONG_WORD}
    return abbreviated | {word[:STEM_LETTERS] for word in words}


def names_day(text: str) -> bool:
    """Tell whether a text names a weekday or month."""
    return not MEANINGS.keys().isdisjoint(find_plain_words(text))


def may_abbreviate_day(text: str) -> bool:
    """Tell whether a word of a text may be short for a weekday or month."""
    words = [word for word in find_plain_words(text) if len(word) >= ABBREVIATION]
    return any(name.startswith(word) and name != word for word in words for name in MEANINGS)


def spell_out_question(
    question: str, texts: Iterable[Sequence[str]], named: Collection[str]
) -> str:
    """Write out the months and weekdays that a question abbreviates and a text has, where that is
    no other word, nor one of a name that is there, or stands at the end: `who's on tue`.
    """
    names = set().union(*map(find_named_in, texts))
    said = list_said_words() | LINKS
    words = list(WORD.finditer(question))

    def rename(word: re.Match[str]) -> str:
        plain = strip_accents(word[0])
        if len(plain) < ABBREVIATION or plain in named:
            return word[0]
        is_day = plain not in said or word.end() == words[-1].end()
        return (is_day and find_full_name(plain, names)) or word[0]

    return WORD.sub(rename, question)


def list_telling_words(question: str) -> list[str]:
    """List the words by which lines may be told apart; of short ones those nobody asks with."""
    plain = find_plain_words(question)
    asked_with = (list_said_words() | LINKS) - MEANINGS.keys()
    short = {word for word in plain if len(word) == ABBREVIATION} - asked_with
    return [word for word in plain if len(word) >= LONG_WORD or word in short]


def find_stems(text: str) -> frozenset[str]:
    return frozenset(
        word[:STEM_LETTERS] for word in find_plain_words(text) if len(word) >= ABBREVIATION
    )


def find_member(text: str, choice: Choice, whole: bool = False) -> str | None:
    """Find the value that is known for the command and is said; `whole`: and nothing else."""
    found = (find_called(text, find(), whole) for find in choice.members.values())
    return next(filter(None, found), None)


def takes_name(choice: Choice, name: str) -> bool:
    """Tell whether the command takes a file of that name: what is read is not played."""
    if choice.beyond or not choice.examples:
        return is_file(name)
    return is_file(name) and is_readable(name) == choice.only_looks


def is_file(name: str) -> bool:
    return not name.endswith("/")


def find_called(text: str, names: Sequence[str], whole: bool = False) -> str | None:
    match = next(iter(find_named(text, names, frozenset())), None)
    if match is None:
        return None
    is_called = all(map(match.is_part, find_plain_words(text))) if whole else match.is_clear
    return match.name if is_called else None
