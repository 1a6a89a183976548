"""The common shapes of dialects: JSON in markers, a name and then JSON, and how all are taught.

A dialect of one of these shapes is data: its markers and how it spells a call.
"""

import json
from collections.abc import Callable, Sequence

from andy_cli.compiler.alternation import alternate_roles
from andy_cli.compiler.bodies import calls, json_text, python_calls
from andy_cli.compiler.bodies.end_detectors import (
    MarkerEnd,
    QuotedMarkerEnd,
    make_bare_call_end,
    make_json_end,
)
from andy_cli.compiler.dialect import Dialect, MakeEndDetector, Parse, Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import Message, ToolRequest, Wire

Read = Callable[[str, Tools], list[ToolRequest] | None]
Write = Callable[[ToolRequest], str]


def write_json_call(
    request: ToolRequest, name_key: str = "name", arguments_key: str = "arguments"
) -> str:
    return json.dumps(
        {name_key: request.name, arguments_key: dict(request.arguments or {})}, ensure_ascii=False
    )


def dump_arguments(request: ToolRequest) -> str:
    return json.dumps(dict(request.arguments or {}), ensure_ascii=False)


def text_between(text: str, start_markers: Sequence[str], end_markers: Sequence[str]) -> str:
    """The text between the markers; an end marker may be missing."""
    remaining = text.strip()
    for start_marker in start_markers:
        if remaining.lower().startswith(start_marker.lower()):
            remaining = remaining[len(start_marker) :]
            break
    for end_marker in end_markers:
        if remaining.rstrip().lower().endswith(end_marker.lower()):
            remaining = remaining.rstrip()[: -len(end_marker)]
            break
    return remaining.strip()


def read_json_calls(body_text: str, tools: Tools) -> list[ToolRequest] | None:
    """All calls in JSON values that follow one another."""
    json_values: list[object] = []
    unread_text = ""
    if not json_text.WINDOWS.search(body_text):
        json_values, unread_text = json_text.values_and_rest(body_text)
    if json_values and unread_text.lstrip()[:1] in ("{", "["):
        return None  # one that cannot be read stands after them
    if json_values:
        requests = calls.read_requests(
            json_values[0] if len(json_values) == 1 else json_values, tools
        )
    else:
        requests = mend_calls(body_text, tools)
    # Models that were taught a tag at times put what they know into it.
    return requests or python_calls.read_python_calls(body_text, tools)


def mend_calls(body_text: str, tools: Tools) -> list[ToolRequest] | None:
    """Of the ways to mend it the first whose calls fit the tools; if none fits, the first."""
    first_reading: list[ToolRequest] | None = None
    for mended_value in json_text.possible_values(body_text):
        requests = calls.read_requests(mended_value, tools)
        if keep_if_fitting(requests, tools):
            return requests
        first_reading = first_reading or requests
    return rebuild_calls(body_text, tools) or first_reading


def rebuild_calls(body_text: str, tools: Tools) -> list[ToolRequest] | None:
    """The boldest reading of what is whole but broken: only if it fits the tools to the letter."""
    if json_text.is_too_deep(body_text) or not body_text.rstrip().endswith(("}", "]")):
        return None
    requests = calls.read_requests(json_text.repair_json(body_text), tools)
    return requests if keep_if_fitting(requests, tools) else None


def keep_if_fitting(requests: list[ToolRequest] | None, tools: Tools) -> bool:
    return bool(requests) and all(calls.fits_tool(request, tools) for request in requests or ())


