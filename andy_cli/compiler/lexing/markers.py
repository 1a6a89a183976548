"""Every marker of a set of dialects in one expression. Built once, shared by all replies.

Markers that hold the name of a tool, as `play_mp3(` at the start of a line, are found by their
form, and the name is looked up: a thousand tools, spelled out in one expression, would take seconds
to build.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Literal, NamedTuple, TypeVar

from andy_cli.compiler.bodies.calls import name_spellings
from andy_cli.compiler.control_tokens import (
    BEGUN,
    COMMENT,
    FORMS,
    LITERAL,
    NESTED,
    REASONING,
    RESULTS,
    SPLITTING,
    STRIPPED_CLOSERS,
)
from andy_cli.compiler.dialect import Dialect, MakeEndDetector
from andy_cli.compiler.lexing.framing import FRAMING, NEXT_TURN

Form = tuple[str, str]
"""The text before the name, and the text after it."""
Span = tuple[int, int]
RUN = re.compile(r"[^\s\"'(){}<>:\[\],|`\ufeff]*")
"""A name as far as it goes."""
BLANKS = " \t\r\ufeff"
"""White space before the first word of a line; a byte order mark too."""


ESCAPES = 8
"""Underlines of one marker that may have a backslash."""


def is_simple(name: str) -> bool:
    """Tell whether its end can be seen without knowing it."""
    return RUN.fullmatch(name) is not None


def escape_underlines(text: str) -> str:
    """As an expression in which an underline may have a backslash, as Markdown wants it."""
    return re.escape(text).replace("_", r"\\?_")


def unescape_underlines(text: str) -> str:
    """Without the backslashes of Markdown, nor one at the end whose underline is still to come."""
    return text.replace("\\_", "_").removesuffix("\\") if "\\" in text else text


class FormExpressions(NamedTuple):
    """Expressions for forms, whatever the names are."""

    line: re.Pattern[str]
    """At the start of a line."""
    within: re.Pattern[str]
    """Anywhere."""
    heads: re.Pattern[str]
    """The characters that those begin with."""


@lru_cache(maxsize=8)
def form_expressions(
    line_forms: tuple[Form, ...], anywhere_forms: tuple[Form, ...]
) -> FormExpressions:
    first_characters = sorted({re.escape(prefix[0]) for prefix, _ in anywhere_forms})
    return FormExpressions(
        re.compile(f"[{BLANKS}]*?{longest_first(line_forms)}"),
        re.compile(longest_first(anywhere_forms)),
        re.compile(f"[{''.join(first_characters)}]" if first_characters else NEVER),
    )


NEVER = "(?!)"


def longest_first(forms: Iterable[Form]) -> str:
    """The longest beginnings first."""
    suffixes: dict[str, list[str]] = {}
    for prefix, suffix in forms:
        suffixes.setdefault(prefix, []).append(re.escape(suffix))
    expressions = []
    for prefix in sorted(suffixes, key=len, reverse=True):
        endings = "|".join(sorted(suffixes[prefix], key=len, reverse=True))
        expressions.append(f"{escape_underlines(prefix)}{RUN.pattern}+(?:{endings})")
    return f"({'|'.join(expressions) or NEVER})"


class NamedMarkers:
    """Finds them, and says of which form they are."""

    def __init__(
        self, line: Iterable[Form], anywhere: Iterable[Form], tools: Iterable[str]
    ) -> None:
        """`line` are the forms that count at the start of a line only."""
        self._line, self._anywhere = tuple(line), tuple(anywhere)
        self._names = {spelling for name in tools for spelling in name_spellings(name)}
        self._sorted = sorted(self._names)
        forms = [*self._line, *self._anywhere]
        longest_name = max(map(len, self._names), default=0)
        longest_frame = max((len(prefix + suffix) for prefix, suffix in forms), default=0)
        self._longest = longest_name + longest_frame + ESCAPES
        self._by_end: dict[str, list[Form]] = {}
        for prefix, suffix in forms:
            self._by_end.setdefault(suffix[-1], []).append((prefix, suffix))
        # Where a form has nothing before the name, the line begins with the name itself.
        beginnings = [*self._names, *(prefix for prefix, _ in self._line)]
        self._initials = {beginning[0] for beginning in beginnings if beginning}
        self._expressions = form_expressions(self._line, self._anywhere)

    def find_form(self, marker_text: str) -> Form | None:
        """The form of a marker, if there is a tool of the name in it."""
        for prefix, suffix in self._by_end.get(marker_text[-1], ()):
            name = marker_text[len(prefix) : len(marker_text) - len(suffix)]
            has_form = marker_text.startswith(prefix) and marker_text.endswith(suffix)
            if has_form and name in self._names:
                return prefix, suffix
        if "\\_" not in marker_text:
            return None
        return self.find_form(marker_text.replace("\\_", "_"))

    def find_at_line(self, text: str, position: int) -> Span | None:
        """The marker that stands there, where a line begins."""
        match = self._expressions.line.match(text, position)
        return match.span(1) if match and self.find_form(match[1]) else None

    def find_anywhere(self, text: str, position: int, last_start: int) -> Span | None:
        """The first of those that count wherever they stand, from `position` to `last_start`."""
        end = last_start + self._longest
        while match := self._expressions.within.search(text, position, end):
            if match.start() > last_start:
                break
            if self.find_form(match[1]):
                return match.span(1)
            position = match.start() + 1
        return None

    def find_unsure(self, text: str, begins: bool) -> int:
        """From where on the text might be the beginning of a marker, at its end."""
        position = max(0, len(text) - self._longest)
        unsure_start = len(text)
        if begins or "\n" in text:
            for start in line_starts(text):
                is_possible = start >= position and text[start] in self._initials
                if is_possible and self._has_begun(text[start:], self._line):
                    unsure_start = start
        while match := self._expressions.heads.search(text, position, unsure_start):
            position = match.start()
            if self._has_begun(text[position:], self._anywhere):
                return position
            position += 1
        return unsure_start

    def _has_begun(self, tail: str, forms: Iterable[Form]) -> bool:
        if any(self._may_begin(tail, *named_form) for named_form in forms):
            return True
        return "\\" in tail and self._has_begun(unescape_underlines(tail).replace("\\", ""), forms)

    def _may_begin(self, tail: str, prefix: str, suffix: str) -> bool:
        if len(tail) <= len(prefix):
            return prefix.startswith(tail)
        if not tail.startswith(prefix):
            return False
        match = RUN.match(tail, len(prefix))
        end = match.end() if match else len(tail)
        name = tail[len(prefix) : end]
        if end == len(tail):
            position = bisect_left(self._sorted, name)
            return position < len(self._sorted) and self._sorted[position].startswith(name)
        written_suffix = tail[end:]
        return (
            name in self._names
            and len(written_suffix) < len(suffix)
            and suffix.startswith(written_suffix)
        )


def line_starts(text: str) -> Iterator[int]:
    """Find where the first words of the last line and of the one before it begin, if they do."""
    end = len(text)
    for _ in range(2):
        start = text.rfind("\n", 0, end) + 1
        word = start + len(text[start:]) - len(text[start:].lstrip(BLANKS))
        if word < len(text):
            yield word
        if not start:
            return
        end = start - 1


Where = Literal["anywhere", "line", "reply", "behind"]
Key = TypeVar("Key", str, Form)


class Marker(NamedTuple):
    kind: Literal[
        "opener", "reasoning", "reasoned", "token", "foreign", "result", "closer", "comment"
    ]
    """`token`: a control token of a template. `foreign`: words that begin somebody else's turn."""
    where: Where = "anywhere"
    dialects: tuple[Dialect, ...] = ()
    """The dialects that may read what an opener begins, the likeliest first."""
    make_end_detector: MakeEndDetector | None = None
    """Taken from the dialect that was added first: it finds the end for all of them."""


