"""Read what stands in the frame of a call, whichever notation it is written in.

A frame says where a call begins and ends, its content how the arguments are written, and models
mix the two: JSON in `<function=x>`, `key: value` lines in `<tool_call>`. So each is read on its
own. Everything has to be explained: a call with something left over is no call with fewer
arguments, it is unreadable.
"""

import html
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

from andy_cli.compiler.bodies import calls, json_text, python_calls
from andy_cli.compiler.bodies.calls import clean_tool_name, declared_properties, parameters_schema
from andy_cli.compiler.bodies.markup.quoted_calls import TAGS, find_own_tags
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
"""A tag that holds the name of a tool, with the tokens of Kimi K3."""
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
MAX_CHARACTERS = 200_000
"""Characters of one frame that are looked at in this way."""


class FrameContents(NamedTuple):
    """The calls of a frame, and the texts in it that could not be read."""

    requests: tuple[ToolRequest, ...] = ()
    unread: tuple[str, ...] = ()
    text: str = ""
    """Words after the last call, where nothing closed the frame."""


def read_contents(frame_text: str, tools: Tools, is_closed: bool = False) -> FrameContents:
    """Read all calls of a frame, its own markers included.

    `is_closed`: its end is where it was meant to end, though no marker may say so.
    """
    if len(frame_text) > MAX_CHARACTERS:
        return FrameContents(unread=(frame_text,))
    requests: list[ToolRequest] = []
    unread_parts: list[str] = []
    position = _skip_blanks(frame_text, 0)
    while position < len(frame_text):
        read_call = _read_next(frame_text, position, tools, is_closed)
        if read_call is None:
            return _end_in_words(
                frame_text, position, FrameContents(tuple(requests), tuple(unread_parts))
            )
        if not (read_call.is_closed or all(map(partial(_is_full, tools), read_call.requests))):
            return FrameContents(
                tuple(requests), (*unread_parts, frame_text[position : read_call.end_position])
            )
        requests += read_call.requests
        if not (read_call.requests or read_call.is_empty):
            unread_parts.append(frame_text[position : read_call.end_position])
        position = _skip_blanks(frame_text, read_call.end_position)
    if unread_parts:  # what could not be read may be what one of the others lacks
        requests = list(filter(partial(_is_full, tools), requests))
    return FrameContents(tuple(requests), tuple(unread_parts))


def _end_in_words(frame_text: str, position: int, contents_before: FrameContents) -> FrameContents:
    """End a frame where no call begins: words of an answer after its calls, or a part unread."""
    remaining_text = frame_text[position:]
    begins_with_word = bool(contents_before.requests) and remaining_text[0].isalnum()
    if begins_with_word and not END.search(frame_text, position):
        return contents_before._replace(text=remaining_text)
    return contents_before._replace(unread=(*contents_before.unread, remaining_text))


class _ReadCall(NamedTuple):
    """One call; without requests, and not empty, it could not be read."""

    end_position: int
    requests: tuple[ToolRequest, ...] = ()
    is_empty: bool = False
    is_closed: bool = True


def _skip_blanks(frame_text: str, position: int) -> int:
    frame_match = FRAME.compiled.match(frame_text, position)
    return frame_match.end() if frame_match else position


def _read_next(frame_text: str, position: int, tools: Tools, is_closed: bool) -> _ReadCall | None:
    """Read the call that begins here; one without requests could not be read."""
    if frame_text[position] in "{[":
        return _read_json(frame_text, position, tools)
    # A tag that holds the name comes before one that may be a name: most are both by their form.
    tag = TAG.compiled.match(frame_text, position)
    tag = tag or SECTION.compiled.match(frame_text, position)
    if tag:
        return _read_element(frame_text, tag, tag["name"], tools, is_closed)
    if keyed_name := KEYED_NAME.compiled.match(frame_text, position):
        end_position = _end_of_body(frame_text, keyed_name.end())
        return _read_named(frame_text, keyed_name, end_position, tools, is_closed)
    child_tag = CHILD.compiled.match(frame_text, position)
    if child_tag and clean_tool_name(child_tag["tag"], tools) in tools:
        return _read_element(frame_text, child_tag, child_tag["tag"], tools, is_closed)
    plain_name = PLAIN_NAME.compiled.match(frame_text, position)
    if plain_name is None:
        return None
    is_known = clean_tool_name(plain_name["name"], tools) in tools
    if not is_known and not frame_text.startswith("{", plain_name.end()):
        return None
    end_position = _end_of_named(frame_text, plain_name.end())
    return _read_named(frame_text, plain_name, end_position, tools, is_closed)