def make_json_parser(
    start_markers: Sequence[str],
    end_markers: Sequence[str] = (),
    read_calls: Read = read_json_calls,
) -> Parse:
    """A `parse` for JSON in markers: what cannot be read is text, what breaks off incomplete."""

    def parse(frame_text: str, tools: Tools) -> Parsed | None:
        body_text = text_between(frame_text, start_markers, end_markers)
        is_cut = body_text[:1] in ("{", "[") and not json_text.is_balanced(body_text)
        if not is_cut or json_text.escape_inner_quotes(body_text) is not None:
            requests = read_calls(body_text, tools)
            return Parsed(tuple(requests)) if requests else None
        has_closer = frame_text.rstrip().endswith(tuple(end_markers))
        mended_requests = mend_cut(body_text, has_closer, tools, read_calls)
        if mended_requests:
            return Parsed(
                tuple(mended_requests), ("closed what was left open before the closing tag",)
            )
        return Parsed(incomplete=True) if begins_call(body_text) else None

    return parse


def mend_cut(
    body_text: str, has_closer: bool, tools: Tools, read_calls: Read
) -> list[ToolRequest] | None:
    """The calls of a value that breaks off: before its closing tag, or one bracket short."""
    if has_closer:
        return (
            close_brackets(body_text, tools, read_calls)
            or read_calls(json_text.escape_lone_quotes(body_text), tools)
            or rebuild_calls(body_text, tools)
        )
    closed_text = json_text.close_last(body_text)
    return read_calls(closed_text, tools) if closed_text != body_text else None


def close_brackets(body_text: str, tools: Tools, read_calls: Read) -> list[ToolRequest] | None:
    """The calls of a value whose last brackets are missing though its closing tag is there."""
    for missing_brackets in ("}", "]", "}}", "}]"):
        if json_text.parse_strict(body_text + missing_brackets) is not None:
            return read_calls(body_text + missing_brackets, tools)
    return None


KEYED = Expression(r"[\[{]\s*(?:{\s*)?[\"']\w")


def begins_call(body_text: str) -> bool:
    """An object with a key has begun; braces in prose have none."""
    return KEYED.match(body_text) is not None