OWN_LINES = ("assistant:", "assistant\n", "model\n", "### assistant:", "### response:")
"""Whose turn it is, as models say it at the start of a reply."""
HEADINGS = ("### instruction:", "### human:", "### user:")
"""Beginnings of somebody else's turn in prompts without control tokens."""
OTHER_RESULTS = ("[TOOL_RESULTS]", "<function_results>", "\u273fRESULT\u273f", "\u273fRETURN\u273f")
"""Further openers of a result."""
NEXT = Marker("foreign", "line", (NEXT_TURN,), NEXT_TURN.make_end_detector)
TOKEN_MARKER = Marker("token")
MAX_TOKEN_LENGTH = 140

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
    markers = exact | folded
    first_letters = {"`"}
    prefixes: set[str] = set()
    for marker in markers:
        first_letters |= {marker[0].lower(), marker[0].upper()}
        prefixes |= {marker.lower()[:length] for length in range(1, len(marker))}
    letters = "".join(map(re.escape, sorted(first_letters)))
    return FixedMarkers(
        expression=all_markers_expression(sorted(markers, key=len, reverse=True), exact),
        prefixes=frozenset(prefixes),
        longest=max([MAX_TOKEN_LENGTH, *map(len, markers)]) - 1,
        first=re.compile(f"[{letters}]"),
    )


