"""The evidence that the audit is given, in normal forms made once, and the claims that it finds."""

import re
from collections.abc import Collection, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from andy_cli.agent.grounding.result_tables import ResultTable, find_tables, parse_result
from andy_cli.agent.grounding.text.languages import compile_traces, detect_languages
from andy_cli.agent.grounding.text.segmentation import (
    PERCENT_ESCAPES,
    fold_text,
    remove_escapes,
    split_words,
    strip_line,
)
from andy_cli.agent.grounding.text.vocabulary import EXTENSIONS
from andy_cli.compiler.expression import Expression
from andy_cli.messages import Effect, Status

COMMAND_END = re.compile(r"&&|;|\\n")
"""In the arguments as JSON."""


class ActionRecord(NamedTuple):
    """A call that was made, in words: `play 01.mp3` was to be done, `started 01.mp3` was."""

    tool: str
    effect: Effect
    action: str
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

    @property
    def ok(self) -> bool:
        return self.status is Status.SUCCESS

    @property
    def is_new_success(self) -> bool:
        return self.ok and not self.earlier

    @property
    def text(self) -> str:
        return f"{self.tool}\n{self.action}\n{self.did}\n{self.arguments}"

    @property
    def completed_commands(self) -> str:
        """The commands of a line that may have succeeded although the line did not: all but the
        last, which failed or was not reached."""
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

    `kind`: deed, file, path, url, address, id, code, quote, item, name; and with figures date,
    weekday, time, size, duration, percent, number, and of the wrong record: row, in an item of a
    list or a row of a table entry.
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
QUESTION = Expression("[?？؟]")
STEM_LETTERS = 4
"""Letters by which two words may be forms of one."""
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
        return QUESTION.search(self.evidence.user) is not None

    @cached_property
    def key_words(self) -> set[str]:
        return find_key_words(self.given)

    @cached_property
    def user_key_words(self) -> set[str]:
        return find_key_words(fold_text(self.evidence.user))

    @cached_property
    def earlier_key_words(self) -> set[str]:
        """Those of what was said before and of the calls."""
        actions = (action.text for action in self.evidence.actions or ())
        return find_key_words(fold_text("\n".join([*self.evidence.history, *actions])))

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
            end = start + len(phrase)
            if not (begins_in_word and joins_words(text[start - 1])) and not (
                ends_in_word and joins_words(text[end])
            ):
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
        if len(made) != len(self.results):
            return self.results
        told = zip(made, self.results, strict=True)
        return [
            result
            for action, result in told
            if action.status not in (Status.FAILED, Status.TIMED_OUT) and not action.exit_code
        ]

    def reports_success(self, actions: Collection[str]) -> bool:
        """Tell whether a short result, which is no list, says that one of these was done."""
        return any(
            SUCCESS.search(text) or any(tells_of_action(action, text) for action in actions)
            for text in self.results
            if len(text) < MAX_REPORT_LENGTH and text.count("\n") < 4 and not text.startswith("[")
        )

    @cached_property
    def by_result(self) -> list[list[ResultTable]]:
        results = zip(self.evidence.results, self.results, strict=True)
        return [find_tables(parse_result(result), text) for result, text in results]

    @cached_property
    def tables(self) -> list[ResultTable]:
        return [table for tables in self.by_result for table in tables]


def tells_of_action(action: str, text: str) -> bool:
    """Tell whether a folded text tells of the action, by an English word or in its own language."""
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


def find_key_words(text: str) -> set[str]:
    """Find the files that a folded text names, the words of their names and the beginnings of its
    other longer words."""
    stems = {word[:STEM_LETTERS] for word in split_words(text) if len(word) >= STEM_LETTERS}
    return stems.union(FILE.findall(text))


def split_identifier(identifier: str) -> set[str]:
    """Split `testCorrupt_header` into test, corrupt, header; parts of one or two letters tell
    nothing."""
    words = PART_END.split(identifier)
    return {word.lower() for word in words if len(word) > 2 and not word.isdigit()}


def joins_words(character: str) -> bool:
    """A letter or digit that makes one word with its neighbour: not of Chinese or Japanese."""
    return character.isalnum() and not "\u2e80" <= character <= "\u9fff"
