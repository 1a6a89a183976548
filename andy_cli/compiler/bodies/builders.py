"""The common shapes of dialects: JSON in markers, elements in markers, and how both are taught.

A dialect of one of these shapes is data: its markers and how it spells a call.
"""

import json
from collections.abc import Callable, Sequence

from andy_cli.compiler.alternation import alternate_roles
from andy_cli.compiler.bodies import calls, json_text, python_calls
from andy_cli.compiler.bodies.end_detectors import JsonValueEnd, MarkerEnd, is_blank
from andy_cli.compiler.bodies.markup import elements
from andy_cli.compiler.dialect import Dialect, EndDetector, Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import Message, ToolRequest, Wire

Read = Callable[[str, Tools], list[ToolRequest] | None]
Write = Callable[[ToolRequest], str]


def write_json_call(request: ToolRequest, name: str = "name", arguments: str = "arguments") -> str:
    return json.dumps(
        {name: request.name, arguments: dict(request.arguments or {})}, ensure_ascii=False
    )


def dump_arguments(request: ToolRequest) -> str:
    return json.dumps(dict(request.arguments or {}), ensure_ascii=False)


def text_between(text: str, start_markers: Sequence[str], end_markers: Sequence[str]) -> str:
    """The text between the markers; an end marker may be missing."""
    stripped = text.strip()
    for opener in start_markers:
        if stripped.lower().startswith(opener.lower()):
            stripped = stripped[len(opener) :]
            break
    for closer in end_markers:
        if stripped.rstrip().lower().endswith(closer.lower()):
            stripped = stripped.rstrip()[: -len(closer)]
            break
    return stripped.strip()


def read_json_calls(text: str, tools: Tools) -> list[ToolRequest] | None:
    """All calls in JSON values that follow one another."""
    found, rest = (
        json_text.values_and_rest(text) if not json_text.WINDOWS.search(text) else ([], "")
    )
    if found and rest.lstrip()[:1] in ("{", "["):
        return None  # one that cannot be read stands behind them
    if found:
        requests = calls.read_requests(found[0] if len(found) == 1 else found, tools)
    else:
        requests = mend_calls(text, tools)
    # Models that were taught a tag at times put what they know into it.
    return requests or python_calls.read_python_calls(text, tools)


def mend_calls(text: str, tools: Tools) -> list[ToolRequest] | None:
    """Of the ways to mend it the first whose calls fit the tools; if none fits, the first."""
    first: list[ToolRequest] | None = None
    for value in json_text.possible_values(text):
        requests = calls.read_requests(value, tools)
        if keep_if_fitting(requests, tools):
            return requests
        first = first or requests
    return rebuild_calls(text, tools) or first


def rebuild_calls(text: str, tools: Tools) -> list[ToolRequest] | None:
    """The boldest reading of what is whole but broken: only if it fits the tools to the letter."""
    if json_text.is_too_deep(text) or not text.rstrip().endswith(("}", "]")):
        return None
    requests = calls.read_requests(json_text.repair_json(text), tools)
    return requests if keep_if_fitting(requests, tools) else None


def keep_if_fitting(requests: list[ToolRequest] | None, tools: Tools) -> bool:
    return bool(requests) and all(calls.fits_tool(request, tools) for request in requests or ())


def make_json_parser(
    start_markers: Sequence[str], end_markers: Sequence[str] = (), read: Read = read_json_calls
) -> Callable[[str, Tools], Parsed | None]:
    """A `parse` for JSON in markers: what cannot be read is text, what breaks off incomplete."""

    def parse(text: str, tools: Tools) -> Parsed | None:
        body = text_between(text, start_markers, end_markers)
        is_cut = body[:1] in ("{", "[") and not json_text.is_balanced(body)
        if not is_cut or json_text.escape_inner_quotes(body) is not None:
            requests = read(body, tools)
            return Parsed(tuple(requests)) if requests else None
        mended = mend_cut(body, text.rstrip().endswith(tuple(end_markers)), tools, read)
        if mended:
            return Parsed(tuple(mended), ("closed what was left open before the closing tag",))
        return Parsed(incomplete=True) if begins_call(body) else None

    return parse


def mend_cut(body: str, ended: bool, tools: Tools, read: Read) -> list[ToolRequest] | None:
    """The calls of a value that breaks off: before its closing tag, or one bracket short."""
    if ended:
        return close_brackets(body, tools, read) or rebuild_calls(body, tools)
    whole = json_text.close_last(body)
    return read(whole, tools) if whole != body else None


