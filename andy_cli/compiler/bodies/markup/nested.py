"""Arguments as elements in elements, with a marker before every tag (MiniMax M3).

The marker never stands in a value, so every tag behind it is one.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping

from andy_cli.compiler.bodies.calls import clean_tool_name, declared_properties, parameters_schema
from andy_cli.compiler.bodies.markup.elements import SECTIONED
from andy_cli.compiler.bodies.markup.tagged import write_value
from andy_cli.compiler.bodies.typed import allowed_kinds, parse_typed
from andy_cli.compiler.dialect import Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import Schema, ToolRequest

MARK = "]<]minimax[>["
TAG = Expression(
    r"<(?P<close>/)?(?P<name>[^<>\s]{1,200})(?:\s+name=[\"'](?P<of>[^<>\"']{1,200})[\"'])?\s*>"
)
ITEM = "item"
DEEPEST = 100


class NestedElement:
    """An element: what stands in it, text or further elements."""

    __slots__ = ("children", "closed", "name", "text")

    def __init__(self, name: str) -> None:
        self.name, self.text = name, ""
        self.children: list[NestedElement] = []
        self.closed = False


def parse_nested(text: str, tools: Tools) -> Parsed | None:
    if MARK + "<invoke" not in text:
        return None
    requests: list[ToolRequest] = []
    for name, node in find_invocations(text):
        if not node.closed:
            return Parsed(tuple(requests), incomplete=True)
        name = clean_tool_name(name, tools)
        tool = tools.get(name)
        schemas, root = (declared_properties(tool) if tool else {}), parameters_schema(tool)
        arguments = read_members(node.children, schemas, root)
        requests.append(ToolRequest(name, arguments))
    return Parsed(tuple(requests)) if requests else None


def find_invocations(text: str) -> Iterator[tuple[str, NestedElement]]:
    """The calls with what stands in them; one that is cut off is not closed."""
    stack: list[NestedElement] = []
    name = ""
    for piece in text.split(MARK)[1:]:
        tag = TAG.match(piece)
        if tag is None:
            continue
        if tag["of"] and not stack:
            stack, name = [NestedElement("")], tag["of"]
        elif tag["close"] and stack:
            stack[-1].closed = True
            node = stack.pop()
            if not stack:
                yield name, node
        elif stack and len(stack) < DEEPEST:
            stack.append(NestedElement(tag["name"]))
            stack[-1].text = piece[tag.end() :]
            stack[-2].children.append(stack[-1])
    if stack:
        yield name, stack[0]


def nested_value(node: NestedElement, schema: Schema | None, root: Schema) -> object:
    schema = schema or {}
    if not node.children:
        empty = not node.text.strip() and "string" not in allowed_kinds(schema, root)
        if empty and (kind := allowed_kinds(schema, root) & {"array", "object"}):
            return [] if "array" in kind else {}
        return parse_typed(node.text, schema, root)
    items = schema.get("items")
    if "array" in allowed_kinds(schema, root) or all(child.name == ITEM for child in node.children):
        inner = items if isinstance(items, Mapping) else None
        return [nested_value(child, inner, root) for child in node.children]
    inside = schema.get("properties")
    schemas = inside if isinstance(inside, Mapping) else {}
    return read_members(node.children, schemas, root)


def read_members(
    nodes: list[NestedElement], schemas: Mapping[str, Schema], root: Schema
) -> dict[str, object]:
    """The values of elements by their names; a repeated one makes a list where one is wanted."""
    found: dict[str, object] = {}
    times = Counter(node.name for node in nodes)
    for node in nodes:
        schema = schemas.get(node.name)
        listed = times[node.name] > 1 and "array" in allowed_kinds(schema or {}, root)
        items = (schema or {}).get("items") if listed else schema
        made = nested_value(node, items if isinstance(items, Mapping) else None, root)
        if listed:
            before = found.setdefault(node.name, [])
            assert isinstance(before, list)
            before.append(made)
        else:
            found[node.name] = made
    return found


def write_nested(request: ToolRequest) -> str:
    values = [write_element(key, value) for key, value in (request.arguments or {}).items()]
    head = f'{MARK}<tool_call>{MARK}<invoke name="{request.name}">'
    return "".join([head, *values, f"{MARK}</invoke>{MARK}</tool_call>"])


def write_element(key: str, value: object) -> str:
    if isinstance(value, Mapping) and value:
        inner = "".join(write_element(str(name), item) for name, item in value.items())
    elif isinstance(value, list) and value:
        inner = "".join(write_element(ITEM, item) for item in value)
    else:
        inner = write_value(value, SECTIONED) if isinstance(value, str) else json.dumps(value)
    return f"{MARK}<{key}>{inner}{MARK}</{key}>"