def _read_named(
    frame_text: str, name_match: re.Match[str], end_position: int, tools: Tools, is_closed: bool
) -> _ReadCall:
    """Read a call whose arguments stand from after its name to `end_position`."""
    body_text = frame_text[name_match.end() : end_position]
    return _make_call(
        name_match["name"],
        body_text,
        end_position,
        tools,
        is_closed=is_closed or end_position < len(frame_text),
    )


def _read_json(frame_text: str, position: int, tools: Tools) -> _ReadCall:
    """Read a JSON value, or the list of Python calls that stands in its place."""
    end_position = json_text.find_value_end(frame_text, position)
    value_text = frame_text[position:end_position]
    if value_text[1:-1].strip() == "":
        return _ReadCall(end_position, is_empty=True)
    for json_value in _json_readings(value_text):
        requests = calls.read_requests(json_value, tools) or python_calls.read_texts(
            json_value, tools
        )
        if requests:
            return _ReadCall(end_position, tuple(requests))
    python_requests = python_calls.read_python_calls(value_text, tools, only_known=False)
    if not python_requests and (line := NEXT_OBJECT.search(value_text, 1)):
        return _ReadCall(position + line.start())  # one a line: the others may be whole
    return _ReadCall(end_position, tuple(python_requests or ()))


NEXT_OBJECT = Expression(r"\n[ \t]*(?=\{\s*[\"'])")


def _json_readings(value_text: str) -> Iterator[object]:
    yield from json_text.possible_values(value_text)
    if '\\"' in value_text:
        yield from json_text.possible_values(json_text.unescape_once(value_text))


def _read_element(
    frame_text: str, tag: re.Match[str], written_name: str, tools: Tools, is_closed: bool
) -> _ReadCall:
    """Read a call that is an element: attributes beside its name are arguments too."""
    attributes = tag["rest"] or ""
    tag_arguments = {
        attribute_name: html.unescape(double_quoted or single_quoted or unquoted)
        for attribute_name, double_quoted, single_quoted, unquoted in ATTRIBUTE.compiled.findall(
            attributes
        )
    }
    if ATTRIBUTE.sub("", attributes).strip():
        return _ReadCall(tag.end())
    if tag["empty"]:
        return _make_call(written_name, "", tag.end(), tools, tag_arguments)
    closer_start, closer_end = _find_closer(frame_text, tag)
    return _make_call(
        written_name,
        frame_text[tag.end() : closer_start],
        closer_end,
        tools,
        tag_arguments,
        is_closed or closer_start < len(frame_text),
    )


def _find_closer(frame_text: str, tag: re.Match[str]) -> tuple[int, int]:
    """Find where an element's closer begins and ends; without one both are the end of its body."""
    closer_opening, closer_ending = f"</{tag['tag']}", ">"
    if tag.re is SECTION.compiled:  # of control tokens, which name no tag
        closer_opening, closer_ending = "<|close|>call", "<|sep|>"
    closer_start = frame_text.find(closer_opening, tag.end())
    if closer_start < 0:
        body_end = _end_of_body(frame_text, tag.end())
        return body_end, body_end
    if QUOTABLE_TAG.compiled.match(frame_text, closer_start):  # perhaps that of a quoted call
        own_tags = find_own_tags(frame_text, QUOTABLE_TAG.compiled, tag.end())
        closers = (own_tag for own_tag in own_tags if own_tag[0].startswith(closer_opening))
        closer = next(closers, None)
        closer_start = closer.start() if closer else len(frame_text)
    ending_start = frame_text.find(closer_ending, closer_start)
    if ending_start < 0:
        return closer_start, len(frame_text)
    return closer_start, ending_start + len(closer_ending)


