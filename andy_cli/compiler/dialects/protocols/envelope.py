"""Envelope: one JSON object with everything the reply does (B1 to B35).

    {"toolCalls": [
      {"type": "gmail_list", "id": "1", "operation": "list", "parameters": {"maxResults": 3}},
      {"type": "send_chat", "id": "2", "operation": "send", "parameters": {"content": "Here:"}},
      {"type": "end_turn", "id": "3", "operation": "end", "parameters": {}}]}

Each item is judged on its own: the good ones are kept, for each bad one a fault says why (B32).
`send_chat` is what the user reads, `end_turn` that the turn is over.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from andy_cli.compiler.bodies import builders, constraint_schemas, json_text
from andy_cli.compiler.bodies.wrappings import strip_fence
from andy_cli.compiler.dialect import Parsed, Tools
from andy_cli.messages import Constraint, Message, Schema, ToolRequest, Wire

ALIASES = {
    "write": "send_chat",
    "get": "file_get",
    "put": "file_put",
    "terminal": "terminal_execute",
}
SPOKEN, ENDED = "send_chat", "end_turn"


@dataclass(frozen=True, slots=True)
class Envelope:
    """The calls in the order written, and in words why other items are none (B30)."""

    calls: tuple[ToolRequest, ...] = ()
    errors: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """Corrections of good items."""
    found: bool = False
    """There was an object with the key `toolCalls`."""


def read_envelope(text: str, tools: Tools | None = None) -> Envelope:
    """Never raises. Accepts a fence in any case, a BOM, and text around the object (R8).

    With `tools` a type that is none of them is an error of that item.
    """
    body = strip_fence(text.strip().lstrip("\ufeff").strip())
    start = body.find("{")
    value = json_text.read_value(body[start:]) if start >= 0 else None
    if value is None:
        return Envelope(errors=("failed to parse JSON: there is no object in the reply",))
    items = value.get("toolCalls") if isinstance(value, dict) else None
    if not isinstance(items, list):
        return Envelope(errors=("the object has no list toolCalls",))
    requests: list[ToolRequest] = []
    errors: list[str] = []
    notes: list[str] = []
    used_ids: set[str] = set()
    for index, item in enumerate(items):
        if fault := find_fault(item, index, tools):
            errors.append(fault)
            continue
        request = read_call(item, index, tools, used_ids)
        requests.append(request)
        if item.get("id") in used_ids:
            notes.append(f"the id {item['id']!r} was given twice: it became {request.id!r}")
        used_ids.add(request.id)
    return Envelope(tuple(requests), tuple(errors), tuple(notes), found=True)


def find_fault(item: object, index: int, tools: Tools | None) -> str:
    """Why an item is no call; empty where it is one."""
    if not isinstance(item, Mapping):
        return f"toolCalls[{index}] is not an object"
    kind, priority = item.get("type"), item.get("priority", 0)
    if not isinstance(kind, str):
        return f"toolCalls[{index}] has no type"
    if not isinstance(item.get("parameters", {}), Mapping):
        return f"toolCalls[{index}] ({kind}): parameters is not an object"
    if tools and find_name(kind, tools) not in (*tools, SPOKEN, ENDED):
        return f"toolCalls[{index}]: there is no type {kind!r}"
    if isinstance(priority, bool) or not isinstance(priority, int | float):
        return f"toolCalls[{index}] ({kind}): priority is not a number"
    return ""


def find_name(kind: str, tools: Tools | None) -> str:
    """The name of the tool that a type means."""
    return kind if tools and kind in tools else ALIASES.get(kind, kind)


def read_call(
    item: Mapping[str, Any], index: int, tools: Tools | None, used_ids: Collection[str]
) -> ToolRequest:
    """Read an item without a fault; an id that was given before is not given again."""
    name, written, operation = find_name(item["type"], tools), item.get("id"), item.get("operation")
    return ToolRequest(
        name=name,
        arguments=item.get("parameters", {}),
        id=written if isinstance(written, str) and written not in used_ids else f"call{index}",
        operation=operation if isinstance(operation, str) else name,
        priority=item.get("priority", 0),
    )


def parse(text: str, tools: Tools) -> Parsed | None:
    body = strip_fence(text)
    if '"toolCalls"' not in body and "'toolCalls'" not in body:
        return None
    if not json_text.is_balanced(body) and json_text.parse_strict(body) is None:
        return Parsed(incomplete=True)
    envelope = read_envelope(body, tools)
    if not envelope.found:
        return None
    requests = tuple(call for call in envelope.calls if call.name in tools or not is_spoken(call))
    return Parsed(
        requests,
        repairs=envelope.notes,
        text=spoken_text(envelope.calls, tools),
        fault="; ".join(envelope.errors),
        settled=True,
    )


def spoken_text(requests: Sequence[ToolRequest], tools: Tools) -> str:
    """The words for the user in calls, unless a tool is there to say them."""
    if SPOKEN in tools and any(request.name == SPOKEN for request in requests):
        return ""
    spoken_arguments = [request.arguments or {} for request in requests if is_spoken(request)]
    return "\n\n".join(
        filter(None, (str(arguments.get("content", "")) for arguments in spoken_arguments))
    )


def is_spoken(request: ToolRequest) -> bool:
    """It is carried out by saying or ending, not by a tool."""
    return request.name in (SPOKEN, ENDED)


def write_item(request: ToolRequest) -> dict[str, object]:
    return {
        "type": request.name,
        "id": request.id or "1",
        "operation": request.operation or request.name,
        "parameters": dict(request.arguments or {}),
    }


def write_envelope(*requests: ToolRequest) -> str:
    return json.dumps({"toolCalls": list(map(write_item, requests))}, ensure_ascii=False)


def render(history: Sequence[Message]) -> list[Wire]:
    """Write what was said and asked for as one object; without a request the turn ends."""
    return builders.render_texts(history, wire_content)


def wire_content(message: Message) -> str:
    if message.role == "tool":
        return f"Result of {message.name} ({message.call_id}):\n{message.content}"
    if message.role != "assistant":
        return message.content
    spoken_requests = (
        [ToolRequest(SPOKEN, {"content": message.content}, "said")] if message.content else []
    )
    tool_requests = [ToolRequest(call.name, call.arguments, call.id) for call in message.calls]
    return write_envelope(
        *spoken_requests,
        *tool_requests,
        *([] if tool_requests else [ToolRequest(ENDED, {}, "end")]),
    )


TEXT: Schema = {"type": "string"}


def constraint(tools: Tools, demanded: bool = False) -> Constraint:
    """One object with items whose parameters fit; what is said stands in an item of its own."""
    kinds = constraint_schemas.arguments_schemas(tools)
    if not demanded:
        kinds = {
            SPOKEN: constraint_schemas.make_object({"content": TEXT}),
            ENDED: {"type": "object"},
            **kinds,
        }
    items = [
        constraint_schemas.make_object(
            {"type": {"const": name}, "id": TEXT, "operation": TEXT, "parameters": schema}
        )
        for name, schema in kinds.items()
    ]
    listed = {"type": "array", "minItems": 1, "items": constraint_schemas.one_of(items)}
    return Constraint(schema=constraint_schemas.make_object({"toolCalls": listed}))


DIALECT = builders.make_bare_dialect("envelope", parse, write_envelope)._replace(
    line_start_markers=("{",),
    render=render,
    prompt_template="envelope",
    calls_only=True,
    constraint=constraint,
)