def all_markers_expression(longest: Sequence[str], exact: Collection[str]) -> re.Pattern[str]:
    """All markers, backticks and line breaks; the longest that fits is found.

    Grouped by their first character, which lets the engine skip to where one may begin.
    """
    groups: dict[str, list[str]] = {"`": ["`*"], "\n": [""]}
    for marker in longest:
        first_letter, rest = marker[0], marker[1:]
        if marker in exact:
            groups.setdefault(first_letter, []).append(escape_underlines(rest))
            continue
        for letter in {first_letter.lower(), first_letter.upper()}:
            groups.setdefault(letter, []).append(f"(?i:{re.escape(rest)})")
    # The form of control tokens comes last: what is listed is what it is listed as.
    groups["<"] = [NESTED[1:], *groups.get("<", []), *(token_form[1:] for token_form in FORMS)]
    expressions = []
    for letter, rests in groups.items():
        expressions.append(f"{re.escape(letter)}(?:{'|'.join(rests)})")
    return re.compile("|".join(expressions), re.ASCII)


class MarkerLookahead:
    """The next marker of a kind in a text that is looked through from left to right, bit by bit."""

    def __init__(self, find_span: Callable[[str, int, int], Span | None]) -> None:
        """(text, from where, last place where it may begin) -> where it is."""
        self._find = find_span
        self._span: Span | None = None
        self._seen = 0  # none begins before

    def find_first(self, text: str, position: int, last_start: int) -> Span | None:
        """The first one that begins from `position` on; None if that is after `last_start`."""
        if self._span and self._span[0] < position:
            self._span = None
        if not self._span and max(position, self._seen) <= last_start:
            self._span = self._find(text, max(position, self._seen), last_start)
            self._seen = self._span[0] if self._span else last_start + 1
        return self._span if self._span and self._span[0] <= last_start else None


def find_ahead(
    fixed_markers: MarkerLookahead,
    named_markers: MarkerLookahead,
    text: str,
    position: int,
    spans_here: Sequence[Span],
) -> list[Span]:
    """Find the next marker of each kind, ever farther until there is one; with `spans_here`."""
    reach, end = WINDOW, len(text)
    while True:
        last_start = min(position + reach, end)
        possible_spans = (
            *spans_here,
            fixed_markers.find_first(text, position, last_start),
            named_markers.find_first(text, position, last_start),
        )
        found_spans = [found_span for found_span in possible_spans if found_span]
        if found_spans or last_start == end:
            return found_spans
        reach *= 2


def keys_where(table: Mapping[Key, Marker], is_wanted: Callable[[Marker], bool]) -> list[Key]:
    return [key for key, marker in table.items() if is_wanted(marker)]


def is_protocol(name: str, dialects: Sequence[Dialect]) -> bool:
    """Tell whether the dialect of that name is a protocol of ours: a reply is one object of it."""
    return any(
        dialect.name == name and (dialect.calls_only or dialect.format_violation is not None)
        for dialect in dialects
    )


@lru_cache(maxsize=64)
def build_markers(
    dialects: tuple[Dialect, ...], tools: tuple[str, ...], first: str = ""
) -> "Markers":
    """Build the markers of these tools; the last ones are kept, since building one takes 5 ms."""
    return Markers(dialects, tools, first)


