"""Read what stands in the frame of a call, whichever notation it is written in.

A frame says where a call begins and ends, its content how the arguments are written, and models
mix the two: JSON in `<function=x>`, `key: value` lines in `<tool_call>`. So each is read on its
own. Everything has to be explained: a call with something left over is no call with fewer
arguments, it is unreadable.
"""

import html
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from andy_cli.compiler.bodies import calls, json_text, python_calls
from andy_cli.compiler.bodies.calls import clean_tool_name, declared_properties, parameters_schema
from andy_cli.compiler.bodies.end_detectors import JsonScan
from andy_cli.compiler.bodies.typed import add_value, allowed_kinds, parse_typed, parse_untyped
from andy_cli.compiler.dialect import Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import Schema, ToolRequest

PREFIX = r"(?:\w{1,20}[:|_])?(?:[|\uff5c]\w{1,20}[|\uff5c] ?)?"
FRAME = Expression(
    rf"(?:\s|\\n|</?{PREFIX}(?:tool_?calls?|function_?calls?|tool_use|toolcall|tools?|calls?|action"
    r"|tool-call|function-call|TOOLCALL)\s{0,9}/?>"
    r"|function\s{0,9}<[\uff5c|]tool[\u2581_]sep[\uff5c|]>"
    r"|<\|(?:open|close)\|>(?!call\s)[^<>|]{1,60}<\|sep\|>"
    r"|(?!<\|open\|>call\s)<\|[\w:./\-]{1,60}\|>|<\uff5c[\w\u2581]{1,40}\uff5c>|<\|[a-z_]{2,30}>|<[a-z_]{2,30}\|>"
    r"|\[/?[A-Z]{2,12}_?[A-Z]{0,12}\]|<ifm\|/?\w{1,20}>|```\w{0,20}|[,;])+",
    0,
)
"""Framing that may stand around calls and says nothing about them."""
NAME = r"[^<>\"'=\s/]{1,200}"
SECTION = Expression(
    r"<\|open\|>(?P<tag>call)\s{1,9}tool=\"(?P<name>[^<>\"]{1,300})\"(?P<rest>[^<>]{0,99})<\|sep\|>"
    r"(?P<empty>)"
)
"""The same with the tokens of Kimi K3."""
TAG = Expression(
    rf"<(?P<tag>{PREFIX}(?:function|invoke|tool|call|tool_call|function_call|action))"
    rf"(?:\s{{0,9}}=\s{{0,9}}|[\s\u0120]{{0,9}}\b(?:name|tool)\s{{0,9}}=\s{{0,9}})"
    rf"[\"']?(?P<name>{NAME})[\"']?(?P<rest>\s[^<>]{{0,300}}?)?\s{{0,9}}(?P<empty>/?)>"
)
"""A tag that holds the name of a tool."""
KEYED_NAME = Expression(
    r"<(?P<tag>name|tool_name|function_name|tool|function)>\s*(?P<name>[^<>\s]{1,200})\s*</(?P=tag)>"
)
"""The name of a tool as an element of its own."""
PLAIN_NAME = Expression(
    r"(?:call[: ]\s*|functions?[.:=]\s*)?(?P<name>[A-Za-z_](?:[\w.\-/]|\\_)*)(?::\d{1,4})?"
    r"\s*(?:<tool_sep>|\[ARGS\])?"
)
ATTRIBUTE = Expression(r"\s*([\w.\-]{1,100})\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>]+))")
PARAMETER = Expression(
    rf"<(?P<tag>{PREFIX}(?:parameter|param|argument|arg))"
    r"(?:\s{0,9}=\s{0,9}|[\s\u0120]{0,9}\b(?:name|key)\s{0,9}=\s{0,9})"
    r"[\"']?(?P<key>[^<>\"'\n]{1,200}?)[\"']?(?P<rest>\s[^<>]{0,300}?)?\s{0,9}(?P<empty>/?)>"
)
PAIR = Expression(
    rf"<{PREFIX}arg_key>\s*(?P<key>[^<>\n]{{1,200}}?)\s*</?{PREFIX}/?arg_key>\s*"
    rf"<(?P<tag>{PREFIX}arg_value)>"
)
CHILD = Expression(
    r"<(?P<tag>[A-Za-z_](?:[\w.\-]|\\_){0,100})(?P<rest>\s[^<>]{0,300}?)?\s?(?P<empty>/?)>"
)
WRAPPER = Expression(r"<(parameters|arguments|args|params|input|kwargs)>(.*?)(?:</\1>)?\s*\Z", 16)
LINE = Expression(
    r"[ \t]*(?:[-*\u2022][ \t]+)?[\"'`*]{0,3}(?P<key>[A-Za-z_](?:[\w.\-]|\\_){0,100})[\"'`*]{0,3}"
    r"[ \t]*(?P<sign>[:=])[ \t]*(?P<value>.*)"
)
VALUE = Expression(r"\bvalue\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
LARGEST = 200_000
"""Characters of one frame that are looked at in this way."""


class FrameContents(NamedTuple):
    """The calls of a frame, and the texts in it that could not be read."""

    requests: tuple[ToolRequest, ...] = ()
    unread: tuple[str, ...] = ()
    text: str = ""
    """Words behind the last call, where nothing closed the frame."""


def read_contents(text: str, tools: Tools, closed: bool = False) -> FrameContents:
    """Read all calls of a frame, its own markers included.

    `closed`: its end is where it was meant to end, though no marker may say so.
    """
    if len(text) > LARGEST:
        return FrameContents(unread=(text,))
    requests: list[ToolRequest] = []
    unread: list[str] = []
    at = _skip_blanks(text, 0)
    while at < len(text):
        read = _read_next(text, at, tools, closed)
        if read is None:
            return _end_in_words(text, at, FrameContents(tuple(requests), tuple(unread)))
        if not (read.closed or all(map(partial(_is_full, tools), read.requests))):
            return FrameContents(tuple(requests), (*unread, text[at : read.end]))
        requests += read.requests
        if not (read.requests or read.empty):
            unread.append(text[at : read.end])
        at = _skip_blanks(text, read.end)
    if unread:  # what could not be read may be what one of the others lacks
        requests = [*filter(partial(_is_full, tools), requests)]
    return FrameContents(tuple(requests), tuple(unread))


def _end_in_words(text: str, at: int, before: FrameContents) -> FrameContents:
    """End a frame where no call begins: words of an answer behind its calls, or a part unread."""
    rest = text[at:]
    if before.requests and rest[0].isalnum() and not END.search(text, at):
        return before._replace(text=rest)
    return before._replace(unread=(*before.unread, rest))


class _ReadCall(NamedTuple):
    """One call; without requests, and not empty, it could not be read."""

    end: int
    requests: tuple[ToolRequest, ...] = ()
    empty: bool = False
    closed: bool = True


def _skip_blanks(text: str, at: int) -> int:
    frame = FRAME.compiled.match(text, at)
    return frame.end() if frame else at


def _read_next(text: str, at: int, tools: Tools, closed: bool) -> _ReadCall | None:
    """Read the call that begins here; one without requests could not be read."""
    if text[at] in "{[":
        return _read_json(text, at, tools)
    if tag := TAG.compiled.match(text, at) or SECTION.compiled.match(text, at):
        return _read_element(text, tag, tag["name"], tools, closed)
    if keyed := KEYED_NAME.compiled.match(text, at):
        return _read_named(text, keyed, _end_of_body(text, keyed.end()), tools, closed)
    child = CHILD.compiled.match(text, at)
    if child and clean_tool_name(child["tag"], tools) in tools:
        return _read_element(text, child, child["tag"], tools, closed)
    plain = PLAIN_NAME.compiled.match(text, at)
    if plain and _begins_plain_call(text, plain, tools):
        return _read_named(text, plain, _end_of_named(text, plain.end()), tools, closed)
    return None


def _begins_plain_call(text: str, name: re.Match[str], tools: Tools) -> bool:
    return clean_tool_name(name["name"], tools) in tools or text.startswith("{", name.end())


def _read_named(text: str, name: re.Match[str], end: int, tools: Tools, closed: bool) -> _ReadCall:
    """Read a call whose arguments stand from behind its name to `end`."""
    body = text[name.end() : end]
    return _make_call(name["name"], body, end, tools, closed=closed or end < len(text))


def _read_json(text: str, at: int, tools: Tools) -> _ReadCall:
    """Read a JSON value, or the list of Python calls that stands in its place."""
    end = JsonScan().feed(text, at) or len(text)
    written = text[at:end]
    if written[1:-1].strip() == "":
        return _ReadCall(end, empty=True)
    for value in _json_readings(written):
        requests = calls.read_requests(value, tools) or python_calls.read_texts(value, tools)
        if requests:
            return _ReadCall(end, tuple(requests))
    found = python_calls.read_python_calls(written, tools, known=False)
    if not found and (line := NEXT_OBJECT.search(written, 1)):
        return _ReadCall(at + line.start())  # one a line: the others may be whole
    return _ReadCall(end, tuple(found or ()))


NEXT_OBJECT = Expression(r"\n[ \t]*(?=\{\s*[\"'])")


def _json_readings(written: str) -> Iterator[object]:
    yield from json_text.possible_values(written)
    if '\\"' in written:
        yield from json_text.possible_values(json_text.unescape_once(written))


def _read_element(
    text: str, tag: re.Match[str], name: str, tools: Tools, closed: bool
) -> _ReadCall:
    """Read a call that is an element: attributes beside its name are arguments too."""
    attributes = tag["rest"] or ""
    beside = {
        key: html.unescape(double or single or bare)
        for key, double, single, bare in ATTRIBUTE.compiled.findall(attributes)
    }
    if ATTRIBUTE.sub("", attributes).strip():
        return _ReadCall(tag.end())
    if tag["empty"]:
        return _make_call(name, "", tag.end(), tools, beside)
    close, end = _find_closer(text, tag)
    return _make_call(
        name, text[tag.end() : close], end, tools, beside, closed or close < len(text)
    )


def _find_closer(text: str, tag: re.Match[str]) -> tuple[int, int]:
    """Find where an element's closer begins and ends; without one both are the end of its body."""
    in_tokens = tag.re is SECTION.compiled
    start, last = ("<|close|>call", "<|sep|>") if in_tokens else (f"</{tag['tag']}", ">")
    close = text.find(start, tag.end())
    if close < 0:
        end = _end_of_body(text, tag.end())
        return end, end
    found = text.find(last, close)
    return close, found + len(last) if found >= 0 else len(text)


END = Expression(
    rf"</{PREFIX}(?:tool_?calls?|function_?calls?|invoke|function|calls?|tool_use)\s{{0,9}}>"
    r"|<[\uff5c|]tool[\u2581_]calls?[\u2581_]end[\uff5c|]>"
    r"|<\|(?:tool_call|call|tool_calls_section|action)_?end\|>|<tool_call\|>|<end_function_call>"
)


def _end_of_body(text: str, at: int) -> int:
    end = END.compiled.search(text, at)
    return end.start() if end else len(text)


def _end_of_named(text: str, at: int) -> int:
    """The end of what follows a plain name: a value ends itself, else the frame ends it."""
    start = at + len(text[at:]) - len(text[at:].lstrip())
    if text[start : start + 1] in ("{", "[", "("):
        end = (
            python_calls.call_end(text, start + 1) + 1
            if text[start] == "("
            else JsonScan().feed(text, start)
        )
        return end or len(text)
    return _end_of_body(text, at)


def _make_call(
    name: str,
    body: str,
    end: int,
    tools: Tools,
    beside: Mapping[str, str] | None = None,
    closed: bool = True,
) -> _ReadCall:
    known = clean_tool_name(html.unescape(name), tools)
    arguments = read_arguments(body, known, tools, closed)
    if arguments is None:
        return _ReadCall(end)
    schemas = declared_properties(tools[known]) if known in tools else {}
    for key, value in (beside or {}).items():
        if key in schemas and key not in arguments:
            arguments[key] = parse_typed(value, schemas[key])
    return _ReadCall(end, (ToolRequest(known, arguments),), closed=closed)


def _is_full(tools: Tools, request: ToolRequest) -> bool:
    """Tell whether a call that nothing closes may be taken: nothing that it needs is missing."""
    needed = parameters_schema(tools.get(request.name)).get("required") or ()
    return set(needed) <= set(request.arguments or {})


def read_arguments(
    text: str, name: str, tools: Tools, closed: bool = True
) -> dict[str, object] | None:
    """Read the arguments of one call in any of the notations; None if something is left over.

    What does not end by itself is only read where the frame is `closed`: else it was cut off.
    """
    text = _without_frames(text)
    tool = tools.get(name)
    if not text:
        return {}
    for read in READERS if closed else ENDING:
        arguments = read(text, name, tool)
        if arguments is not None:
            return arguments
    return None


TOKENS = Expression(r"(?:\s|<\|[\w:./\-]{1,60}\|>|<\uff5c[\w\u2581]{1,40}\uff5c>|\[ARGS\])+")


def _without_frames(text: str) -> str:
    text = TOKENS.sub("", text, count=1) if TOKENS.match(text) else text
    text = text.strip()
    while text.startswith("\\n"):
        text = text[2:].lstrip()
    while text.endswith("\\n"):
        text = text[:-2].rstrip()
    return text.removeprefix("```json").strip("`").strip() if text.startswith("```") else text


def _as_json(text: str, name: str, tool: Schema | None) -> dict[str, object] | None:
    if text[:1] not in '{["':
        return None
    if text[:1] == "{" and JsonScan().feed(text) not in (None, len(text)):
        return None
    for value in _json_readings(text):
        arguments = calls.read_argument_object(value, tool)
        if arguments is not None and not (tool is None and isinstance(value, list)):
            return arguments
    return None


def _as_python(text: str, name: str, tool: Schema | None) -> dict[str, object] | None:
    if text[:1] == "(" and text[-1:] == ")":
        text = text[1:-1]
    elif not (KEYWORD.match(text) or BARE_WORDS.fullmatch(text)):
        return None
    found = python_calls.parse_calls(f"f({text})", {"f": tool} if tool else {})
    return dict(found[0].arguments or {}) if found and len(found) == 1 else None


KEYWORD = Expression(r"\s*[A-Za-z_]\w*\s*=(?!=)\s*[\"'\[{(\d\-TFN]")
BARE_WORDS = Expression(r"\s*[A-Za-z_]\w*\s*=(?!=)[^\n,]+(?:,[ \t]*[A-Za-z_]\w*\s*=(?!=)[^\n,]+)+")


def _as_elements(text: str, name: str, tool: Schema | None) -> dict[str, object] | None:
    """Read elements, one for each argument; one that is repeated makes a list."""
    if not text.startswith("<"):
        return None
    known = declared_properties(tool) if tool else {}
    root = parameters_schema(tool)
    wrapped = WRAPPER.compiled.match(text)
    if wrapped and wrapped[1] not in known:
        return read_arguments(wrapped[2], name, {name: tool} if tool else {})
    found: dict[str, object] = {}
    at = 0
    while text[at:].strip():
        at = len(text) - len(text[at:].lstrip())
        opened = _match_argument_tag(text, at, tool)
        if opened is None:
            return None
        key, value, at = _read_argument_element(text, opened)
        if _holds_another(value, {key, *found}, tool):
            return None
        schema = known.get(key)
        if not add_value(found, key, parse_typed(value, schema, root), schema, root):
            return None
    return found


def _match_argument_tag(text: str, at: int, tool: Schema | None) -> re.Match[str] | None:
    named = PARAMETER.compiled.match(text, at) or PAIR.compiled.match(text, at)
    if named is not None:
        return named
    child = CHILD.compiled.match(text, at)
    return child if child is not None and _may_be_key(child["tag"], tool) else None


def _read_argument_element(text: str, opened: re.Match[str]) -> tuple[str, str, int]:
    """(the argument's name, its value as written, where the element ends)."""
    groups = opened.groupdict()
    key = html.unescape((groups.get("key") or groups["tag"]).replace("\\_", "_").strip())
    if groups.get("empty"):
        attribute = VALUE.search(groups.get("rest") or "")
        value = html.unescape(attribute[1] or attribute[2] or "") if attribute else ""
        return key, value, opened.end()
    value, end = _element_value(text, opened.end(), groups["tag"], key)
    return key, value, end


def _holds_another(value: str, given: set[str], tool: Schema | None) -> bool:
    """Tell whether a value goes on beyond its closer to another argument of the tool."""
    _, closer, rest = value.partition("</")
    names = set(declared_properties(tool)) - given if tool and closer else set()
    return any(tag["key"] in names for form in (PARAMETER, PAIR) for tag in form.finditer(rest))


def _as_closed_elements(text: str, name: str, tool: Schema | None) -> dict[str, object] | None:
    return _as_elements(text, name, tool) if LAST_CLOSED.search(text) else None


LAST_CLOSED = Expression(r"(?:</[^<>]{0,200}|/)>\s*\Z")


def _may_be_key(tag: str, tool: Schema | None) -> bool:
    """Tell whether an element may be named after an argument: not where the tool has none of it."""
    return (
        tool is None
        or not declared_properties(tool)
        or tag.replace("\\_", "_") in declared_properties(tool)
    )


def _element_value(text: str, start: int, tag: str, key: str) -> tuple[str, int]:
    """The text up to the closer that another argument, or nothing, follows."""
    at = start
    while True:
        places = (text.find(f"</{tag}", at), text.find(f"</{key}", at))
        found = [place for place in places if place >= 0]
        if not found:
            break
        close = min(found)
        end = text.find(">", close) + 1 or len(text)
        if not text[end:].strip() or text[end:].lstrip().startswith("<"):
            return _strip_framing(text[start:close]), end
        at = end
    nearest = [m.start() for form in (PARAMETER, PAIR) if (m := form.compiled.search(text, start))]
    end = min(nearest, default=len(text))
    return _strip_framing(text[start:end]), end


def _strip_framing(value: str) -> str:
    value = value.removeprefix("\n").removesuffix("\n")
    if value.startswith("<![CDATA[") and value.endswith("]]>"):
        return value[9:-3]
    return value


def _as_lines(text: str, name: str, tool: Schema | None) -> dict[str, object] | None:
    """Read `key: value` a line; what a line without a key continues is a value over lines."""
    known = declared_properties(tool) if tool else {}
    found = _split_lines(text, known if tool else None)
    if not found:
        return None
    if not tool:
        return {key: parse_untyped(value) for key, value in found.items()}
    root = parameters_schema(tool)
    return {
        key: parse_typed(_strip_quotes(value), known[key], root) for key, value in found.items()
    }


def _split_lines(text: str, known: Collection[str] | None) -> dict[str, str] | None:
    """Split lines into keys and values as written; None where a line belongs to no key.

    Only `known` keys count, where they are known.
    """
    found: dict[str, str] = {}
    last = ""
    for line in filter(str.strip, text.split("\n")):
        pair = LINE.fullmatch(line.rstrip("\r"))
        if pair and _holds_another_key(pair, known or ()):
            return None
        key = pair["key"].replace("\\_", "_") if pair else ""
        if pair and (known is None or key in known):
            found[key], last = pair["value"].strip(), key
        elif last:
            found[last] = f"{found[last]}\n{line}".lstrip("\n")
        else:
            return None
    return found


def _holds_another_key(pair: re.Match[str], known: Collection[str]) -> bool:
    """Tell whether several arguments stand on one line."""
    return any(f" {key}{pair['sign']}" in pair["value"] for key in known)


def _strip_quotes(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'`" and text[0] not in text[1:-1]:
        return text[1:-1]
    return text


def _as_only_text(text: str, name: str, tool: Schema | None) -> dict[str, object] | None:
    """Read a tool's one text: raw code for `python`."""
    known = declared_properties(tool) if tool else {}
    if len(known) != 1 or text[:1] in '{[<"':
        return None
    ((key, schema),) = known.items()
    return {key: text} if "string" in allowed_kinds(schema, parameters_schema(tool)) else None


Read = Callable[[str, str, Schema | None], dict[str, object] | None]
ENDING: tuple[Read, ...] = (_as_json, _as_closed_elements)
READERS: tuple[Read, ...] = (_as_json, _as_elements, _as_python, _as_lines, _as_only_text)
"""Tried in this order; what stands there decides, as each wants another beginning."""
