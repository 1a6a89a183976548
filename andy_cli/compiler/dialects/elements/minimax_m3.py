"""MiniMax M3: a marker before every tag, and parameters as elements named after their keys.

    ]<]minimax[>[<tool_call>]<]minimax[>[<invoke name="play">
    ]<]minimax[>[<track>Blue]<]minimax[>[</track>
    ]<]minimax[>[</invoke>]<]minimax[>[</tool_call>

Arrays and objects are elements in elements; the items of an array are <item>. The marker never
stands in a value, so every tag after it is one.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping

from andy_cli.compiler.bodies import builders
from andy_cli.compiler.bodies.calls import clean_tool_name, declared_properties, parameters_schema
from andy_cli.compiler.bodies.markup.elements import SECTIONED
from andy_cli.compiler.bodies.markup.sections import make_marked_end
from andy_cli.compiler.bodies.markup.tagged import write_value
from andy_cli.compiler.bodies.typed import allowed_kinds, parse_typed
from andy_cli.compiler.dialect import Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import Schema, ToolRequest

MARK = "]<]minimax[>["
BARE = f"{MARK}<invoke name="
OPENERS = (f"{MARK}<tool_call>", BARE)
CLOSERS = (f"{MARK}</invoke>", f"{MARK}</tool_call>")
TAG = Expression(
    r"<(?P<close>/)?(?P<name>[^<>\s]{1,200})(?:\s+name=[\"'](?P<of>[^<>\"']{1,200})[\"'])?\s*>"
)
ITEM = "item"
MAX_DEPTH = 100


class NestedElement:
    """An element: what stands in it, text or further elements."""

    __slots__ = ("children", "closed", "name", "text")

    def __init__(self, name: str, text: str = "") -> None:
        self.name, self.text = name, text
        self.children: list[NestedElement] = []
        self.closed = False


def parse(text: str, tools: Tools) -> Parsed | None:
    if f"{MARK}<invoke" not in text:
        return None
    requests: list[ToolRequest] = []
    for name, node in find_invocations(text):
        if not node.closed:
            return Parsed(tuple(requests), incomplete=True)
        name = clean_tool_name(name, tools)
        tool = tools.get(name)
        schemas, root_schema = declared_properties(tool), parameters_schema(tool)
        arguments = read_members(node.children, schemas, root_schema)
        requests.append(ToolRequest(name, arguments))
    return Parsed(tuple(requests)) if requests else None


def find_invocations(text: str) -> Iterator[tuple[str, NestedElement]]:
    """The calls with what stands in them; one that is cut off is not closed."""
    open_elements: list[NestedElement] = []
    name = ""
    for tag_text in text.split(MARK)[1:]:
        tag = TAG.match(tag_text)
        if tag is None:
            continue
        if not open_elements:
            if tag["of"]:
                open_elements, name = [NestedElement("")], tag["of"]
        elif tag["close"]:
            element = open_elements.pop()
            element.closed = True
            if not open_elements:
                yield name, element
        elif len(open_elements) < MAX_DEPTH:
            element = NestedElement(tag["name"], tag_text[tag.end() :])
            open_elements[-1].children.append(element)
            open_elements.append(element)
    if open_elements:
        yield name, open_elements[0]


def nested_value(node: NestedElement, schema: Schema | None, root_schema: Schema) -> object:
    """The value of an element: a list or an object of its children, or its text by the schema."""
    schema = schema or {}
    kinds = allowed_kinds(schema, root_schema)
    if not node.children:
        return _leaf_value(node.text, kinds, schema, root_schema)
    if "array" in kinds or all(child.name == ITEM for child in node.children):
        item_schema = _mapping_or_none(schema.get("items"))
        return [nested_value(child, item_schema, root_schema) for child in node.children]
    return read_members(
        node.children, _mapping_or_none(schema.get("properties")) or {}, root_schema
    )


def _leaf_value(text: str, kinds: frozenset[str], schema: Schema, root_schema: Schema) -> object:
    """The value of an element without children: an empty list or object where one is wanted."""
    if not text.strip() and "string" not in kinds:
        if "array" in kinds:
            return []
        if "object" in kinds:
            return {}
    return parse_typed(text, schema, root_schema)


def _mapping_or_none(value: object) -> Schema | None:
    return value if isinstance(value, Mapping) else None


def read_members(
    elements: list[NestedElement], schemas: Mapping[str, Schema], root_schema: Schema
) -> dict[str, object]:
    """The values of elements by their names; a repeated one makes a list where one is wanted."""
    members: dict[str, object] = {}
    name_counts = Counter(element.name for element in elements)
    for element in elements:
        schema = schemas.get(element.name)
        takes_list = "array" in allowed_kinds(schema or {}, root_schema)
        is_list = takes_list and name_counts[element.name] > 1
        member_schema = (schema or {}).get("items") if is_list else schema
        member_value = nested_value(element, _mapping_or_none(member_schema), root_schema)
        if is_list:
            earlier_values = members.setdefault(element.name, [])
            assert isinstance(earlier_values, list)
            earlier_values.append(member_value)
        else:
            members[element.name] = member_value
    return members


def write(request: ToolRequest) -> str:
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


DIALECT = builders.make_taught_dialect(
    dialect_name="minimax_m3",
    start_markers=OPENERS,
    make_end_detector=lambda opener, tools: make_marked_end(
        '"' if opener == BARE else BARE, *CLOSERS
    ),
    parse_frame=parse,
    write_call=write,
    end_markers=CLOSERS,
)._replace(models=("minimax-m3*",))
