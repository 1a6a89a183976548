"""Find where a section of calls ends: tags around raw values, or markers, a name and JSON.

Raw values may quote any marker. A closer counts if a tag that belongs to a call stands right
before it, or if no value has begun; in JSON, if it stands outside strings.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache

from andy_cli.compiler.bodies.end_detectors import (
    HeadDecision,
    HeldEnd,
    LeadEnd,
    LimitedEnd,
    MarkerEnd,
    begins_with,
)
from andy_cli.compiler.bodies.json_scan import JsonScan
from andy_cli.compiler.bodies.lookahead import may_begin_request
from andy_cli.compiler.bodies.markup.quoted_calls import (
    MAX_GAP,
    TAG,
    TAGS,
    QuotedCalls,
    kind_of_tag,
)
from andy_cli.compiler.dialect import EndDetector, Tools
from andy_cli.compiler.expression import Expression

SETTLED = Expression(
    rf"(?:</{TAG}(?:parameters?|param|arg_value|invoke|function|tool_call|call)\s{{0,9}}>"
    rf"|<ifm\|/(?:arg_value|tool_call)>|<\|close\|>(?:argument|call)<\|sep\|>"
    rf"|<{TAG}(?:invoke|function)\b[^<>]{{0,200}}>)\s*\Z"
)
"""The tags before a closer that means it."""
MAX_DISTANCE = 240
"""Characters before a closer that are looked at."""
MAX_TAG_LENGTH = 160
"""Characters of the longest of `TAGS`."""


@cache
def any_of(*literals: str, extra: str = "") -> re.Pattern[str]:
    longest = sorted(literals, key=len, reverse=True)
    return re.compile("|".join([*map(re.escape, longest), *([extra] if extra else [])]))


class RawSectionEnd(LimitedEnd):
    """Tags around raw values, up to the first closer that is not part of one."""

    def __init__(self, *end_markers: str) -> None:
        super().__init__()
        self._end_markers = frozenset(end_markers)
        self._expression = any_of(*end_markers, extra=TAGS)
        self._reach = max(map(len, end_markers)) + MAX_TAG_LENGTH
        self._begins = frozenset({"<", *(closer[0] for closer in end_markers)})
        self._far = 0  # characters since one that a tag may begin with
        self._passed: list[str] = []  # what came since, after the tail
        self._value = False
        self._tail = ""
        self._quoted_calls = QuotedCalls()
        self._passed_length = 0  # what came before the tail
        self._tag_end = 0  # of all that came

    def _find_end(self, text: str) -> int | None:
        # Far from all that begins a tag nothing can end here: such text is kept unsearched, so
        # that a long value costs its length and not its square.
        if self._begins.isdisjoint(text):
            self._far += len(text)
            if self._far > self._reach + len(text):
                self._passed.append(text)
                return None
        else:
            self._far = 0
        if self._passed:
            self._tail += "".join(self._passed)
            self._passed = []
        seen_length, buffered_text = len(self._tail), self._tail + text
        for match in self._expression.finditer(buffered_text, max(0, seen_length - self._reach)):
            if match.end() > seen_length and self._ends_with(match):
                return match.end() - seen_length
        self._tail = buffered_text[-MAX_GAP - self._reach :]
        self._passed_length += len(buffered_text) - len(self._tail)
        return None

    def _ends_with(self, tag: re.Match[str]) -> bool:
        """Take the next tag; tells whether it is the closer."""
        gap_start, self._tag_end = self._tag_end, self._passed_length + tag.end()
        gap_text = tag.string[max(0, gap_start - self._passed_length) : tag.start()]
        if self._quoted_calls.take(kind_of_tag(tag), gap_text):
            return False
        self._value = self._value or tag.lastgroup == "value"
        if tag[0] not in self._end_markers:
            return False
        text_before = tag.string[max(0, tag.start() - MAX_DISTANCE) : tag.start()]
        return not self._value or SETTLED.search(text_before) is not None


class JsonSectionEnd(LimitedEnd):
    """One JSON value, ended by itself or by a closer outside strings.

    A value in a code fence takes the closing fence along.
    """

    def __init__(self, *end_markers: str, fenced: bool = False) -> None:
        super().__init__()
        self._end_markers = any_of(*end_markers) if end_markers else None
        self._reach = max(map(len, end_markers), default=1) - 1
        self._scan = JsonScan()
        self._fenced = fenced
        self._ended = False
        self._ticks = False
        self._tail = ""

    def _find_end(self, text: str) -> int | None:
        if self._ended:
            return self._pass_fence(text, 0) if self._fenced else self._next_value(text)
        return self._scan_value(text)

    def _scan_value(self, text: str) -> int | None:
        seen_length, buffered_text, position = len(self._tail), self._tail + text, 0
        for match in self._end_markers.finditer(buffered_text) if self._end_markers else ():
            if match.end() <= seen_length:
                continue
            marker_start = max(0, match.start() - seen_length)
            value_end = self._scan.feed(text[position:marker_start])
            if value_end is not None:
                return self._end_value(text, position + value_end)
            position = marker_start
            if not self._scan.in_string:
                return match.end() - seen_length
        value_end = self._scan.feed(text[position:])
        self._tail = buffered_text[-self._reach :] if self._reach else ""
        return None if value_end is None else self._end_value(text, position + value_end)

    def _end_value(self, text: str, value_end: int) -> int | None:
        self._ended = True
        if self._fenced or not self._end_markers:
            return self._pass_fence(text, value_end) if self._fenced else value_end
        next_end = self._next_value(text[value_end:])
        return None if next_end is None else value_end + next_end

    def _next_value(self, text: str) -> int | None:
        """Go on with a value that follows; else the end is after the white space."""
        start = len(text) - len(text.lstrip())
        if start == len(text):
            return None
        if text[start] not in "{[":
            return start
        self._ended, self._scan, self._tail = False, JsonScan(), ""
        end = self._find_end(text[start:])
        return None if end is None else end + start

    def _pass_fence(self, text: str, position: int) -> int | None:
        """Past the closing fence, but not past the white space after it."""
        while position < len(text):
            is_backtick = text[position] == "`"
            if not is_backtick and (self._ticks or not text[position].isspace()):
                return position
            self._ticks = self._ticks or is_backtick
            position += 1
        return None


LEAD_TAG = Expression(
    rf"<{TAG}(?:function|invoke|arg_key)(?![a-z_])|<atem:function_calls>|<tool_name>|<\|open\|>call\b"
    rf"|(?:<tool_call>\s{{0,20}})?[\w.\-:/]{{1,100}}\s{{0,20}}(?:<tool_sep>|</?{TAG}(?:arg_key|tool_call)>)"
    r"|<ifm\|/tool_call>"
)
UNDECIDED = Expression(
    r"(?:<tool_call>\s{0,20})?(?:[\w.\-:/]{0,100}\s{0,20})?(?:<(?:\|open\|>)?[^<>=]{0,40})?\Z"
)
LINE = Expression(r"[\w.\-/]{1,100}\(")


def begins_call(text: str, tools: Tools, lines: bool) -> bool:
    """Tell whether the first characters of a section may be those of a call; they may be few."""
    text = text.lstrip()
    if text[:1] in ("{", "["):
        return may_begin_request(text, tools)
    decided = LEAD_TAG.match(text) or UNDECIDED.match(text)
    return bool(decided or (lines and LINE.match(text)))


def make_section_end(end_markers: Sequence[str], tools: Tools, lines: bool = False) -> EndDetector:
    """Ends as its content says: JSON, tags, or (with `lines`) lines of calls."""

    def decide(held: str) -> HeadDecision:
        first_character = held.lstrip()[:1]
        if not first_character:
            return None
        if first_character in "{[":
            return JsonSectionEnd(*end_markers), 0
        if lines and first_character != "<":
            return MarkerEnd(*end_markers, skips_strings=True), 0
        return RawSectionEnd(*end_markers), 0

    return LeadEnd(lambda begun_text: begins_call(begun_text, tools, lines), HeldEnd(decide))


def make_tag_end(end_markers: Sequence[str], tag_end: str = ">") -> EndDetector:
    """A tag that holds a name, which the opener began; then raw values or JSON."""

    def decide(held: str) -> HeadDecision:
        head, _, inner = held.partition(tag_end)
        if len(head) > MAX_HEAD_LENGTH or (tag_end == ">" and "<" in head):
            return -1
        first_character = inner.lstrip()[:1]
        if not first_character:
            return None
        body = JsonSectionEnd if first_character in "{[" else RawSectionEnd
        return body(*end_markers), len(head) + len(tag_end)

    return HeldEnd(decide)


NO_HEAD = Expression(r"[^\w.\-:/\s<>|=`\uff5c\u2581\u273f]")
MAX_HEAD_LENGTH = 300


def make_headed_end(
    opener: str,
    *end_markers: str,
    heads: Sequence[Expression],
    other: tuple[str, Callable[[], EndDetector]] | None = None,
) -> EndDetector:
    """Markers and a name, then a JSON value: ends with the value or at a closer.

    `heads` are what may stand before the value, the opener included; `other` is what may stand
    instead of a value, and what finds its end.
    """
    beginnings = ["{", "[", *end_markers]
    if other:
        beginnings.append(other[0])
    begins = any_of(*beginnings)

    def decide(held: str) -> HeadDecision:
        match = begins.search(held)
        head = held[: match.start()] if match else held
        if len(head) > MAX_HEAD_LENGTH or NO_HEAD.search(head):
            return -1
        if match is None:
            return None
        if match[0] in end_markers:
            return match.end()
        if other and match[0] == other[0]:
            return other[1](), match.start()
        if any(pattern.fullmatch(opener + head) for pattern in heads):
            return JsonSectionEnd(*end_markers, fenced="```" in head), match.start()
        return -1

    return HeldEnd(decide)


def make_begun_end(opener: str, first: str = "\"'}") -> EndDetector:
    """A JSON value whose first bracket is part of the opener; `first` are what may follow it."""
    return LeadEnd(begins_with(first), JsonScan(opener[-1]))


def make_marked_end(tag: str, *end_markers: str) -> EndDetector:
    """Raw values in tags that have a marker before each; `tag` has to come first."""

    def may_begin(text: str) -> bool:
        return text.lstrip().startswith(tag) or tag.startswith(text.lstrip())

    return LeadEnd(may_begin, RawSectionEnd(*end_markers))


class NothingEnd:
    """The opener is all there is."""

    def feed(self, text: str) -> int | None:
        return 0
