"""Calls written as elements, `<function=NAME><parameter=KEY>VALUE</parameter></function>` and kin.

The value is the text between the tags, neither JSON nor escaped: its type comes from the schema.
Not an XML reader: models drop closers, close the wrong element, and quote tags in values.
"""

import re
from dataclasses import dataclass

from andy_cli.compiler.bodies.calls import parameters_schema, properties, tool_name
from andy_cli.compiler.bodies.typed import typed
from andy_cli.compiler.dialect import Tools
from andy_cli.messages import Schema, ToolRequest


@dataclass(frozen=True, slots=True)
class Tags:
    """How a family writes a call: expressions with the groups `name` and `key`."""

    call: str
    """Opens a call."""
    call_end: str
    parameter: str
    """Opens a value."""
    parameter_end: str


FUNCTION = Tags(
    call=r"<function\s*=\s*[\"']?(?P<name>[^>\"'\s]+)[\"']?\s*>",
    call_end=r"</function\s*>",
    parameter=r"<parameter\s*=\s*[\"']?(?P<key>[^>\"']+?)[\"']?\s*>",
    parameter_end=r"</parameter\s*>",
)
INVOKE = Tags(
    call=r"<(?:\w+:)?invoke\s+name\s*=\s*[\"']?(?P<name>[^>\"']+)[\"']?[^>]*>",
    call_end=r"</(?:\w+:)?invoke\s*>",
    parameter=r"<(?:\w+:)?parameter\s+name\s*=\s*[\"']?(?P<key>[^>\"']+)[\"']?[^>]*>",
    parameter_end=r"</(?:\w+:)?parameter\s*>",
)
NAMED_FUNCTION = Tags(
    call=r"<function[\s\u0120]*name\s*=\s*[\"']?(?P<name>[^>\"']+)[\"']?\s*>",
    call_end=r"</function\s*>",
    parameter=r"<param(?:eter)?[\s\u0120]*name\s*=\s*[\"']?(?P<key>[^>\"']+)[\"']?[^>]*>",
    parameter_end=r"</param(?:eter)?\s*>",
)
FAMILIES = (FUNCTION, INVOKE, NAMED_FUNCTION)


def requests_in(text: str, tools: Tools, tags: Tags | None = None) -> list[ToolRequest] | None:
    """The calls in the text, in order; None if there is none in any of the families."""
    for each in (tags,) if tags else FAMILIES:
        starts = list(re.finditer(each.call, text))
        if not starts:
            continue
        requests = []
        for match, behind in zip(starts, [*starts[1:], None], strict=True):
            inside = text[match.end() : behind.start() if behind else len(text)]
            name = tool_name(match["name"], tools)
            ends = list(re.finditer(each.call_end, inside))
            inside = inside[: ends[-1].start()] if ends else inside
            requests.append(
                ToolRequest(name=name, arguments=parameters(inside, tools.get(name), each))
            )
        return requests
    return None


def parameters(text: str, tool: Schema | None, tags: Tags) -> dict[str, object]:
    """The values, each up to the last closer before the next value begins."""
    schemas = properties(tool) if tool else {}
    starts: list[re.Match[str]] = []
    for match in re.finditer(tags.parameter, text):
        between = text[starts[-1].end() : match.start()] if starts else ""
        # A tag inside a value looks the same: it counts if the value before it was closed.
        if (
            not starts
            or re.search(tags.parameter_end + r"\s*$", between)
            or match["key"] in schemas
        ):
            starts.append(match)
    found: dict[str, object] = {}
    for match, behind in zip(starts, [*starts[1:], None], strict=True):
        value = text[match.end() : behind.start() if behind else len(text)]
        ends = list(re.finditer(tags.parameter_end, value))
        value = value[: ends[-1].start()] if ends else value
        key = match["key"].strip()
        found[key] = valued(match[0], framed(value), schemas.get(key), parameters_schema(tool))
    return found


def valued(tag: str, text: str, schema: Schema | None, root: Schema) -> object:
    """Typed by the tag if it says `string="true|false"` (DSML), else by the schema."""
    told = re.search(r"\bstring\s*=\s*[\"']?(true|false)", tag)
    if told and told[1] == "true":
        return text
    return typed(text, None if told else schema, root)


def framed(value: str) -> str:
    """Without the one line break behind the tag and the one before its closer."""
    value = value.removeprefix("\r\n").removeprefix("\n")
    value = value.removesuffix("\n").removesuffix("\r")
    return value[9:-3] if value.startswith("<![CDATA[") and value.endswith("]]>") else value


KEY = re.compile(r"<(?P<tag>[\w|:]*arg_key)>(?P<key>.*?)</(?P=tag)>", re.S)
VALUE = re.compile(
    r"\s*(?:<[\w|:]*arg_type>.*?</[\w|:]*arg_type>\s*)?<(?P<tag>[\w|:]*arg_value)>", re.S
)


def pairs_in(text: str, tools: Tools) -> list[ToolRequest] | None:
    """GLM: `NAME<arg_key>K</arg_key><arg_value>V</arg_value>`; only the name is a call too."""
    first = KEY.search(text)
    head = text[: first.start()] if first else text
    name = tool_name(head.strip().removesuffix("<tool_sep>"), tools)
    if not re.fullmatch(r"[\w.\-:/]+", name):
        return None
    tool = tools.get(name)
    schemas, root = (properties(tool) if tool else {}), parameters_schema(tool)
    found: dict[str, object] = {}
    keys = list(KEY.finditer(text))
    for match, behind in zip(keys, [*keys[1:], None], strict=True):
        rest = text[match.end() : behind.start() if behind else len(text)]
        opened = VALUE.match(rest)
        if not opened:
            continue
        value = rest[opened.end() :]
        end = value.rfind(f"</{opened['tag']}>")
        key = match["key"].strip()
        found[key] = typed(value[:end] if end >= 0 else value.rstrip(), schemas.get(key), root)
    return [ToolRequest(name=name, arguments=found)]
