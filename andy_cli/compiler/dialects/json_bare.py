"""Plain JSON: an object or a list of calls, alone on its lines or in a fence of its own.

    {"name": "play", "arguments": {"track": "Blue"}}

    ```json
    [{"name": "play", "parameters": {"track": "Blue"}}]
    ```

No marker announces it, so every name must be that of a tool. A fence between prose may as well be
an example: such a request is marked as quoted.
"""

from andy_cli.compiler.bodies import calls, forms, json_text, python_calls
from andy_cli.compiler.bodies.ends import Bare
from andy_cli.compiler.bodies.fences import unfenced
from andy_cli.compiler.dialect import Dialect, Parsed, Tools
from andy_cli.messages import ToolRequest


def parse(text: str, tools: Tools) -> Parsed | None:
    body, fenced = unfenced(text)
    body = body.lstrip(";, \n")
    if body[:1] not in "{[" or not body:
        return None
    values = list(json_text.values(body))
    value: object = values if len(values) > 1 else json_text.read(body)
    requests = calls.requests_in(value, tools, known=True) or as_texts(value, tools)
    if requests:
        return Parsed(tuple(requests), quotable=fenced)
    if not json_text.balanced(body) and forms.begins_call(body) and names_a_tool(body, tools):
        return Parsed(incomplete=True)
    return None


def as_texts(value: object, tools: Tools) -> list[ToolRequest] | None:
    """A list of calls, each written as a text: `["play(track='Blue')"]`."""
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        return None
    return python_calls.requests_in("\n".join(value), tools)


def names_a_tool(body: str, tools: Tools) -> bool:
    head = body[:400]
    return any(f'"{name}"' in head or f"'{name}'" in head for name in tools)


DIALECT = Dialect(
    name="json_bare",
    openers=(),
    line_openers=("{", "["),
    named_anywhere=tuple(
        f"{{{blank}{quote}{key}{quote}:{gap}{quote}NAME{quote}"
        for key in ("name", "tool", "function", "tool_name")
        for quote in ('"', "'")
        for blank, gap in (("", " "), ("", ""), (" ", " "))
    ),
    behind_openers=("; {", ";{", ", {", ",{", ";\n{", ",\n{"),
    body=Bare,
    parse=parse,
    write=forms.as_json,
    render=forms.render_with(forms.as_json, forms.told("Result:", "")),
    catalogue=forms.catalogue,
    lesson="calls",
    fenced=True,
    whole=True,
    models=("xlam*",),
)