QUOTABLE_TAG = Expression(TAGS)
END = Expression(
    rf"</{PREFIX}(?:tool_?calls?|function_?calls?|invoke|function|calls?|tool_use)\s{{0,9}}>"
    r"|<[\uff5c|]tool[\u2581_]calls?[\u2581_]end[\uff5c|]>"
    r"|<\|(?:tool_call|call|tool_calls_section|action)_?end\|>|<tool_call\|>|<end_function_call>"
)


def _end_of_body(frame_text: str, position: int) -> int:
    end_match = END.compiled.search(frame_text, position)
    return end_match.start() if end_match else len(frame_text)


def _end_of_named(frame_text: str, position: int) -> int:
    """The end of what follows a plain name: a value ends itself, else the frame ends it."""
    value_start = len(frame_text) - len(frame_text[position:].lstrip())
    if frame_text.startswith(("{", "["), value_start):
        return json_text.find_value_end(frame_text, value_start)
    if frame_text.startswith("(", value_start):
        call_end = python_calls.call_end(frame_text, value_start + 1)
        return call_end + 1 if call_end >= 0 else len(frame_text)
    return _end_of_body(frame_text, position)


def _make_call(
    written_name: str,
    body_text: str,
    end_position: int,
    tools: Tools,
    tag_arguments: Mapping[str, str] | None = None,
    is_closed: bool = True,
) -> _ReadCall:
    tool_name = clean_tool_name(html.unescape(written_name), tools)
    tool = tools.get(tool_name)
    arguments = read_arguments(body_text, tool, is_closed)
    if arguments is None:
        return _ReadCall(end_position)
    parameter_schemas = declared_properties(tool)
    for parameter_name, argument_text in (tag_arguments or {}).items():
        if parameter_name in parameter_schemas and parameter_name not in arguments:
            arguments[parameter_name] = parse_typed(
                argument_text, parameter_schemas[parameter_name]
            )
    return _ReadCall(end_position, (ToolRequest(tool_name, arguments),), is_closed=is_closed)


def _is_full(tools: Tools, request: ToolRequest) -> bool:
    """Tell whether a call that nothing closes may be taken: nothing that it needs is missing."""
    required_names = parameters_schema(tools.get(request.name)).get("required") or ()
    return set(required_names) <= set(request.arguments or {})


def read_arguments(
    body_text: str, tool: Schema | None, is_closed: bool = True
) -> dict[str, object] | None:
    """Read the arguments of one call in any of the notations; None if something is left over.

    What does not end by itself is only read where the frame is `is_closed`: else it was cut off.
    """
    body_text = _without_frames(body_text)
    if not body_text:
        return {}
    for read_notation in READERS if is_closed else ENDING:
        arguments = read_notation(body_text, tool)
        if arguments is not None:
            return arguments
    return None


TOKENS = Expression(r"(?:\s|<\|[\w:./\-]{1,60}\|>|<\uff5c[\w\u2581]{1,40}\uff5c>|\[ARGS\])+")


def _without_frames(body_text: str) -> str:
    if tokens := TOKENS.match(body_text):
        body_text = body_text[tokens.end() :]
    body_text = body_text.strip()
    while body_text.startswith("\\n"):
        body_text = body_text[2:].lstrip()
    while body_text.endswith("\\n"):
        body_text = body_text[:-2].rstrip()
    if not body_text.startswith("```"):
        return body_text
    return body_text.removeprefix("```json").strip("`").strip()


def _as_json(body_text: str, tool: Schema | None) -> dict[str, object] | None:
    if body_text[:1] not in '{["':
        return None
    if body_text[:1] == "{" and json_text.find_value_end(body_text, 0) < len(body_text):
        return None
    for json_value in _json_readings(body_text):
        arguments = calls.read_argument_object(json_value, tool)
        if arguments is not None and not (tool is None and isinstance(json_value, list)):
            return arguments
    return None


def _as_python(body_text: str, tool: Schema | None) -> dict[str, object] | None:
    if body_text[:1] == "(" and body_text[-1:] == ")":
        body_text = body_text[1:-1]
    elif not (KEYWORD.match(body_text) or BARE_WORDS.fullmatch(body_text)):
        return None
    python_requests = python_calls.parse_calls(f"f({body_text})", {"f": tool} if tool else {})
    if not python_requests or len(python_requests) > 1:
        return None
    return dict(python_requests[0].arguments or {})


