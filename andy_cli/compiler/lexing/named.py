"""Markers that hold the name of a tool, as `play_mp3(` at the start of a line.

They are found by their form, and the name is looked up: a thousand tools, spelled out in one
expression, would take seconds to build.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from andy_cli.compiler.bodies.calls import name_spellings

Form = tuple[str, str]
"""The text before the name, and the text behind it."""
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
    expressions = [
        f"{escape_underlines(prefix)}{RUN.pattern}+"
        f"(?:{'|'.join(sorted(suffix, key=len, reverse=True))})"
        for prefix, suffix in sorted(
            suffixes.items(),
            key=lambda prefix_and_suffixes: len(prefix_and_suffixes[0]),
            reverse=True,
        )
    ]
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
        longest = max(map(len, self._names), default=0) + ESCAPES
        self._longest = longest + max((len(prefix + suffix) for prefix, suffix in forms), default=0)
        self._by_end: dict[str, list[Form]] = {}
        for named_form in forms:
            self._by_end.setdefault(named_form[1][-1], []).append(named_form)
        self._initials = {
            name[0]
            for name in (*self._names, *(named_form[0] for named_form in self._line))
            if name
        }
        self._expressions = form_expressions(self._line, self._anywhere)

    def find_form(self, marker_text: str) -> Form | None:
        """The form of a marker, if there is a tool of the name in it."""
        for prefix, suffix in self._by_end.get(marker_text[-1], ()):
            if (
                marker_text.startswith(prefix)
                and marker_text.endswith(suffix)
                and marker_text[len(prefix) : len(marker_text) - len(suffix)] in self._names
            ):
                return prefix, suffix
        return self.find_form(marker_text.replace("\\_", "_")) if "\\_" in marker_text else None

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
                if start >= position and text[start] in self._initials:
                    unsure_start = (
                        start if self._has_begun(text[start:], self._line) else unsure_start
                    )
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
