"""Tell the tags of a call from those of whole calls that one of its values quotes.

A file about a notation holds examples of it, closers and all. Tags say which is which as brackets
do: a call that begins in an open value has to end before that value can.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from andy_cli.compiler.expression import Expression

TagKind = Literal["call", "end", "value", "value_end"]
"""A tag begins or ends a call (or the section of calls), or a value."""
TAG = r"(?:\w{1,20}[:|_])?(?:[|\uff5c]\w{1,20}[|\uff5c] ?)?"
VALUE = rf"<{TAG}(?:(?:parameter|param)(?:name)?|arg_value)[\s=>\u0120]|<\|open\|>argument\s"
"""Begins a raw value."""
CALLS = {
    "</function>": rf"<{TAG}function[\s=\u0120]",
    "</invoke>": rf"<{TAG}invoke[\s=\u0120]",
    "<|close|>call<|sep|>": r"<\|open\|>call\s",
    "</tool_call>": rf"<{TAG}tool_call>\s{{0,9}}[\w.\-:/]{{1,60}}\s{{0,9}}"
    rf"(?:<tool_sep>\s{{0,9}})?<{TAG}arg_key>",
}
"""Begins a call, by what ends it."""
TAGS = (
    rf"(?P<value>{VALUE})|(?P<value_end></{TAG}(?:parameter|param|arg_value)\s{{0,9}}>"
    rf"|<ifm\|/arg_value>|<\|close\|>argument<\|sep\|>)|(?P<call>{'|'.join(CALLS.values())})"
    rf"|</{TAG}(?:invoke|function|tool_calls?|function_calls?|call)\s{{0,9}}>"
    r"|<ifm\|/tool_call>|<\|close\|>call<\|sep\|>"
)
"""Begins or ends a value or a call; the last ones end a call."""
KINDS: Mapping[str | None, TagKind] = {
    "value": "value",
    "value_end": "value_end",
    "call": "call",
    "other_value": "value",
    "other_call": "call",
}
OTHERS = ("other_value", "other_call")
"""The groups of `make_other_tags`."""
WRAPPER = r"</?(?:\w{1,20}[:|_])?(?:tool_calls?|function_calls?)\s{0,9}>"
NEARBY = Expression(rf"(?:\s|{WRAPPER})*")
"""The text between two tags of which one comes right after the other."""
BEHIND_CALL = Expression(
    rf"(?:[^<>]{{0,200}}(?:(?<!/)>|<\|sep\|>|</\w{{0,20}}arg_key>))?(?:\s|{WRAPPER})*"
)
"""The text between the beginning of a call's tag and the next tag: the rest of it, and a key; one
that ends itself begins nothing."""
MAX_GAP = 300
"""Characters between two such tags."""


class QuotedCalls:
    """Takes the tags of a text in order, and keeps count of the calls that a value quotes."""

    def __init__(self, in_value: bool = False) -> None:
        self._depth = 0
        self._in_value = in_value
        self._may_begin = False  # a call's tag came in an open value, and nothing after it
        self._last: TagKind = "call"
        self._was_quoted = False
        self.found = False
        """A value quoted one, or seemed to."""

    def take(self, kind: TagKind, gap_text: str) -> bool:
        """Tell whether a tag belongs to what a value quotes.

        `gap_text`: what stands between it and the tag before, or the end of that.
        """
        nearby = BEHIND_CALL if self._last == "call" else NEARBY
        follows = len(gap_text) <= MAX_GAP and nearby.fullmatch(gap_text) is not None
        if self._may_begin and follows and kind in ("value", "end"):
            self._depth += 1
            self.found = True
        is_quoted = (
            self._take_quoted(kind, follows) if self._depth else self._take_own(kind, follows)
        )
        self._last, self._was_quoted = kind, is_quoted
        return is_quoted

    def _take_quoted(self, kind: TagKind, follows: bool) -> bool:
        self._may_begin = kind == "call"
        if kind == "end" and not (follows and self._last == "end"):  # one end may have two tags
            self._depth -= 1
        return True

    def _take_own(self, kind: TagKind, follows: bool) -> bool:
        self._may_begin = False
        if follows and self._last in ("value_end", "end"):
            return self._take_behind_end(kind)
        if kind == "call":
            self._may_begin = self._in_value
        self._in_value = kind == "value" or (kind != "call" and self._in_value) or self._may_begin
        return self._may_begin

    def _take_behind_end(self, kind: TagKind) -> bool:
        """Take a tag right behind one that ends something; behind a quoted call, more of that."""
        if not self._was_quoted:
            self._in_value = kind == "value"
            return False
        self._may_begin = kind == "call"
        return kind in ("call", "end")


def make_other_tags(call_end: str) -> str:
    """Make an expression for what begins the values of other notations and their calls, as far as
    `call_end` ends these too: then they are told apart by counting alone.
    """
    end_tag = re.compile(call_end)
    calls = [call for closer, call in CALLS.items() if end_tag.fullmatch(closer)]
    return f"(?P<other_value>{VALUE})|(?P<other_call>{'|'.join(calls) or '(?!)'})"


def kind_of_tag(tag: re.Match[str]) -> TagKind:
    """Tell what one of the `TAGS` begins or ends."""
    return KINDS.get(tag.lastgroup, "end")


def find_own_tags(
    text: str, tags: re.Pattern[str], start: int = 0, in_value: bool = False
) -> Iterator[re.Match[str]]:
    """Find the tags of a call, without those of the calls that a value quotes.

    `start`: where in the text to begin; `in_value`: a value is open there.
    """
    quoted_calls, tag_end = QuotedCalls(in_value), start
    for tag in tags.finditer(text, start):
        gap_text, tag_end = text[tag_end : tag.start()], tag.end()
        if not quoted_calls.take(kind_of_tag(tag), gap_text):
            yield tag