KEYWORD = Expression(r"\s*[A-Za-z_]\w*\s*=(?!=)\s*[\"'\[{(\d\-TFN]")
BARE_WORDS = Expression(r"\s*[A-Za-z_]\w*\s*=(?!=)[^\n,]+(?:,[ \t]*[A-Za-z_]\w*\s*=(?!=)[^\n,]+)+")


def _as_elements(body_text: str, tool: Schema | None) -> dict[str, object] | None:
    """Read elements, one for each argument; one that is repeated makes a list."""
    if not body_text.startswith("<"):
        return None
    parameter_schemas = declared_properties(tool)
    root_schema = parameters_schema(tool)
    wrapper_match = WRAPPER.compiled.match(body_text)
    if wrapper_match and wrapper_match[1] not in parameter_schemas:
        return read_arguments(wrapper_match[2], tool)
    arguments: dict[str, object] = {}
    position = 0
    while body_text[position:].strip():
        position = len(body_text) - len(body_text[position:].lstrip())
        argument_tag = _match_argument_tag(body_text, position, tool)
        if argument_tag is None:
            return None
        parameter_name, value_text, position = _read_argument_element(body_text, argument_tag)
        if _holds_another(value_text, {parameter_name, *arguments}, tool):
            return None
        parameter_schema = parameter_schemas.get(parameter_name)
        value = parse_typed(value_text, parameter_schema, root_schema)
        if not add_value(arguments, parameter_name, value, parameter_schema, root_schema):
            return None
    return arguments


def _match_argument_tag(body_text: str, position: int, tool: Schema | None) -> re.Match[str] | None:
    for tag_pattern in (PARAMETER, PAIR):
        if named_tag := tag_pattern.compiled.match(body_text, position):
            return named_tag
    child_tag = CHILD.compiled.match(body_text, position)
    if child_tag is None or not _may_be_key(child_tag["tag"], tool):
        return None
    return child_tag


def _read_argument_element(body_text: str, argument_tag: re.Match[str]) -> tuple[str, str, int]:
    """(the argument's name, its value as written, where the element ends)."""
    tag_groups = argument_tag.groupdict()
    written_name = tag_groups.get("key") or tag_groups["tag"]
    parameter_name = html.unescape(written_name.replace("\\_", "_").strip())
    if tag_groups.get("empty"):
        attribute = VALUE.search(tag_groups.get("rest") or "")
        value_text = html.unescape(attribute[1] or attribute[2] or "") if attribute else ""
        return parameter_name, value_text, argument_tag.end()
    value_text, end_position = _element_value(
        body_text, argument_tag.end(), tag_groups["tag"], parameter_name
    )
    return parameter_name, value_text, end_position


def _holds_another(value_text: str, given_names: set[str], tool: Schema | None) -> bool:
    """Tell whether a value goes on beyond its closer to another argument of the tool."""
    _, closer, text_behind = value_text.partition("</")
    if not closer:
        return False
    missing_names = set(declared_properties(tool)) - given_names
    argument_tags = chain(PARAMETER.finditer(text_behind), PAIR.finditer(text_behind))
    return any(argument_tag["key"] in missing_names for argument_tag in argument_tags)


def _as_closed_elements(body_text: str, tool: Schema | None) -> dict[str, object] | None:
    return _as_elements(body_text, tool) if LAST_CLOSED.search(body_text) else None


LAST_CLOSED = Expression(r"(?:</[^<>]{0,200}|/)>\s*\Z")


def _may_be_key(tag_name: str, tool: Schema | None) -> bool:
    """Tell whether an element may be named after an argument: not where the tool has none of it."""
    parameter_schemas = declared_properties(tool)
    return not parameter_schemas or tag_name.replace("\\_", "_") in parameter_schemas