def close_brackets(body: str, tools: Tools, read: Read) -> list[ToolRequest] | None:
    """The calls of a value whose last brackets are missing though its closing tag is there."""
    for missing in ("}", "]", "}}", "}]"):
        if json_text.parse_strict(body + missing) is not None:
            return read(body + missing, tools)
    return None


KEYED = Expression(r"[\[{]\s*(?:{\s*)?[\"']\w")


def begins_call(body: str) -> bool:
    """An object with a key has begun; braces in prose have none."""
    return KEYED.match(body) is not None


def make_element_parser(
    read: Read = elements.read_element_requests, closer: str = ""
) -> Callable[[str, Tools], Parsed | None]:
    """A `parse` for elements: without its closer, a call whose value is open is incomplete."""

    def parse(text: str, tools: Tools) -> Parsed | None:
        requests = read(text, tools)
        if not requests:
            return None
        if closer and closer not in text and text.count("<parameter") > text.count("</parameter"):
            return Parsed(tuple(requests[:-1]), incomplete=True)
        return Parsed(tuple(requests))

    return parse


def write_elements(request: ToolRequest, opened: str, closed: str, parameter: str) -> str:
    """`parameter` has slots for KEY and VALUE."""
    written = [
        parameter.replace("KEY", key).replace("VALUE", write_raw(value))
        for key, value in (request.arguments or {}).items()
    ]
    return "".join([opened.replace("NAME", request.name), *written, closed])


def write_raw(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def make_renderer(
    write: Write, tell: Callable[[Message], str]
) -> Callable[[Sequence[Message]], list[Wire]]:
    """A `render` for dialects whose calls are text: results come back as user messages."""

    def render(history: Sequence[Message]) -> list[Wire]:
        return alternate_roles(
            {"role": role(message), "content": content(message)} for message in history
        )

    def role(message: Message) -> str:
        return "user" if message.role == "tool" else message.role

    def content(message: Message) -> str:
        if message.role == "tool":
            return tell(message)
        requests = [ToolRequest(call.name, call.arguments, call.id) for call in message.calls]
        return "\n".join(filter(None, [message.content, *map(write, requests)]))

    return render


def result_between(opener: str, closer: str) -> Callable[[Message], str]:
    """A result between two markers."""
    return lambda message: f"{opener}\n{message.content}\n{closer}"


def render_schemas(tools: Tools) -> str:
    """A JSON schema a line."""
    return "\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools.values())


def make_taught_dialect(
    name: str,
    start_markers: tuple[str, ...],
    body: Callable[[str, Tools], EndDetector],
    parse: Callable[[str, Tools], Parsed | None],
    write: Write,
    end_markers: tuple[str, ...] = (),
    result: tuple[str, str] = ("<tool_response>", "</tool_response>"),
) -> Dialect:
    """A dialect that is taught by its schemas and an example, with results between two markers."""
    return Dialect(
        name=name,
        start_markers=start_markers,
        body=body,
        parse=parse,
        write=write,
        render=make_renderer(write, result_between(*result)),
        render_tools=render_schemas,
        prompt_template="calls",
        end_markers=end_markers,
    )


def make_json_dialect(
    name: str,
    start_markers: tuple[str, ...],
    end_markers: tuple[str, ...],
    write: Write,
    read: Read = read_json_calls,
    lead: Callable[[str], bool] = is_blank,
) -> Dialect:
    """JSON between markers: an object, a list, or several in a row."""

    def body(opener: str, tools: Tools) -> EndDetector:
        return JsonValueEnd(lead)

    return make_taught_dialect(
        name,
        start_markers,
        body,
        make_json_parser(start_markers, end_markers, read),
        write,
        end_markers,
    )


def make_section_dialect(
    name: str,
    start_markers: tuple[str, ...],
    end_markers: tuple[str, ...],
    write: Write,
    read: Read,
    strings: bool = True,
) -> Dialect:
    """A section with a closer of its own, with calls in it that `read` knows."""

    def body(opener: str, tools: Tools) -> EndDetector:
        return MarkerEnd(*end_markers, strings=strings)

    def parse(text: str, tools: Tools) -> Parsed | None:
        requests = read(text_between(text, start_markers, end_markers), tools)
        return Parsed(tuple(requests)) if requests else None

    return make_taught_dialect(name, start_markers, body, parse, write, end_markers)
