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
def form_expressions(line: tuple[Form, ...], anywhere: tuple[Form, ...]) -> FormExpressions:
    heads = sorted({re.escape(before[0]) for before, _ in anywhere})
    return FormExpressions(
        re.compile(f"[{BLANKS}]*?{longest_first(line)}"),
        re.compile(longest_first(anywhere)),
        re.compile(f"[{''.join(heads)}]" if heads else NEVER),
    )


NEVER = "(?!)"


def longest_first(forms: Iterable[Form]) -> str:
    """The longest beginnings first."""
    behind: dict[str, list[str]] = {}
    for before, after in forms:
        behind.setdefault(before, []).append(re.escape(after))
    found = [
        f"{escape_underlines(before)}{RUN.pattern}+"
        f"(?:{'|'.join(sorted(after, key=len, reverse=True))})"
        for before, after in sorted(behind.items(), key=lambda names: len(names[0]), reverse=True)
    ]
    return f"({'|'.join(found) or NEVER})"


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
        self._longest = longest + max((len(before + after) for before, after in forms), default=0)
        self._by_end: dict[str, list[Form]] = {}
        for form in forms:
            self._by_end.setdefault(form[1][-1], []).append(form)
        self._initials = {
            name[0] for name in (*self._names, *(form[0] for form in self._line)) if name
        }
        self._expressions = form_expressions(self._line, self._anywhere)

    def find_form(self, found: str) -> Form | None:
        """The form of a marker, if there is a tool of the name in it."""
        for before, behind in self._by_end.get(found[-1], ()):
            if (
                found.startswith(before)
                and found.endswith(behind)
                and found[len(before) : len(found) - len(behind)] in self._names
            ):
                return before, behind
        return self.find_form(found.replace("\\_", "_")) if "\\_" in found else None

    def find_at_line(self, text: str, at: int) -> Span | None:
        """The marker that stands there, where a line begins."""
        match = self._expressions.line.match(text, at)
        return match.span(1) if match and self.find_form(match[1]) else None

    def find_anywhere(self, text: str, at: int, last: int) -> Span | None:
        """The first of those that count wherever they stand, from `at` to `last`."""
        end = last + self._longest
        while match := self._expressions.within.search(text, at, end):
            if match.start() > last:
                break
            if self.find_form(match[1]):
                return match.span(1)
            at = match.start() + 1
        return None

    def find_unsure(self, text: str, begins: bool) -> int:
        """From where on the text might be the beginning of a marker, at its end."""
        at = max(0, len(text) - self._longest)
        found = len(text)
        if begins or "\n" in text:
            for start in line_starts(text):
                if start >= at and text[start] in self._initials:
                    found = start if self._has_begun(text[start:], self._line) else found
        while match := self._expressions.heads.search(text, at, found):
            at = match.start()
            if self._has_begun(text[at:], self._anywhere):
                return at
            at += 1
        return found

    def _has_begun(self, tail: str, forms: Iterable[Form]) -> bool:
        if any(self._may_begin(tail, *form) for form in forms):
            return True
        return "\\" in tail and self._has_begun(unescape_underlines(tail).replace("\\", ""), forms)

    def _may_begin(self, tail: str, before: str, behind: str) -> bool:
        if len(tail) <= len(before):
            return before.startswith(tail)
        if not tail.startswith(before):
            return False
        match = RUN.match(tail, len(before))
        end = match.end() if match else len(tail)
        name = tail[len(before) : end]
        if end == len(tail):
            at = bisect_left(self._sorted, name)
            return at < len(self._sorted) and self._sorted[at].startswith(name)
        rest = tail[end:]
        return name in self._names and len(rest) < len(behind) and behind.startswith(rest)


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