def _element_value(
    body_text: str, value_start: int, tag_name: str, parameter_name: str
) -> tuple[str, int]:
    """The text up to the closer that another argument, or nothing, follows."""
    closers = (f"</{tag_name}", f"</{parameter_name}")
    closer_start = _find_first(body_text, closers, value_start)
    while closer_start >= 0:
        end_position = body_text.find(">", closer_start) + 1 or len(body_text)
        following_text = body_text[end_position:].lstrip()
        if not following_text or following_text.startswith("<"):
            return _strip_framing(body_text[value_start:closer_start]), end_position
        closer_start = _find_first(body_text, closers, end_position)
    # It was never closed: it ends where the next argument begins.
    next_tags = [pattern.compiled.search(body_text, value_start) for pattern in (PARAMETER, PAIR)]
    next_starts = [next_tag.start() for next_tag in next_tags if next_tag]
    end_position = min(next_starts, default=len(body_text))
    return _strip_framing(body_text[value_start:end_position]), end_position


def _find_first(text: str, wanted: Sequence[str], position: int) -> int:
    """Find where the first of several texts begins, from `position` on; -1 if none does."""
    starts = [text.find(one, position) for one in wanted]
    return min((start for start in starts if start >= 0), default=-1)


def _strip_framing(value_text: str) -> str:
    value_text = value_text.removeprefix("\n").removesuffix("\n")
    if value_text.startswith("<![CDATA[") and value_text.endswith("]]>"):
        return value_text[9:-3]
    return value_text


def _as_lines(body_text: str, tool: Schema | None) -> dict[str, object] | None:
    """Read `key: value` a line; what a line without a key continues is a value over lines."""
    parameter_schemas = declared_properties(tool)
    line_values = _split_lines(body_text, parameter_schemas if tool else None)
    if not line_values:
        return None
    if not tool:
        return {
            parameter_name: parse_untyped(value_text)
            for parameter_name, value_text in line_values.items()
        }
    root_schema = parameters_schema(tool)
    return {
        parameter_name: parse_typed(
            _strip_quotes(value_text), parameter_schemas[parameter_name], root_schema
        )
        for parameter_name, value_text in line_values.items()
    }


def _split_lines(body_text: str, parameter_names: Collection[str] | None) -> dict[str, str] | None:
    """Split lines into keys and values as written; None where a line belongs to no key.

    Only `parameter_names` keys count, where they are known.
    """
    line_values: dict[str, str] = {}
    last_key = ""
    for line in filter(str.strip, body_text.split("\n")):
        key_value_match = LINE.fullmatch(line.rstrip("\r"))
        if key_value_match and _holds_another_key(key_value_match, parameter_names or ()):
            return None
        key = key_value_match["key"].replace("\\_", "_") if key_value_match else ""
        if key_value_match and (parameter_names is None or key in parameter_names):
            line_values[key], last_key = key_value_match["value"].strip(), key
        elif last_key:
            line_values[last_key] = f"{line_values[last_key]}\n{line}".lstrip("\n")
        else:
            return None
    return line_values


def _holds_another_key(key_value_match: re.Match[str], parameter_names: Collection[str]) -> bool:
    """Tell whether several arguments stand on one line."""
    return any(
        f" {key}{key_value_match['sign']}" in key_value_match["value"] for key in parameter_names
    )


def _strip_quotes(value_text: str) -> str:
    if len(value_text) < 2 or value_text[0] not in "\"'`":
        return value_text
    quote, inside = value_text[0], value_text[1:-1]
    return inside if value_text[-1] == quote and quote not in inside else value_text


def _as_only_text(body_text: str, tool: Schema | None) -> dict[str, object] | None:
    """Read a tool's one text: raw code for `python`."""
    parameter_schemas = declared_properties(tool)
    if len(parameter_schemas) != 1 or body_text[:1] in '{[<"':
        return None
    ((parameter_name, parameter_schema),) = parameter_schemas.items()
    if "string" not in allowed_kinds(parameter_schema, parameters_schema(tool)):
        return None
    return {parameter_name: body_text}


Read = Callable[[str, Schema | None], dict[str, object] | None]
ENDING: tuple[Read, ...] = (_as_json, _as_closed_elements)
READERS: tuple[Read, ...] = (_as_json, _as_elements, _as_python, _as_lines, _as_only_text)
"""Tried in this order; what stands there decides, as each wants another beginning."""
