"""Every marker of a set of dialects in one expression. Built once, shared by all replies."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Literal, NamedTuple, TypeVar

from andy_cli.compiler.bodies.calls import name_spellings
from andy_cli.compiler.control_tokens import (
    BEGUN,
    FORMS,
    LITERAL,
    NESTED,
    REASONING,
    RESULTS,
    SPLITTING,
)
from andy_cli.compiler.dialect import Dialect, EndDetector, Tools
from andy_cli.compiler.lexing.framing import FRAMING, NEXT_TURN
from andy_cli.compiler.lexing.named import (
    ESCAPES,
    Form,
    NamedMarkers,
    Span,
    escape_underlines,
    is_simple,
    unescape_underlines,
)

Where = Literal["anywhere", "line", "reply", "behind"]
Key = TypeVar("Key", str, Form)


class Marker(NamedTuple):
    kind: Literal["opener", "reasoning", "reasoned", "token", "foreign", "result", "closer"]
    """`token`: a control token of a template. `foreign`: words that begin somebody else's turn."""
    where: Where = "anywhere"
    dialects: tuple[Dialect, ...] = ()
    """The dialects that may read what an opener begins, the likeliest first."""
    body: Callable[[str, Tools], EndDetector] | None = None
    """Finds where it ends, for all of them."""


OWN_LINES = ("assistant:", "assistant\n", "model\n", "### assistant:", "### response:")
"""Whose turn it is, as models say it at the start of a reply."""
HEADINGS = ("### instruction:", "### human:", "### user:")
"""Beginnings of somebody else's turn in prompts without control tokens."""
OTHER_RESULTS = ("[TOOL_RESULTS]", "<function_results>", "\u273fRESULT\u273f", "\u273fRETURN\u273f")
"""Further openers of a result."""
NEXT = Marker("foreign", "line", (NEXT_TURN,), NEXT_TURN.body)
TOKEN_MARKER = Marker("token")
LONGEST_TOKEN = 140

WINDOW = 256
"""Characters that are searched at once."""


class FixedMarkers(NamedTuple):
    """Expressions for markers that are always the same."""

    expression: re.Pattern[str]
    prefixes: frozenset[str]
    longest: int
    """Characters of the longest prefix."""
    first: re.Pattern[str]
    """The characters that they begin with."""


@lru_cache(maxsize=8)
def find_fixed(exact: frozenset[str], folded: frozenset[str]) -> FixedMarkers:
    """`folded` count in upper and lower case."""
    known = exact | folded
    firsts = {case for text in known for case in (text[0].lower(), text[0].upper())}
    return FixedMarkers(
        all_markers_expression(sorted(known, key=len, reverse=True), exact),
        frozenset(text.lower()[:cut] for text in known for cut in range(1, len(text))),
        max(LONGEST_TOKEN, *map(len, known)) - 1 if known else LONGEST_TOKEN,
        re.compile("[" + "".join(map(re.escape, sorted(firsts | {"`"}))) + "]"),
    )


def all_markers_expression(longest: Sequence[str], exact: Collection[str]) -> re.Pattern[str]:
    """All markers, backticks and line breaks; the longest that fits is found.

    Grouped by their first character, which lets the engine skip to where one may begin.
    """
    groups: dict[str, list[str]] = {"`": ["`*"], "\n": [""]}
    for text in longest:
        folded = text not in exact
        rest = f"(?i:{re.escape(text[1:])})" if folded else escape_underlines(text[1:])
        for first in {text[0].lower(), text[0].upper()} if folded else {text[0]}:
            groups.setdefault(first, []).append(rest)
    # The form of control tokens comes last: what is listed is what it is listed as.
    groups["<"] = [NESTED[1:], *groups.get("<", []), *(form[1:] for form in FORMS)]
    return re.compile(
        "|".join(f"{re.escape(first)}(?:{'|'.join(rests)})" for first, rests in groups.items()),
        re.ASCII,
    )


class MarkerLookahead:
    """The next marker of a kind in a text that is looked through from left to right, bit by bit."""

    def __init__(self, find: Callable[[str, int, int], Span | None]) -> None:
        """(text, from where, last place where it may begin) -> where it is."""
        self._find = find
        self._span: Span | None = None
        self._seen = 0  # none begins before

    def find_first(self, text: str, at: int, last: int) -> Span | None:
        """The first one that begins from `at` on; None if that is behind `last`."""
        if self._span and self._span[0] < at:
            self._span = None
        if not self._span and max(at, self._seen) <= last:
            self._span = self._find(text, max(at, self._seen), last)
            self._seen = self._span[0] if self._span else last + 1
        return self._span if self._span and self._span[0] <= last else None