def write_raw(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def make_renderer(
    write_call: Write, render_result: Callable[[Message], str]
) -> Callable[[Sequence[Message]], list[Wire]]:
    """A `render` for dialects whose calls are text."""

    def content(message: Message) -> str:
        if message.role == "tool":
            return render_result(message)
        requests = [ToolRequest(call.name, call.arguments, call.id) for call in message.calls]
        return "\n".join(filter(None, [message.content, *map(write_call, requests)]))

    return lambda history: render_texts(history, content)


def render_texts(history: Sequence[Message], content: Callable[[Message], str]) -> list[Wire]:
    """The history as texts in turns: results come back as user messages."""
    return alternate_roles(
        {"role": "user" if message.role == "tool" else message.role, "content": content(message)}
        for message in history
    )


def result_between(start_marker: str, end_marker: str) -> Callable[[Message], str]:
    """A result between two markers."""
    return lambda message: f"{start_marker}\n{message.content}\n{end_marker}"


RESULT = ("Result:", "")
"""The words around a result in dialects without a marker for it."""


def render_schemas(tools: Tools) -> str:
    """A JSON schema a line."""
    return "\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools.values())


def make_taught_dialect(
    dialect_name: str,
    start_markers: tuple[str, ...],
    make_end_detector: MakeEndDetector,
    parse_frame: Parse,
    write_call: Write,
    end_markers: tuple[str, ...] = (),
    result_markers: tuple[str, str] = ("<tool_response>", "</tool_response>"),
) -> Dialect:
    """A dialect that is taught by its schemas and an example, with results between two markers."""
    return Dialect(
        name=dialect_name,
        start_markers=start_markers,
        make_end_detector=make_end_detector,
        parse=parse_frame,
        write=write_call,
        render=make_renderer(write_call, result_between(*result_markers)),
        render_tools=render_schemas,
        prompt_template="calls",
        end_markers=end_markers,
    )


def make_bare_dialect(dialect_name: str, parse_frame: Parse, write_call: Write) -> Dialect:
    """JSON, or calls, that no marker announces: on lines of its own or in a fence."""
    dialect = make_taught_dialect(
        dialect_name, (), make_bare_call_end, parse_frame, write_call, result_markers=RESULT
    )
    return dialect._replace(fenced=True, atomic=True)


def make_json_dialect(
    dialect_name: str,
    start_markers: tuple[str, ...],
    end_markers: tuple[str, ...],
    write_call: Write,
    read_calls: Read = read_json_calls,
) -> Dialect:
    """JSON between markers: an object, a list, or several in a row."""
    return make_taught_dialect(
        dialect_name,
        start_markers,
        lambda start_marker, tools: make_json_end(),
        make_json_parser(start_markers, end_markers, read_calls),
        write_call,
        end_markers,
    )


def make_section_dialect(
    dialect_name: str,
    start_markers: tuple[str, ...],
    end_markers: tuple[str, ...],
    write_call: Write,
    read_calls: Read,
    quote: str = "",
) -> Dialect:
    """A section with a closer of its own, with calls in it that `read_calls` knows.

    `quote`: the marker on either side of a text, where it is not that of JSON.
    """

    def parse(frame_text: str, tools: Tools) -> Parsed | None:
        requests = read_calls(text_between(frame_text, start_markers, end_markers), tools)
        return Parsed(tuple(requests)) if requests else None

    return make_taught_dialect(
        dialect_name,
        start_markers,
        lambda start_marker, tools: (
            QuotedMarkerEnd(quote, *end_markers)
            if quote
            else MarkerEnd(*end_markers, skips_strings=True)
        ),
        parse,
        write_call,
        end_markers,
    )


def make_headed_parser(end_markers: Sequence[str], head: Expression) -> Parse:
    def parse(text: str, tools: Tools) -> Parsed | None:
        match = head.match(text)
        if match is None:
            return read_begun_header(text, end_markers)
        arguments_text = text[match.end() :]
        if arguments_text and not arguments_text.startswith(("{", "[", '"', *end_markers)):
            return read_begun_header(text, end_markers)
        name = calls.clean_tool_name(match["name"], tools)
        return read_headed_call(name, arguments_text, end_markers, tools)

    return parse


def read_headed_call(
    name: str, arguments_text: str, end_markers: Sequence[str], tools: Tools
) -> Parsed | None:
    """The call with the arguments that the text holds."""
    body, closed = strip_end_markers(arguments_text, end_markers)
    if not body:
        return Parsed((ToolRequest(name, {}),), settled=True) if closed else Parsed(incomplete=True)
    is_complete = json_text.parse_strict(body) is not None or json_text.is_balanced(body)
    if not is_complete and not closed:
        return Parsed(incomplete=True)
    value = json_text.read_value(body if is_complete else json_text.close_brackets(body))
    arguments = calls.read_argument_object(value, tools.get(name)) if value is not None else None
    if arguments is None:
        return Parsed(fault=f"The arguments of {name} are not valid JSON.")
    return Parsed((ToolRequest(name, arguments),), settled=True)


def strip_end_markers(text: str, end_markers: Sequence[str]) -> tuple[str, bool]:
    """The text without fence and end markers around it, and whether there was one."""
    text, closed = text.strip(), False
    while True:
        closer = next((closer for closer in end_markers if text.endswith(closer)), "")
        shorter = text.removesuffix(closer).rstrip() if closer else text.rstrip("`").rstrip()
        if shorter == text:
            return text, closed
        text, closed = shorter, closed or bool(closer)


NAMING = Expression(r"[\w.\-:/]{0,100}\Z")
MARKS = Expression(r"<[^<>]{0,60}>|functions?\b")


def read_begun_header(text: str, end_markers: Sequence[str]) -> Parsed | None:
    """A header without arguments: incomplete if it may go on with a name, else text."""
    if any(closer in text for closer in end_markers):
        return None
    name_text = MARKS.sub("", text.partition(">")[2]) if ">" in text else text
    name_text = name_text.strip()
    return Parsed(incomplete=True) if name_text and NAMING.match(name_text) else None
