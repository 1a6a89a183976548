"""The shape of dialects whose calls are elements: their tags, and how they spell a call."""

import json
from collections.abc import Callable, Sequence

from andy_cli.compiler.bodies import elements, forms, json_text
from andy_cli.compiler.bodies.elements import Tags, unframed
from andy_cli.compiler.bodies.ends import named
from andy_cli.compiler.bodies.sections import Section
from andy_cli.compiler.bodies.typed import unquoted, untyped
from andy_cli.compiler.dialect import Body, Dialect, Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import ToolRequest

BEGUN = Expression(r"<[^<>\s]{0,60}(?:\s[^<>]{0,200})?\Z")
"""A tag that was cut off."""


def dialect(
    name: str,
    openers: tuple[str, ...],
    closers: tuple[str, ...],
    tags: Tags,
    write: Callable[[ToolRequest], str],
    named_openers: tuple[str, ...] = (),
    lead: Callable[[str], bool] = named,
) -> Dialect:
    """`closers` end a section; calls as JSON inside it are read too."""

    def body(opener: str, tools: Tools) -> Body:
        return Section(*closers, lead=lead)

    made = forms.taught(name, openers, body, parser(tags, openers, closers), write, closers)
    return made._replace(named_openers=named_openers)


def parser(
    tags: Tags, openers: Sequence[str], closers: Sequence[str]
) -> Callable[[str, Tools], Parsed | None]:
    def parse(text: str, tools: Tools) -> Parsed | None:
        inner = forms.inside(text, openers, ())
        if inner[:1] in ("{", "["):
            return json_section(inner, closers, tools)
        found = elements.read(text, tools, tags)
        if found is None:
            begun = not ends_with(text, closers) and BEGUN.search(inner[-300:])
            return Parsed(incomplete=True) if begun else None
        return Parsed(
            found.requests, found.repairs, incomplete=found.incomplete, text=found.rest.rstrip()
        )

    return parse


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
        return json.dumps(value, ensure_ascii=False)
    typed = untyped(value) != value or unquoted(value) != value
    if typed or (tags.framing and value.startswith("<![CDATA[")):
        return json.dumps(value, ensure_ascii=False)
    framing = tags.framing and not tags.lone and unframed(value, tags.lone) != value
    return f"\n{value}\n" if framing else value


def spelled(
    opened: str, closed: str, parameter: tuple[str, str], tags: Tags
) -> Callable[[ToolRequest], str]:
    """A `write`: NAME and KEY stand for the name and the key; a value between two texts."""

    def write(request: ToolRequest) -> str:
        values = [
            parameter[0].replace("KEY", key) + written(value, tags) + parameter[1]
            for key, value in (request.arguments or {}).items()
        ]
        return "".join([opened.replace("NAME", request.name), *values, closed])

    return write
