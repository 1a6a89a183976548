"""The runs of words of a request that may be a value, and the form that each has. Pure."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from andy_cli.models.inside.values.parameters import Parameter
from andy_cli.models.inside.values.spans import Span
from andy_cli.models.inside.values.words import LINKS, find_stem, find_things, find_words

MAX_WORDS = 7
"""Words of a run."""
TOKEN = re.compile(r"[^\s,;:!?\"()]+(?:(?<=\d)[:,](?=\d)[^\s,;:!?\"()]+)?")
EDGES = ".'\u2018\u2019\u201c\u201d\u2026-"
BREAK = re.compile(r"[,;:!?\"()]|\.\s")
"""Between two words that are of no run together."""
SIGNS = ",;:.!?()"
POSSESSIVE = ("'s", "\u2019s")
"""Endings of an owner."""


class Run(NamedTuple):
    text: str
    start: int
    end: int
    first: int
    """The place of its first word among the words of the request."""
    last: int

    @property
    def span(self) -> Span:
        return Span(self.text, self.start, self.end)

    def holds(self, other: "Run | None") -> bool:
        """Tell whether another run stands in it."""
        return other is not None and self.start <= other.start and other.end <= self.end


class RunForm(NamedTuple):
    """The form of a run of words: what can be told of it without knowing any of them."""

    is_one_word: bool
    is_two_words: bool
    is_three_words: bool
    is_four_words: bool
    is_longer: bool
    is_capitalized: bool
    """All of its words are."""
    is_name: bool
    """It is, and does not begin a sentence."""
    begins_capitalized: bool
    ends_capitalized: bool
    holds_digits: bool
    is_number: bool
    is_code: bool
    """It holds letters and digits."""
    is_upper: bool
    begins_request: bool
    ends_request: bool
    begins_sentence: bool
    follows_sign: bool
    precedes_sign: bool
    owns: bool
    """It had the ending of an owner: `Anna's`."""
    begins_with_link: bool
    ends_with_link: bool
    holds_link: bool
    follows_name: bool
    precedes_name: bool
    follows_number: bool
    precedes_number: bool


class RunFit(NamedTuple):
    """Signs that a run of words fits one parameter of a command."""

    is_of_command: bool
    """A word of it is one of the command's own."""
    is_all_of_command: bool
    is_of_name: bool
    """A word of it is one by which the parameter is called."""
    is_led_to: bool
    """The word before it is one of those that describe the parameter."""
    is_followed: bool


def drop_possessive(text: str) -> str:
    return text[: -len("'s")] if text.endswith(POSSESSIVE) else text


def split_tokens(text: str) -> list[Span]:
    """Split a request into its words, without the signs and the owner's ending at their edges."""
    tokens = []
    for match in TOKEN.finditer(text):
        stripped = match[0].strip(EDGES)
        if stripped:
            start = match.start() + match[0].index(stripped)
            tokens.append(Span(drop_possessive(stripped), start, start + len(stripped)))
    return tokens


def list_runs(text: str, tokens: Sequence[Span]) -> list[Run]:
    """List the runs of words between two signs; what stands in quotation marks is the only one."""
    quoted = [thing for thing in find_things(text) if thing.kind == "quote"]
    if quoted:
        found = (make_run(Span(it.text, it.start, it.end), tokens) for it in quoted)
        return [run for run in found if run]
    return list(_list_unquoted(text, tokens))


def _list_unquoted(text: str, tokens: Sequence[Span]) -> Iterator[Run]:
    for first, token in enumerate(tokens):
        end = token.end
        for last in range(first, min(first + MAX_WORDS, len(tokens))):
            if last > first and BREAK.search(text[end : tokens[last].start]):
                break
            end = tokens[last].end
            yield Run(drop_possessive(text[token.start : end]), token.start, end, first, last)


def make_run(span: Span, tokens: Sequence[Span]) -> Run | None:
    """Find the words that a piece of the request covers: a number, a quotation."""
    covered = [
        place
        for place, token in enumerate(tokens)
        if token.start < span.end and span.start < token.end
    ]
    return Run(*span, covered[0], covered[-1]) if covered else None


def measure_run(text: str, tokens: Sequence[Span], run: Run) -> RunForm:
    words = [token.text for token in tokens[run.first : run.last + 1]]
    capitals = [word[:1].isupper() for word in words]
    links = [word.lower() in LINKS for word in words]
    before, behind = text[: run.start].rstrip()[-1:], text[run.end :].lstrip()[:1]
    begins_sentence = before in ".!?"
    digits = list(map(str.isdigit, run.text))
    former = _join_words(tokens[max(0, run.first - 1) : run.first], before)
    following = _join_words(tokens[run.last + 1 : run.last + 2], behind)
    said = text[tokens[run.last].start : tokens[run.last].end]
    return RunForm(
        len(words) == 1,
        len(words) == 2,
        len(words) == 3,
        len(words) == 4,
        len(words) > 4,
        is_capitalized=all(capitals),
        is_name=not begins_sentence and all(capitals),
        begins_capitalized=not begins_sentence and capitals[0],
        # A lone word that begins a sentence has its capital from there.
        ends_capitalized=capitals[-1] and len(words) > begins_sentence,
        holds_digits=any(digits),
        is_number=all(map(str.isdigit, words)),
        is_code=any(digits) and any(map(str.isalpha, run.text)),
        is_upper=run.text.isupper() and len(run.text) > 1,
        begins_request=run.first == 0,
        ends_request=run.last == len(tokens) - 1,
        begins_sentence=begins_sentence,
        follows_sign=before in SIGNS,
        precedes_sign=behind in SIGNS,
        owns=said.endswith(POSSESSIVE),
        begins_with_link=links[0],
        ends_with_link=links[-1],
        holds_link=any(links[1:-1]),
        follows_name=run.first > 1 and former[:1].isupper(),
        precedes_name=following[:1].isupper(),
        follows_number=former.isdigit(),
        precedes_number=following.isdigit(),
    )


def _join_words(tokens: Sequence[Span], sign: str) -> str:
    """The text of the word beside a run; nothing where a sign stands between them."""
    return "" if sign in SIGNS else " ".join(token.text for token in tokens)


def measure_fit(
    tokens: Sequence[Span], run: Run, parameter: Parameter, own: frozenset[str]
) -> RunFit:
    """`own` are the stems of the command's words."""
    stems = [find_stem(token.text) for token in tokens[run.first : run.last + 1]]
    called = set(map(find_stem, find_words(parameter.name)))
    about = called | set(map(find_stem, find_words(parameter.about)))
    return RunFit(
        is_of_command=not own.isdisjoint(stems),
        is_all_of_command=own.issuperset(stems),
        is_of_name=not called.isdisjoint(stems),
        is_led_to=_is_about(tokens[run.first - 1 : run.first], about),
        is_followed=_is_about(tokens[run.last + 1 : run.last + 2], about),
    )


def _is_about(tokens: Sequence[Span], about: set[str]) -> bool:
    words = [token.text.lower() for token in tokens]
    return any(word not in LINKS and find_stem(word) in about for word in words)