class Markers:
    """Finds markers in text that arrives in pieces."""

    def __init__(
        self,
        dialects: Sequence[Dialect],
        tools: Sequence[str] = (),
        first: str = "",
        reads_calls: bool = True,
    ) -> None:
        """`first` is the dialect that is expected: of those with one opener it reads first.

        `reads_calls`: else no call is meant, and what a notation has around calls alone is text.
        """
        reads_calls = reads_calls and bool(dialects)
        tools = list(filter(None, tools))
        self._expected = first
        self.protocol = first if is_protocol(first, dialects) else ""
        """The protocol of ours that was taught: a reply is one object of it."""
        self._exact: dict[str, Marker] = {}
        self._folded: dict[str, Marker] = {}
        self._forms: dict[Form, Marker] = {}
        self.all = tuple(dialects)
        self._end_markers = frozenset(chain(*(dialect.end_markers for dialect in dialects)))
        self.fenced = tuple(dialect for dialect in dialects if dialect.fenced)
        for dialect in (*dialects, *FRAMING) if reads_calls else dialects:
            self._add_dialect(dialect, tools)
        self._add_framework(reads_calls)
        # Before the results get their kind: a tag that is a start marker too still ends reasoning.
        self.heads = frozenset(keys_where(self._exact, lambda marker: marker.kind == "opener"))
        """Start markers that may also end a stretch of reasoning."""
        self._add_results()
        continuations = frozenset(keys_where(self._exact, lambda marker: marker.where == "behind"))
        self._fixed = find_fixed(frozenset(self._exact) - continuations, frozenset(self._folded))
        self._behind = find_fixed(continuations, frozenset())
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
            for marker_text, place in list_start_markers(dialect, tools):
                self._add(self._folded, marker_text.lower(), place, dialect)
        else:
            unusual_names = [name for name in tools if not is_simple(name)]
            for marker_text, place in list_start_markers(dialect, unusual_names):
                self._add(self._exact, marker_text, place, dialect)
            for named_form, place in named_forms(dialect):
                self._add(self._forms, named_form, place, dialect)
        for marker_text in dialect.end_markers:
            self._exact.setdefault(marker_text, Marker("closer"))

    def _add_framework(self, reads_calls: bool) -> None:
        """Add the markers of templates: control tokens, reasoning, the turns of others."""
        self._exact |= dict.fromkeys(LITERAL, Marker("token"))
        self._exact |= dict.fromkeys(COMMENT, Marker("comment"))
        self._exact |= dict.fromkeys(REASONING, Marker("reasoning"))
        self._exact |= dict.fromkeys((*SPLITTING, *STRIPPED_CLOSERS), Marker("reasoned"))
        if reads_calls:
            self._folded |= dict.fromkeys(OWN_LINES, Marker("token", "reply"))
            self._folded |= dict.fromkeys(("user:", "human:", "observation:"), NEXT)
            self._folded |= dict.fromkeys(HEADINGS, Marker("foreign"))

    def _add(self, table: dict[Key, Marker], key: Key, place: Where, dialect: Dialect) -> None:
        marker: Marker = table.get(key) or Marker(
            "opener", place, make_end_detector=dialect.make_end_detector
        )
        expected = dialect.name == self._expected
        readers = (dialect, *marker.dialects) if expected else (*marker.dialects, dialect)
        if place == "anywhere":  # those that want a line of their own are left out elsewhere
            marker = marker._replace(where=place)
        table[key] = marker._replace(dialects=readers)

    def __getitem__(self, marker_text: str) -> Marker:
        """The marker that was found."""
        marker = self._exact.get(marker_text) or self._folded.get(marker_text.lower())
        if marker is None and (named_form := self._named.find_form(marker_text)):
            marker = self._forms[named_form]
        marker = marker or self._exact.get(marker_text.replace("\\_", "_"))
        return marker or TOKEN_MARKER

    def is_turn(self, marker_text: str) -> bool:
        """Tell whether a marker, whatever else it opens, begins somebody else's turn."""
        marker = self._folded.get(marker_text.lower())
        return marker is not None and marker.kind == "foreign"

    def begins_closer(self, text: str) -> bool:
        """Tell whether a text is the beginning of what ends a frame."""
        return len(text) > 1 and any(closer.startswith(text) for closer in self._end_markers)

    def find(
        self, text: str, line_start: bool, behind_call: bool
    ) -> Iterator[tuple[str, int, int]]:
        """The markers, backticks and line breaks in it, from left to right, with their places.

        Where several begin, the longest counts. `line_start`: the text begins a line.
        `behind_call`: a request stood right before it.
        """
        if not (line_start or behind_call or self._holds_any(text)):
            return  # as with most pieces of prose
        fixed_markers = MarkerLookahead(self._find_fixed)
        named_markers = MarkerLookahead(self._named.find_anywhere)
        position = 0
        while True:
            spans_here: Sequence[Span] = ()
            if line_start or behind_call:
                spans_here = self._find_here(text, position, line_start, behind_call)
            found_spans = find_ahead(fixed_markers, named_markers, text, position, spans_here)
            if not found_spans:
                return
            start, end = min(found_spans, key=lambda found_span: (found_span[0], -found_span[1]))
            yield text[start:end], start, end
            position = end
            line_start = text[end - 1] == "\n"
            behind_call = behind_call and not text[:end].strip()

    def _holds_any(self, text: str) -> bool:
        text_end = len(text)
        return bool(
            self._find_fixed(text, 0, text_end) or self._named.find_anywhere(text, 0, text_end)
        )

    def _find_here(
        self, text: str, position: int, line_start: bool, behind_call: bool
    ) -> list[Span]:
        """Find what counts only where it stands: at the start of a line, or after a request."""
        at_line_start = self._named.find_at_line(text, position) if line_start else None
        right_behind = self._right_behind(text) if behind_call else None
        return [found_span for found_span in (at_line_start, right_behind) if found_span]

    def _right_behind(self, text: str) -> Span | None:
        match = self._behind.expression.match(text, len(text) - len(text.lstrip()))
        return match.span() if match and match[0] in self._exact else None

    def _find_fixed(self, text: str, position: int, last_start: int) -> Span | None:
        """The first of those that are always the same, if it begins at `last_start` or before."""
        end = last_start + self._fixed.longest + 1 + ESCAPES
        match = self._fixed.expression.search(text, position, end)
        if match and match.end() >= end:  # a run of backticks goes on as long as it likes
            match = self._fixed.expression.search(text, position)
        return match.span() if match and match.start() <= last_start else None

    def find_unsure(self, text: str, line_start: bool, behind_call: bool) -> int:
        """From where on the text might be the beginning of a marker, at its end."""
        sure_end = min(self._find_unsure_fixed(text), self._named.find_unsure(text, line_start))
        if behind_call and (unindented := text.lstrip()).lower() in self._behind.prefixes:
            return min(sure_end, len(text) - len(unindented))
        return sure_end

    def _find_unsure_fixed(self, text: str) -> int:
        position = max(0, len(text) - self._fixed.longest - ESCAPES)
        while match := self._fixed.first.search(text, position):
            position = match.start()
            tail_text = text[position:]
            is_prefix = unescape_underlines(tail_text).lower() in self._fixed.prefixes
            if is_prefix or not tail_text.strip("`"):
                return position
            if tail_text[0] == "<" and BEGUN.match(tail_text):  # a control token of no list
                return position
            position += 1
        # A run of backticks counts as a whole, however long.
        return len(text.rstrip("`"))


def list_start_markers(dialect: Dialect, tools: Sequence[str]) -> Iterator[tuple[str, Where]]:
    for marker in dialect.start_markers:
        yield marker, "anywhere"
    for marker in dialect.line_start_markers:
        yield marker, "line"
    for marker in dialect.reply_start_markers:
        yield marker, "reply"
    for marker in dialect.continuation_markers:
        yield marker, "behind"
    for (prefix, suffix), place in named_forms(dialect):
        for name in tools:
            for spelling in name_spellings(name):
                yield f"{prefix}{spelling}{suffix}", place


def named_forms(dialect: Dialect) -> Iterator[tuple[Form, Where]]:
    """Its forms with the name of a tool in them."""
    for marker_form in dialect.named_start_markers:
        prefix, _, suffix = marker_form.lstrip(" ").partition("NAME")  # blanks may always be there
        yield (prefix, suffix), "line"
    for marker_form in dialect.named_anywhere:
        prefix, _, suffix = marker_form.partition("NAME")
        yield (prefix, suffix), "anywhere"