def find_ahead(
    fixed: MarkerLookahead, named: MarkerLookahead, text: str, at: int, here: Sequence[Span]
) -> list[Span]:
    """Find the next marker of each kind, ever farther until there is one; with those `here`."""
    reach, end = WINDOW, len(text)
    while True:
        last = min(at + reach, end)
        spans = *here, fixed.find_first(text, at, last), named.find_first(text, at, last)
        found = [span for span in spans if span]
        if found or last == end:
            return found
        reach *= 2


def keys_where(table: Mapping[Key, Marker], is_wanted: Callable[[Marker], bool]) -> list[Key]:
    return [key for key, marker in table.items() if is_wanted(marker)]


def is_own_protocol(dialect: Dialect) -> bool:
    return dialect.calls_only or dialect.format_violation is not None


class Markers:
    """Finds markers in text that arrives in pieces."""

    def __init__(
        self, dialects: Sequence[Dialect], tools: Sequence[str] = (), first: str = ""
    ) -> None:
        """`first` is the dialect that is expected: of those with one opener it reads first."""
        tools = [*filter(None, tools)]
        self._expected = first
        owns = any(dialect.name == first and is_own_protocol(dialect) for dialect in dialects)
        self.protocol = first if owns else ""
        """The protocol of ours that was taught: a reply is one object of it."""
        self._exact: dict[str, Marker] = {}
        self._folded: dict[str, Marker] = {}
        self._forms: dict[Form, Marker] = {}
        self.all = tuple(dialects)
        self._end_markers = frozenset(chain(*(dialect.end_markers for dialect in dialects)))
        self.fenced = tuple(dialect for dialect in dialects if dialect.fenced)
        for dialect in (*dialects, *(FRAMING if dialects else ())):
            self._add_dialect(dialect, tools)
        self._add_framework(bool(dialects))
        self.heads = frozenset(keys_where(self._exact, lambda marker: marker.kind == "opener"))
        """Start markers that may also end a stretch of reasoning."""
        self._add_results()
        behind = frozenset(keys_where(self._exact, lambda marker: marker.where == "behind"))
        self._fixed = find_fixed(frozenset(self._exact) - behind, frozenset(self._folded))
        self._behind = find_fixed(behind, frozenset())
        self._named = NamedMarkers(
            keys_where(self._forms, lambda marker: marker.where == "line"),
            keys_where(self._forms, lambda marker: marker.where == "anywhere"),
            filter(is_simple, tools),
        )

    def _add_results(self) -> None:
        for text in (*(f"<{tag}>" for tag in RESULTS), *OTHER_RESULTS):
            marker = self._exact.get(text) or Marker("result")
            self._exact[text] = marker._replace(kind="result")

    def _add_dialect(self, dialect: Dialect, tools: Sequence[str]) -> None:
        if dialect.case_insensitive:
            for text, where in list_start_markers(dialect, tools):
                self._add(self._folded, text.lower(), where, dialect)
        else:
            odd = [name for name in tools if not is_simple(name)]
            for text, where in list_start_markers(dialect, odd):
                self._add(self._exact, text, where, dialect)
            for form, where in named_forms(dialect):
                self._add(self._forms, form, where, dialect)
        for text in dialect.end_markers:
            self._exact.setdefault(text, Marker("closer"))

    def _add_framework(self, has_dialects: bool) -> None:
        """Add the markers of templates: control tokens, reasoning, the turns of others."""
        self._exact |= dict.fromkeys(LITERAL, Marker("token"))
        self._exact |= dict.fromkeys(REASONING, Marker("reasoning"))
        self._exact |= dict.fromkeys(SPLITTING, Marker("reasoned"))
        if has_dialects:
            self._folded |= dict.fromkeys(OWN_LINES, Marker("token", "reply"))
            self._folded |= dict.fromkeys(("user:", "human:", "observation:"), NEXT)
            self._folded |= dict.fromkeys(HEADINGS, Marker("foreign"))

    def _add(self, table: dict[Key, Marker], key: Key, where: Where, dialect: Dialect) -> None:
        there: Marker = table.get(key) or Marker("opener", where, body=dialect.body)
        expected = dialect.name == self._expected
        readers = (dialect, *there.dialects) if expected else (*there.dialects, dialect)
        if where == "anywhere":  # those that want a line of their own are left out elsewhere
            there = there._replace(where=where)
        table[key] = there._replace(dialects=readers)

    def __getitem__(self, found: str) -> Marker:
        """The marker that was found."""
        marker = self._exact.get(found) or self._folded.get(found.lower())
        if marker is None and (form := self._named.find_form(found)):
            marker = self._forms[form]
        marker = marker or self._exact.get(found.replace("\\_", "_"))
        return marker or TOKEN_MARKER

    def begins_closer(self, text: str) -> bool:
        """Tell whether a text is the beginning of what ends a frame."""
        return len(text) > 1 and any(closer.startswith(text) for closer in self._end_markers)

    def find(self, text: str, line_start: bool, behind: bool) -> Iterator[tuple[str, int, int]]:
        """The markers, backticks and line breaks in it, from left to right, with their places.

        Where several begin, the longest counts. `line_start`: the text begins a line; `behind`: a
        request stood right before it.
        """
        if not (line_start or behind or self._holds_any(text)):
            return  # as with most pieces of prose
        fixed, named = MarkerLookahead(self._find_fixed), MarkerLookahead(self._named.find_anywhere)
        at = 0
        while True:
            here = self._find_here(text, at, line_start, behind) if line_start or behind else ()
            found = find_ahead(fixed, named, text, at, here)
            if not found:
                return
            start, end = min(found, key=lambda span: (span[0], -span[1]))
            yield text[start:end], start, end
            at, line_start, behind = end, text[end - 1] == "\n", behind and not text[:end].strip()

    def _holds_any(self, text: str) -> bool:
        last = len(text)
        return bool(self._find_fixed(text, 0, last) or self._named.find_anywhere(text, 0, last))

    def _find_here(self, text: str, at: int, line_start: bool, behind: bool) -> list[Span]:
        """Find what counts only where it stands: at the start of a line, or behind a request."""
        line = self._named.find_at_line(text, at) if line_start else None
        right_behind = self._right_behind(text) if behind else None
        return [span for span in (line, right_behind) if span]

    def _right_behind(self, text: str) -> Span | None:
        match = self._behind.expression.match(text, len(text) - len(text.lstrip()))
        return match.span() if match and match[0] in self._exact else None

    def _find_fixed(self, text: str, at: int, last: int) -> Span | None:
        """The first of those that are always the same, if it begins at `last` or before."""
        end = last + self._fixed.longest + 1 + ESCAPES
        match = self._fixed.expression.search(text, at, end)
        if match and match.end() >= end:  # a run of backticks goes on as long as it likes
            match = self._fixed.expression.search(text, at)
        return match.span() if match and match.start() <= last else None

    def find_unsure(self, text: str, line_start: bool, behind: bool) -> int:
        """From where on the text might be the beginning of a marker, at its end."""
        sure = min(self._find_unsure_fixed(text), self._named.find_unsure(text, line_start))
        if behind and (rest := text.lstrip()).lower() in self._behind.prefixes:
            return min(sure, len(text) - len(rest))
        return sure

    def _find_unsure_fixed(self, text: str) -> int:
        at = max(0, len(text) - self._fixed.longest - ESCAPES)
        while match := self._fixed.first.search(text, at):
            at = match.start()
            tail = text[at:]
            known = unescape_underlines(tail).lower() in self._fixed.prefixes
            if known or not tail.strip("`") or (tail[0] == "<" and BEGUN.match(tail)):
                return at
            at += 1
        # A run of backticks counts as a whole, however long.
        return len(text.rstrip("`"))


def list_start_markers(dialect: Dialect, tools: Sequence[str]) -> Iterator[tuple[str, Where]]:
    for text in dialect.start_markers:
        yield text, "anywhere"
    for text in dialect.line_start_markers:
        yield text, "line"
    for text in dialect.reply_start_markers:
        yield text, "reply"
    for text in dialect.continuation_markers:
        yield text, "behind"
    for (before, behind), where in named_forms(dialect):
        for name in tools:
            for spelling in name_spellings(name):
                yield f"{before}{spelling}{behind}", where


def named_forms(dialect: Dialect) -> Iterator[tuple[Form, Where]]:
    """Its forms with the name of a tool in them."""
    for form in dialect.named_start_markers:
        before, _, behind = form.lstrip(" ").partition("NAME")  # blanks may always be there
        yield (before, behind), "line"
    for form in dialect.named_anywhere:
        before, _, behind = form.partition("NAME")
        yield (before, behind), "anywhere"
