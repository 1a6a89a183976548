"""Plain JSON: an object or a list of calls, alone on its lines or in a fence of its own.

    {"name": "play", "arguments": {"track": "Blue"}}

    ```json
    [{"name": "play", "parameters": {"track": "Blue"}}]
    ```

No marker announces it, so every name must be that of a tool. A fence between prose may as well be
an example: such a request is marked as quoted.
"""

import json

from andy_cli.compiler.bodies import calls, forms, json_text, python_calls
from andy_cli.compiler.bodies.ends import Bare
from andy_cli.compiler.bodies.fences import unfenced
from andy_cli.compiler.dialect import Dialect, Parsed, Tools
from andy_cli.compiler.expression import Expression


def parse(text: str, tools: Tools) -> Parsed | None:
    body, _ = unfenced(text)
    body = body.lstrip(";, \n")
    if body[:1] not in "{[" or not body:
        return None
    body = json_text.close_last(body)
    values = list(json_text.values(body))
    value: object = values if len(values) > 1 else json_text.read(body)
    requests = calls.requests_in(value, tools, known=True) or python_calls.read_texts(value, tools)
    if requests:
        return Parsed(tuple(requests), explicit=calls.names_arguments(value))
    if calls.names_arguments(value):
        # In a list one bad neighbour silences nobody.
        found = calls.requests_in(value, tools) or ()
        if parsed := calls.split_known(found, tools):
            return parsed._replace(explicit=True)
    if isinstance(value, list) and (parsed := readable(value, tools)):
        return parsed
    if len(lines := NEXT_OBJECT.split(body)) > 1 and (parsed := readable_lines(lines, tools)):
        return parsed
    if not json_text.balanced(body) and forms.begins_call(body) and names_a_tool(body, tools):
        return Parsed(incomplete=True)
    return None


def readable(values: list[object], tools: Tools) -> Parsed | None:
    """Read those entries of a list that are calls with arguments; the others are reported."""
    read = [calls.names_arguments(value) and calls.requests_in(value, tools) for value in values]
    parsed = calls.split_known([request for requests in read for request in requests or ()], tools)
    if parsed is None or not parsed.requests:
        return None
    pairs = zip(values, read, strict=True)
    unread = [json.dumps(value)[:80] for value, found in pairs if not found]
    faults = [parsed.fault, *(f"This is no request: {value}." for value in unread)]
    return parsed._replace(fault=" ".join(filter(None, faults)))


NEXT_OBJECT = Expression(r"\n[ \t]*(?=\{\s*[\"'])")


def readable_lines(lines: list[str], tools: Tools) -> Parsed | None:
    """Read those of several objects, one a line, that can be read; the others are reported."""
    values = [(line, json_text.read(line)) for line in lines]
    return readable([line if value is None else value for line, value in values], tools)


def names_a_tool(body: str, tools: Tools) -> bool:
    head = body[:400]
    return any(f'"{name}"' in head or f"'{name}'" in head for name in tools)


DIALECT = Dialect(
    name="json_bare",
    openers=("{", "["),
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
