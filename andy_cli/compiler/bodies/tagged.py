"""The shape of dialects whose calls are elements: their tags, and how they spell a call."""

from collections.abc import Callable, Sequence
from json import dumps

from andy_cli.compiler.bodies import elements, forms, json_text
from andy_cli.compiler.bodies.elements import Tags, unframed
from andy_cli.compiler.bodies.sections import Section, Tag
from andy_cli.compiler.bodies.typed import unquoted, untyped
from andy_cli.compiler.dialect import Body, Dialect, Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import ToolRequest

BEGUN = Expression(
    r"<[^<>\s]{0,60}\s?[^<>\s=]{0,60}(?:\s?[a-z]{1,20}=[\"']?[^<>\"'\s]{0,100}[\"']?){0,4}\Z"
)
"""A tag that was cut off."""


def dialect(
    name: str,
    openers: tuple[str, ...],
    closers: tuple[str, ...],
    tags: Tags,
    write: Callable[[ToolRequest], str],
    bare: tuple[str, ...] = (),
    lines: bool = False,
    tag_end: str = ">",
    json: bool = False,
) -> Dialect:
    """`closers` end a call or a section; with `json` calls as JSON inside it are read too.

    `bare` openers are the beginning of a call's own tag, up to its name.
    """

    def body(opener: str, tools: Tools) -> Body:
        if opener in bare:
            return Tag(*closers, end=tag_end)
        return Section(*closers, tools=tools, lines=lines and "function_calls" in opener)

    read = parser(tags, openers, closers, json)
    return forms.taught(name, (*openers, *bare), body, read, write, closers)


def parser(
    tags: Tags, openers: Sequence[str], closers: Sequence[str], json: bool = False
) -> Callable[[str, Tools], Parsed | None]:
    def parse(text: str, tools: Tools) -> Parsed | None:
        inner = forms.inside(text, openers, ())
        if inner[:1] in ("{", "["):
            return json_section(inner, closers, tools) if json else None
        found = elements.read(text, tools, tags) if leads(text, tags, openers) else None
        if found is None:
            return Parsed(incomplete=True) if begun(text, inner, closers) else None
        return Parsed(
            found.requests, found.repairs, incomplete=found.incomplete, text=found.rest.rstrip()
        )

    return parse


def leads(text: str, tags: Tags, openers: Sequence[str]) -> bool:
    """Whether a call comes first: in the values of another notation one may be quoted."""
    at = len(text) - len(text.lstrip())
    while True:
        first = elements.expression(tags).match(text, at)
        if first is not None and first.lastgroup == "call":
            return True
        opener = next((opener for opener in openers if text.startswith(opener, at)), "")
        if not opener:
            return False
        at += len(opener)
        at = len(text) - len(text[at:].lstrip())


def begun(text: str, inner: str, closers: Sequence[str]) -> bool:
    """Whether the text breaks off inside a tag, or before it in a section."""
    if ends_with(text, closers) or text.endswith("="):
        return False
    return bool(inner and BEGUN.search(inner[-300:]))


def json_section(text: str, closers: Sequence[str], tools: Tools) -> Parsed | None:
    """Calls as JSON; brackets that are missing at the closer are closed."""
    inner = forms.inside(text, (), closers)
    if not json_text.balanced(inner):
        if not ends_with(text, closers):
            return Parsed(incomplete=True) if forms.begins_call(inner) else None
        inner = json_text.closed(inner)
    requests = forms.json_calls(inner, tools)
    return Parsed(tuple(requests), settled=True) if requests else None


def ends_with(text: str, closers: Sequence[str]) -> bool:
    return text.rstrip().endswith(tuple(closers))


def written(value: object, tags: Tags) -> str:
    """A value between tags so that it is read as it was: texts that look typed are quoted."""
    if not isinstance(value, str):
        return dumps(value, ensure_ascii=False)
    marked = tags.framing and value.startswith("<![CDATA[")
    if marked and not tags.quoted:
        return f"<![CDATA[{value}]]>"
    if marked or (tags.quoted and (untyped(value) != value or unquoted(value) != value)):
        return dumps(value, ensure_ascii=False)
    framing = tags.framing and not tags.lone and unframed(value, tags.lone) != value
    return f"\n{value}\n" if framing else value


def spelled(
    opened: str, closed: str, parameter: tuple[str, str], tags: Tags
) -> Callable[[ToolRequest], str]:
    """A `write`: NAME and KEY stand for the name and the key; a value between two texts."""
    if parameter[0].endswith("\n"):  # the line breaks around a value are there already
        tags = tags._replace(lone=True)

    def write(request: ToolRequest) -> str:
        values = [
            parameter[0].replace("KEY", key) + written(value, tags) + parameter[1]
            for key, value in (request.arguments or {}).items()
        ]
        return "".join([opened.replace("NAME", request.name), *values, closed])

    return write
