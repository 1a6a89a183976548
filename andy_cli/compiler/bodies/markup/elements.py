"""Calls written as elements, `<function=NAME><parameter=KEY>VALUE</parameter></function>` and kin.

The value is the text between the tags, neither JSON nor escaped: its type comes from the schema.
Not an XML reader: models drop closers, close the wrong element, and quote tags in values. So a
value goes on until a closer that another tag of the call follows.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from andy_cli.compiler.bodies.calls import (
    clean_tool_name,
    declared_properties,
    parameters_schema,
    unwrap_arguments,
)
from andy_cli.compiler.bodies.markup.quoted_calls import (
    NEARBY,
    OTHERS,
    QuotedCalls,
    TagKind,
    find_own_tags,
    kind_of_tag,
    make_other_tags,
)
from andy_cli.compiler.bodies.typed import add_value, parse_typed, parse_untyped
from andy_cli.compiler.dialect import Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import Schema, ToolRequest


class TagSyntax(NamedTuple):
    """The tags of a family, as expressions with the groups `name`, `key` and perhaps `type`."""

    call: str
    """Opens a call."""
    call_end: str
    """Ends a call, or the section that holds calls."""
    parameter: str
    """Opens a value."""
    parameter_end: str
    """Ends a value; with a group `of` only that of this key."""
    framing: bool = True
    """Line breaks right inside the tags are no part of the value."""
    lone: bool = False
    """Values are framed on either side alone, not only on both."""
    escaped: bool = False
    """Names and keys are escaped as in XML."""
    quoted: bool = False
    """A text may be written as a JSON string."""


# Blanks and names are bounded: an expression that may run to the end of the text from every `<`
# would take the square of its length.
S = r"\s{0,20}"
PREFIX = r"(?:\w{1,20}:|[|\uff5c]\w{1,20}[|\uff5c]\ ?)?"
NAME = r"[^<>\"'\n]{1,200}"
SECTION = r"</(?:\w{1,20}[:|_])?(?:tool_calls?|function_calls?)\s{0,9}>"

FUNCTION = TagSyntax(
    call=rf"<function{S}={S}[\"']?(?P<name>[^<>\"'\s]{{1,200}})[\"']?{S}(?:>|(?=<parameter))",
    call_end=rf"</function{S}>|{SECTION}",
    parameter=rf"<parameter{S}={S}[\"']?(?P<key>{NAME}?)[\"']?{S}>",
    parameter_end=rf"</parameter{S}>",
    lone=True,
)
INVOKE = TagSyntax(
    call=rf"<{PREFIX}invoke{S}\bname{S}={S}[\"']?(?P<name>{NAME}?)[\"']?(?:\s[^<>]{{0,200}})?>",
    call_end=rf"</{PREFIX}(?:invoke|tool_calls?|function_calls?|calls){S}>",
    parameter=rf"<{PREFIX}parameter{S}\bname{S}={S}[\"']?(?P<key>{NAME}?)[\"']?"
    rf"(?P<rest>\s[^<>]{{0,200}})?(?<!/)>",
    parameter_end=rf"</{PREFIX}parameter{S}>",
)
NAMED_FUNCTION = TagSyntax(
    call=rf"<function[\s\u0120]{{0,9}}name{S}={S}[\"']?(?P<name>{NAME}?)[\"']?{S}>",
    call_end=rf"</function{S}>|{SECTION}",
    parameter=rf"<param(?:eter)?[\s\u0120]{{0,9}}name{S}={S}[\"']?(?P<key>{NAME}?)[\"']?"
    rf"(?P<rest>\s[^<>]{{0,200}})?(?<!/)>",
    parameter_end=rf"</param(?:eter)?{S}>",
)
IN_PAIR = r"(?:ifm\||longcat_|iquest_)?"
PAIRS = TagSyntax(
    call=rf"<{IN_PAIR}tool_call>{S}(?P<name>[\w.\-:/]{{1,200}}){S}(?:<tool_sep>{S})?"
    rf"(?=<{IN_PAIR}arg_key>|<{IN_PAIR}/tool_call>|</{IN_PAIR}tool_call>|{S}\Z)",
    call_end=rf"</{IN_PAIR}tool_calls?>|<ifm\|/tool_calls?>",
    parameter=rf"<{IN_PAIR}arg_key>{S}(?P<key>{NAME}?){S}(?:</{IN_PAIR}|<ifm\|/)arg_key>{S}"
    rf"(?:<{IN_PAIR}arg_type>[^<>]{{0,40}}(?:</{IN_PAIR}|<ifm\|/)arg_type>{S})?"
    rf"(?:<{IN_PAIR}arg_value>)",
    parameter_end=rf"</{IN_PAIR}arg_value>|<ifm\|/arg_value>",
    framing=False,
    quoted=True,
)
CHILDREN = TagSyntax(
    call=rf"<tool_name>{S}(?P<name>{NAME}?){S}</tool_name>{S}(?:<parameters>)?",
    call_end=rf"</parameters>|</{PREFIX}(?:invoke|function_calls?)>",
    parameter=r"<(?P<key>[A-Za-z_][\w.\-]{0,100})>",
    parameter_end=r"</(?P<of>[A-Za-z_][\w.\-]{0,100})>",
)
SECTIONED = TagSyntax(
    call=r"<\|open\|>call\s{1,9}tool=\"(?P<name>[^<>\"]{1,300})\"[^<>]{0,99}<\|sep\|>",
    call_end=r"<\|close\|>(?:call|tools)<\|sep\|>",
    parameter=r"<\|open\|>argument\s{1,9}key=\"(?P<key>[^<>\"]{1,300})\""
    r"(?:\s{1,9}type=\"(?P<type>\w{1,30})\")?[^<>]{0,99}<\|sep\|>",
    parameter_end=r"<\|close\|>argument<\|sep\|>",
    framing=False,
    escaped=True,
)


WRAPPERS = Expression(r"</?(?:parameters|arguments|args|params)\s{0,9}>")
"""Tags that may stand around the values of a call and says nothing."""


@cache
def compile_tags(tags: TagSyntax) -> re.Pattern[str]:
    return re.compile(
        f"(?P<call>{tags.call})|(?P<end>{tags.call_end})"
        f"|(?P<value>{tags.parameter})|(?P<value_end>{tags.parameter_end})"
    )


@cache
def compile_all_tags(tags: TagSyntax) -> re.Pattern[str]:
    """Compile the same, with the tags of other notations that a value may quote."""
    return re.compile(f"{compile_tags(tags).pattern}|{make_other_tags(tags.call_end)}")


class FoundCalls(NamedTuple):
    """The calls of a text."""

    requests: tuple[ToolRequest, ...]
    incomplete: bool = False
    """There is one more that was cut off."""
    rest: str = ""
    """The text after the last call."""
    repairs: tuple[str, ...] = ()


@dataclass(slots=True)
class OpenElementCall:
    name: str
    tool: Schema | None
    arguments: dict[str, object] = field(default_factory=dict)
    closed: bool = False


class ElementReader:
    """Takes the tags of a text in order; what lies in an open value is data."""

    def __init__(self, text: str, tools: Tools, tags: TagSyntax, nested: bool) -> None:
        """`nested`: calls that a value quotes are whole, and their tags end nothing."""
        self._quoted_calls = QuotedCalls() if nested else None
        self._tag_end = 0
        self._text, self._tools, self._tags = text, tools, tags
        self._calls: list[OpenElementCall] = []
        self._value: re.Match[str] | None = None
        self._ended: re.Match[str] | None = None  # the closer that may be the value's
        self._at = 0
        self._repairs: list[str] = []
        self._torn = False  # there is text in a call that belongs to no value

    def take(self, tag: re.Match[str]) -> None:
        kind = kind_of_tag(tag)
        if self._stays_in_value(tag, kind) or tag.lastgroup in OTHERS:
            return
        open_call = self._calls[-1] if self._calls and not self._calls[-1].closed else None
        if open_call is not None:
            # Words between the tags of a call belong to no value: something of it is lost.
            self._torn = self._torn or self._is_text_before(tag)
        if kind == "call":
            name = clean_tool_name(self._clean_name(tag["name"]), self._tools)
            self._calls.append(OpenElementCall(name, self._tools.get(name)))
        elif open_call is not None:
            if kind == "value":
                self._value, self._ended = tag, None
            open_call.closed = kind == "end"
        self._at = tag.end()

    def _is_text_before(self, tag: re.Match[str]) -> bool:
        """Tell whether there is text between a tag and what was read last."""
        between = WRAPPERS.sub("", self._text[self._at : tag.start()]).strip()
        return between != "" and not (tag.lastgroup == "call" and NEARBY.fullmatch(between))

    def _stays_in_value(self, tag: re.Match[str], kind: TagKind) -> bool:
        """Tell whether a tag is data: a value is open and goes on, or quotes a call with it."""
        if self._value is None and tag.lastgroup in OTHERS:
            return False
        gap_text, self._tag_end = self._text[self._tag_end : tag.start()], tag.end()
        quoted_calls = self._quoted_calls
        is_quoted = quoted_calls is not None and quoted_calls.take(kind, gap_text)
        is_data = is_quoted or tag.lastgroup in OTHERS
        return self._value is not None and (is_data or not self._leaves_value(tag, kind))

    @property
    def seems_nested(self) -> bool:
        """A value seems to quote a call."""
        return self._quoted_calls is not None and self._quoted_calls.found

    def _leaves_value(self, tag: re.Match[str], kind: TagKind) -> bool:
        """Tell whether the tag stands outside the open value, which then is complete."""
        ended = self._ended
        if kind == "value_end":
            if tag.groupdict().get("of") in (None, self._open_key()):
                self._ended = tag
            return False
        if ended is not None and self._stands_behind(ended, tag):
            self._keep_ended(ended)
            return True
        if kind == "value":
            return ended is None and self._closes_unclosed(tag)
        if kind == "end" and (ended is None or ended.lastgroup == "end"):
            self._ended = tag  # the closer of a wrong element, if no better one follows
        return False

    def _stands_behind(self, ended: re.Match[str], tag: re.Match[str]) -> bool:
        """Tell whether nothing stands between the tags, or before a call what wraps it."""
        if tag.lastgroup == "call":
            return NEARBY.fullmatch(self._text[ended.end() : tag.start()]) is not None
        return blanks_between(self._text, ended.end(), tag.start())

    def _closes_unclosed(self, tag: re.Match[str]) -> bool:
        """End the open value before the next parameter, if it was never closed."""
        if not self._lacks_closer(tag):
            return False
        self._keep_value(tag.start())
        return True

    def _keep_ended(self, ended: re.Match[str]) -> None:
        """Keep the open value up to its closer, which may be that of the call too."""
        call = self._calls[-1]
        self._keep_value(ended.start())
        call.closed = call.closed or ended.lastgroup == "end"

    def _lacks_closer(self, tag: re.Match[str]) -> bool:
        """The next parameter begins though the value before it was never closed."""
        assert self._value is not None
        start, call = self._value.end(), self._calls[-1]
        key = self._clean_name(tag["key"])
        is_given = key in call.arguments or key == self._open_key()
        if is_given or key not in declared_properties(call.tool):
            return False
        if blanks_between(self._text, start, tag.start()):
            return False
        if self._tags.quoted:  # no value holds a tag for a key that the tool has
            return True
        # Qwen3-Coder at times leaves closers out: then each parameter begins a line.
        line_break = self._text.rfind("\n", max(start, tag.start() - MAX_WORD_LENGTH), tag.start())
        if line_break >= 0 and blanks_between(self._text, line_break, tag.start()):
            return True
        begun_value = self._text[start : min(tag.start(), start + MAX_WORD_LENGTH)]
        return tag.start() - start < MAX_WORD_LENGTH and begun_value.split() == [begun_value]

    def _keep_value(self, end: int) -> None:
        assert self._value is not None
        call = self._calls[-1]
        written = self._text[self._value.end() : end]
        value_text = strip_value_framing(written, self._tags)
        if self._ended is None and value_text == written:  # that break is before the next tag
            value_text = written.removesuffix("\n")
        self._torn |= self._holds_another(value_text)
        key = self._open_key()
        schema, root_schema = declared_properties(call.tool).get(key), parameters_schema(call.tool)
        value = parse_tagged_value(
            self._value, value_text, schema, root_schema, quoted=self._tags.quoted
        )
        self._torn |= not add_value(call.arguments, key, value, schema, root_schema)
        self._at = self._ended.end() if self._ended else end
        if self._ended is None or self._ended.lastgroup == "end":
            self._repairs.append(f"closed the value of {key}")
        self._value = self._ended = None

    def _holds_another(self, text: str) -> bool:
        """Tell whether a value goes on beyond its closer to another argument of the tool."""
        if "</" not in text:
            return False
        names, closer_seen = declared_properties(self._calls[-1].tool), False
        for tag in self._find_own_tags(text):
            key = self._clean_name(tag["key"]) if tag.lastgroup == "value" else ""
            is_given = key == self._open_key() or key in self._calls[-1].arguments
            if closer_seen and key in names and not is_given:
                return True
            closer_seen = closer_seen or tag.lastgroup == "value_end"
        return False

    def _find_own_tags(self, text: str) -> Iterator[re.Match[str]]:
        """Find the tags in a value that belong to no call that it quotes."""
        tags = compile_tags(self._tags)
        if self._quoted_calls:
            return find_own_tags(text, tags, in_value=True)
        return tags.finditer(text)

    def _open_key(self) -> str:
        assert self._value is not None
        return self._clean_name(self._value["key"])

    def _clean_name(self, name: str) -> str:
        return html.unescape(name) if self._tags.escaped else name.strip()

    def finish(self) -> FoundCalls | None:
        if not self._calls or self._torn:
            return None
        closing_tag = self._ended
        if closing_tag is not None and not self._text[closing_tag.end() :].strip():
            self._keep_ended(closing_tag)
            self._at = len(self._text)
        unread_text = self._text[self._at :]
        is_cut = self._value is not None or not self._is_whole(self._calls[-1], unread_text)
        whole_calls = self._calls
        if is_cut:
            whole_calls, unread_text = self._calls[:-1], ""
        requests = tuple(
            ToolRequest(name=call.name, arguments=unwrap_arguments(call.arguments, call.tool))
            for call in whole_calls
        )
        return FoundCalls(requests, is_cut, unread_text, tuple(self._repairs))

    def _is_whole(self, call: OpenElementCall, unread_text: str) -> bool:
        return call.closed or (not unread_text.strip() and has_all_parameters(call))


MAX_WORD_LENGTH = 60
"""Characters in which a value without a closer may be one word."""


def blanks_between(text: str, start: int, end: int) -> bool:
    blanks = BLANKS.compiled.match(text, start)
    return blanks is not None and blanks.end() >= end


BLANKS = Expression(r"\s*")


def has_all_parameters(call: OpenElementCall) -> bool:
    """Tell whether a call that nothing closes may be taken: it has all that it needs."""
    needed = set(parameters_schema(call.tool).get("required") or ())
    if not call.arguments:
        return call.tool is not None and not declared_properties(call.tool)
    return needed <= set(call.arguments)


def read_elements(text: str, tools: Tools, tags: TagSyntax) -> FoundCalls | None:
    """The calls in the text, in order; None if none begins."""
    reader, found_calls = _read_tags(text, tools, tags, nested=True)
    if reader.seems_nested and (found_calls is None or found_calls.incomplete):
        # A value may quote the beginning of a call alone: then the first closer was its own.
        _, plain_calls = _read_tags(text, tools, tags, nested=False)
        if plain_calls and not (plain_calls.incomplete or plain_calls.rest.strip()):
            return plain_calls
    return found_calls


def _read_tags(
    text: str, tools: Tools, tags: TagSyntax, nested: bool
) -> tuple[ElementReader, FoundCalls | None]:
    reader = ElementReader(text, tools, tags, nested)
    all_tags = compile_all_tags(tags) if nested else compile_tags(tags)
    for tag in all_tags.finditer(text):
        reader.take(tag)
    return reader, reader.finish()


STRING_ATTRIBUTE = Expression(r"\bstring\s{0,9}=\s{0,9}[\"']?(true|false)")


def parse_tagged_value(
    tag: re.Match[str],
    value_text: str,
    schema: Schema | None,
    root_schema: Schema,
    quoted: bool = False,
) -> object:
    """Typed by the tag where it says so (`string="true"`, `type="number"`), else by the schema."""
    kind = tag.groupdict().get("type") or _read_string_attribute(tag[0])
    if kind == "string":
        return value_text
    if kind == "json":
        return parse_untyped(value_text)
    return parse_typed(value_text, {"type": kind} if kind else schema, root_schema, quoted)


def _read_string_attribute(tag_text: str) -> str:
    """Read the type that `string="true"` or `string="false"` declares; empty without one."""
    declared = STRING_ATTRIBUTE.search(tag_text)
    if declared is None:
        return ""
    return "string" if declared[1] == "true" else "json"


def strip_value_framing(value: str, tags: TagSyntax) -> str:
    """Without the one line break after the tag and the one before its closer."""
    if tags.framing:
        value = strip_line_breaks(value, tags.lone)
        if value.startswith("<![CDATA[") and value.endswith("]]>"):
            return value[9:-3]
    return value


def strip_line_breaks(value: str, strip_single: bool) -> str:
    line_end = "\r\n" if value.startswith("\r\n") else "\n"
    has_both = value.startswith(line_end) and value.endswith("\n") and len(value) > 1
    if not has_both and not strip_single:
        return value
    return value.removeprefix(line_end).removesuffix(line_end)
