"""Arguments as elements in elements, with a marker before every tag (MiniMax M3).

The marker never stands in a value, so every tag behind it is one.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping

from andy_cli.compiler.bodies.calls import parameters_schema, properties, tool_name
from andy_cli.compiler.bodies.elements import SECTIONED
from andy_cli.compiler.bodies.tagged import written
from andy_cli.compiler.bodies.typed import allowed, typed
from andy_cli.compiler.dialect import Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import Schema, ToolRequest

MARK = "]<]minimax[>["
TAG = Expression(
    r"<(?P<close>/)?(?P<name>[^<>\s]{1,200})(?:\s+name=[\"'](?P<of>[^<>\"']{1,200})[\"'])?\s*>"
)
ITEM = "item"
DEEPEST = 100


class Node:
    """An element: what stands in it, text or further elements."""

    __slots__ = ("children", "closed", "name", "text")

    def __init__(self, name: str) -> None:
        self.name, self.text = name, ""
        self.children: list[Node] = []
        self.closed = False


def parse(text: str, tools: Tools) -> Parsed | None:
    if MARK + "<invoke" not in text:
        return None
    requests: list[ToolRequest] = []
    for name, node in invoked(text):
        if not node.closed:
            return Parsed(tuple(requests), incomplete=True)
        name = tool_name(name, tools)
        tool = tools.get(name)
        schemas, root = (properties(tool) if tool else {}), parameters_schema(tool)
        arguments = members(node.children, schemas, root)
        requests.append(ToolRequest(name, arguments))
    return Parsed(tuple(requests)) if requests else None


def invoked(text: str) -> Iterator[tuple[str, Node]]:
    """The calls with what stands in them; one that is cut off is not closed."""
    stack: list[Node] = []
    name = ""
    for piece in text.split(MARK)[1:]:
        tag = TAG.match(piece)
        if tag is None:
            continue
        if tag["of"] and not stack:
            stack, name = [Node("")], tag["of"]
        elif tag["close"] and stack:
            stack[-1].closed = True
            node = stack.pop()
            if not stack:
                yield name, node
        elif stack and len(stack) < DEEPEST:
            stack.append(Node(tag["name"]))
            stack[-1].text = piece[tag.end() :]
            stack[-2].children.append(stack[-1])
    if stack:
        yield name, stack[0]


def value(node: Node, schema: Schema | None, root: Schema) -> object:
    schema = schema or {}
    if not node.children:
        empty = not node.text.strip() and "string" not in allowed(schema, root)
        if empty and (kind := allowed(schema, root) & {"array", "object"}):
            return [] if "array" in kind else {}
        return typed(node.text, schema, root)
    items = schema.get("items")
    if "array" in allowed(schema, root) or all(child.name == ITEM for child in node.children):
        inner = items if isinstance(items, Mapping) else None
        return [value(child, inner, root) for child in node.children]
    inside = schema.get("properties")
    schemas = inside if isinstance(inside, Mapping) else {}
    return members(node.children, schemas, root)


def members(nodes: list[Node], schemas: Mapping[str, Schema], root: Schema) -> dict[str, object]:
    """The values of elements by their names; a repeated one makes a list where one is wanted."""
    found: dict[str, object] = {}
    times = Counter(node.name for node in nodes)
    for node in nodes:
        schema = schemas.get(node.name)
        listed = times[node.name] > 1 and "array" in allowed(schema or {}, root)
        items = (schema or {}).get("items") if listed else schema
        made = value(node, items if isinstance(items, Mapping) else None, root)
        if listed:
            before = found.setdefault(node.name, [])
            assert isinstance(before, list)
            before.append(made)
        else:
            found[node.name] = made
    return found


def write(request: ToolRequest) -> str:
    values = [element(key, value) for key, value in (request.arguments or {}).items()]
    head = f'{MARK}<tool_call>{MARK}<invoke name="{request.name}">'
    return "".join([head, *values, f"{MARK}</invoke>{MARK}</tool_call>"])


def element(key: str, value: object) -> str:
    if isinstance(value, Mapping) and value:
        inner = "".join(element(str(name), item) for name, item in value.items())
    elif isinstance(value, list) and value:
        inner = "".join(element(ITEM, item) for item in value)
    else:
        inner = written(value, SECTIONED) if isinstance(value, str) else json.dumps(value)
    return f"{MARK}<{key}>{inner}{MARK}</{key}>"
