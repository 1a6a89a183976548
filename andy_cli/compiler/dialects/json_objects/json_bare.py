"""Plain JSON: an object or a list of calls, alone on its lines or in a fence of its own.

    {"name": "play", "arguments": {"track": "Blue"}}

    ```json
    [{"name": "play", "parameters": {"track": "Blue"}}]
    ```

No marker announces it, so every name must be that of a tool. A fence between prose may as well be
an example: such a request is marked as quoted.
"""

import json

from andy_cli.compiler.bodies import builders, calls, json_text, python_calls
from andy_cli.compiler.bodies.contents import NEXT_OBJECT
from andy_cli.compiler.bodies.wrappings import strip_fence
from andy_cli.compiler.dialect import Parsed, Tools
from andy_cli.messages import ToolRequest


def parse(text: str, tools: Tools) -> Parsed | None:
    body = strip_fence(text)
    body = body.lstrip(";, \n")
    if not body.startswith(("{", "[")):
        return None
    body = json_text.close_last(body)
    values, _ = json_text.values_and_rest(body)
    value: object = values if len(values) > 1 else json_text.read_value(body)
    if (answer := calls.read_final_answer(value, tools)) is not None:
        return Parsed(text=answer)
    if value in NO_CALLS:
        return Parsed()
    parsed = read_known(value, tools) or read_lines(body, tools)
    if parsed is not None:
        return parsed
    if not json_text.is_balanced(body) and builders.begins_call(body) and names_a_tool(body, tools):
        return Parsed(incomplete=True)
    return None


NO_CALLS: tuple[object, ...] = ({"tool_calls": []}, {"toolCalls": []})
"""Objects by which models fill in the form with nothing."""


def read_known(value: object, tools: Tools) -> Parsed | None:
    """Read a value that is nothing but calls of known tools, else those of its parts that are."""
    read_requests = calls.read_requests(value, tools) or []
    # Nothing but the name of a tool says that this is a request.
    are_known = all(request.name in tools for request in read_requests)
    requests = (are_known and read_requests) or python_calls.read_texts(value, tools)
    if requests:
        return Parsed(tuple(requests), explicit=calls.names_arguments(value))
    if calls.names_arguments(value) and (parsed := calls.split_known(read_requests, tools)):
        # In a list one bad neighbour silences nobody.
        return parsed._replace(explicit=True)
    return read_entries(value, tools) if isinstance(value, list) else None


def read_entries(entries: list[object], tools: Tools) -> Parsed | None:
    """Read those entries of a list that are calls with arguments; the others are reported."""
    unread: list[str] = []
    requests: list[ToolRequest] = []
    for entry in entries:
        entry_requests = calls.read_requests(entry, tools) if calls.names_arguments(entry) else None
        requests += entry_requests or ()
        if not entry_requests:
            unread.append(f"This is no request: {json.dumps(entry)[:80]}.")
    parsed = calls.split_known(requests, tools)
    if parsed is None or not parsed.requests:
        return None
    return parsed._replace(fault=" ".join(filter(None, [parsed.fault, *unread])))


def read_lines(body: str, tools: Tools) -> Parsed | None:
    """Read those of several objects, one a line, that can be read; the others are reported."""
    lines = NEXT_OBJECT.split(body)
    if len(lines) == 1:
        return None
    values = [(line, json_text.read_value(line)) for line in lines]
    return read_entries([line if value is None else value for line, value in values], tools)


def names_a_tool(body: str, tools: Tools) -> bool:
    head = body[:400]
    return any(f'"{name}"' in head or f"'{name}'" in head for name in tools)


DIALECT = builders.make_bare_dialect("json_bare", parse, builders.write_json_call)._replace(
    start_markers=("{", "["),
    continuation_markers=("; {", ";{", ", {", ",{", ";\n{", ",\n{"),
    models=("xlam*",),
)
