"""Where a section of calls ends: tags around raw values, or markers, a name and JSON.

Raw values may quote any marker. A closer counts if a tag that belongs to a call stands right
before it, or if no value has begun; in JSON, if it stands outside strings.
"""

import re
from collections.abc import Callable
from functools import cache

from andy_cli.compiler.bodies.ends import LARGEST, JsonScan, Until, named
from andy_cli.compiler.dialect import Body
from andy_cli.compiler.expression import Expression

TAG = r"(?:\w{1,20}[:|_])?(?:[|\uff5c]\w{1,20}[|\uff5c] ?)?"
VALUE = rf"<{TAG}(?:parameter|param|arg_value)\b|<\|open\|>argument\b"
"""Begins a raw value."""
SETTLED = Expression(
    rf"(?:</{TAG}(?:parameter|param|arg_value|invoke|function|tool_call|call)\s{{0,9}}>"
    rf"|<ifm\|/(?:arg_value|tool_call)>|<\|close\|>(?:argument|call)<\|sep\|>"
    rf"|<{TAG}(?:invoke|function)\b[^<>]{{0,200}}>|<tool_call>[\w.\-:/\s]{{1,99}})\s*\Z"
)
"""What stands before a closer that means it."""
WINDOW = 240
"""Characters before a closer that are looked at."""


@cache
def any_of(*literals: str, extra: str = "") -> re.Pattern[str]:
    longest = sorted(literals, key=len, reverse=True)
    return re.compile("|".join([*map(re.escape, longest), *([extra] if extra else [])]))


class Raw:
    """Tags around raw values, up to the first closer that is not part of one."""

    def __init__(self, *closers: str) -> None:
        self._closers = frozenset(closers)
        self._expression = any_of(*closers, extra=VALUE)
        self._reach = max(map(len, closers)) + 60
        self._value = False
        self._tail = ""
        self._size = 0

    def feed(self, text: str) -> int | None:
        self._size += len(text)
        if self._size > LARGEST:
            return len(text)
        known, held = len(self._tail), self._tail + text
        for match in self._expression.finditer(held, max(0, known - self._reach)):
            if match.end() <= known:
                continue
            if match[0] not in self._closers:
                self._value = True
            elif not self._value or SETTLED.search(
                held[max(0, match.start() - WINDOW) : match.start()]
            ):
                return match.end() - known
        self._tail = held[-WINDOW - self._reach :]
        return None


class Json:
    """One JSON value, ended by itself or by a closer outside strings.

    A value in a code fence takes the closing fence along.
    """

    def __init__(self, *closers: str, fenced: bool = False) -> None:
        self._closers = any_of(*closers) if closers else None
        self._reach = max(map(len, closers), default=1) - 1
        self._scan = JsonScan()
        self._fenced = fenced
        self._ended = False
        self._tail = ""
        self._size = 0

    def feed(self, text: str) -> int | None:
        self._size += len(text)
        if self._size > LARGEST:
            return len(text)
        if self._ended:
            return self._fence(text, 0)
        known, held, at = len(self._tail), self._tail + text, 0
        for match in self._closers.finditer(held) if self._closers else ():
            if match.end() <= known:
                continue
            begins = max(0, match.start() - known)
            ended = self._scan.feed(text[at:begins])
            if ended is not None:
                return self._end(text, at + ended)
            at = begins
            if not self._scan.in_string:
                return match.end() - known
        ended = self._scan.feed(text[at:])
        self._tail = held[-self._reach :] if self._reach else ""
        return None if ended is None else self._end(text, at + ended)

    def _end(self, text: str, at: int) -> int | None:
        self._ended = True
        return self._fence(text, at) if self._fenced else at

    def _fence(self, text: str, at: int) -> int | None:
        while at < len(text) and text[at] in " \t\r\n`":
            at += 1
        return at if at < len(text) else None


class Section:
    """What stands in a section says how it ends: JSON, tags, or lines of calls."""

    def __init__(self, *closers: str, lead: Callable[[str], bool] = named) -> None:
        self._closers = closers
        self._lead = lead
        self._body: Body | None = None
        self._held = ""
        self._start = ""

    def feed(self, text: str) -> int | None:
        if len(self._start) < Until.LEAD:
            self._start += text[: Until.LEAD - len(self._start)]
            json = self._start.lstrip()[:1] in ("{", "[")
            if not json and not self._lead(self._start):
                return -1
        if self._body is not None:
            return self._body.feed(text)
        known = len(self._held)
        self._held += text
        first = self._held.lstrip()[:1]
        if not first:
            return None
        self._body = Json(*self._closers) if first in "{[" else Raw(*self._closers)
        end = self._body.feed(self._held)
        return end if end is None or end < 0 else end - known


class Values:
    """JSON values in a row, with blanks, `,` or `;` between."""

    def __init__(self) -> None:
        self._scan: JsonScan | None = None
        self._found = False
        self._size = 0

    def feed(self, text: str) -> int | None:
        self._size += len(text)
        if self._size > LARGEST:
            return len(text)
        at = 0
        while at < len(text):
            if self._scan is None:
                if text[at] in " \t\r\n,;":
                    at += 1
                    continue
                if text[at] not in "{[":
                    return at if self._found else -1
                self._scan, self._found = JsonScan(), True
            end = self._scan.feed(text, at)
            if end is None:
                return None
            self._scan, at = None, end
        return None


NO_HEAD = Expression(r"[^\w.\-:/\s<>|=`\uff5c\u2581\u273f]")
LONGEST_HEAD = 300


class Headed:
    """Markers and a name, then a JSON value: ends with the value or at a closer.

    `other` maps what may stand instead of a value to what finds its end.
    """

    def __init__(self, *closers: str, other: tuple[str, Callable[[], Body]] | None = None) -> None:
        self._closers = closers
        self._other = other
        self._held = ""
        self._body: Body | None = None
        self._begins = any_of("{", "[", *closers, *([other[0]] if other else []))

    def feed(self, text: str) -> int | None:
        if self._body is not None:
            return self._body.feed(text)
        known = len(self._held)
        self._held += text
        match = self._begins.search(self._held)
        head = self._held[: match.start()] if match else self._held
        if len(head) > LONGEST_HEAD or NO_HEAD.search(head):
            return -1
        if match is None:
            return None
        if match[0] in self._closers:
            return match.end() - known
        if self._other and match[0] == self._other[0]:
            self._body = self._other[1]()
        else:
            self._body = Json(*self._closers, fenced="```" in head)
        end = self._body.feed(self._held[match.start() :])
        return end if end is None or end < 0 else end + match.start() - known


class Begun:
    """A JSON value whose first bracket is part of the opener."""

    def __init__(self, opener: str) -> None:
        self._scan = JsonScan()
        self._scan.feed(opener[-1])

    def feed(self, text: str) -> int | None:
        return self._scan.feed(text)
