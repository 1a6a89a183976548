"""A tag of the tool's own name, with JSON, one element or one attribute for each argument.

    <play>{"track": "Blue"}</play>
    <play><track>Blue</track></play>
    <play track="Blue"/>
    <write path="a.txt">The text.</write>

A line break inside either tag of an element is framing, where both are there. Models make it up; it
counts only for tools that exist and arguments that fit.
"""

import re
from collections.abc import Mapping
from functools import partial

from andy_cli.compiler.bodies import builders, calls, json_text, typed
from andy_cli.compiler.bodies.end_detectors import HeadDecision, HeldEnd, MarkerEnd
from andy_cli.compiler.bodies.markup.elements import strip_line_breaks
from andy_cli.compiler.dialect import EndDetector, Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import Schema, ToolRequest

TAG = Expression(r"<(?P<name>[\w.\-]+)>(?P<inside>.*?)</(?P=name)>\s*", re.S)
ATTRIBUTES = r"(?:\s+[\w.\-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*\s*"
OPENING = Expression(rf"{ATTRIBUTES}(?P<closed>/?)>")
"""The tag after its name, with attributes."""
PART_OF_OPENING = Expression(rf"{ATTRIBUTES}(?:[\w.\-]+\s*(?:=\s*(?:\"[^\"]*|'[^']*)?)?)?/?\Z")
"""The beginning of such a one."""
ATTRIBUTE = Expression(r"(?P<key>[\w.\-]+)\s*=\s*(?P<quote>[\"'])(?P<text>.*?)(?P=quote)", re.S)
WITH_ATTRIBUTES = Expression(
    rf"<(?P<name>[\w.\-]+)(?P<attributes>{ATTRIBUTES})(?:/>|>(?P<inside>.*?)</(?P=name)>)\s*",
    re.S,
)
VALUE = Expression(r"\s*<(?P<key>\w+)>(?P<value>.*?)</(?P=key)>\s*", re.S)


def parse(text: str, tools: Tools) -> Parsed | None:
    tag, tag_with_attributes = TAG.fullmatch(text), WITH_ATTRIBUTES.fullmatch(text)
    match = tag or tag_with_attributes
    if match is None or match["name"] not in tools:
        return None
    if tag:
        arguments = read_inside(tag["inside"].strip(), tag["name"], tools)
    else:
        arguments = read_attributes(match, tools[match["name"]])
    if arguments is None:
        # Nobody else reads attributes: `<form action="/x">` may as well be HTML.
        return None if tag else Parsed(text=text)
    return Parsed((ToolRequest(name=match["name"], arguments=arguments),))


def read_attributes(tag: re.Match[str], tool: Schema) -> dict[str, object] | None:
    """The arguments of a tag with attributes; what stands in it is the one that is still needed.
    None where they are not the tool's, and its name is one of HTML as well."""
    schemas = calls.declared_properties(tool)
    required = set(calls.parameters_schema(tool).get("required") or ())
    written = {match["key"]: match["text"] for match in ATTRIBUTE.finditer(tag["attributes"])}
    inside = (tag["inside"] or "").strip("\n")
    if inside.strip():
        missing = sorted(required - written.keys())
        # Where nothing is missing it gets a name that no tool has: so it is refused below.
        written[missing[0] if missing else "\0"] = inside
    if schemas.keys() >= written.keys() >= required:
        return {name: typed.parse_typed(text, schemas[name]) for name, text in written.items()}
    return dict(written) if "_" in tag["name"] and not inside else None


def read_inside(text: str, name: str, tools: Tools) -> dict[str, object] | None:
    """The arguments in a tag, as JSON or as elements; None where they are not the tool's."""
    schemas = calls.declared_properties(tools[name])
    if not text:
        return {} if not calls.parameters_schema(tools[name]).get("required") else None
    if text.startswith("{"):
        value = json_text.read_value(text)
        return value if isinstance(value, dict) and set(value) <= set(schemas) else None
    return read_children(text, schemas)


def read_children(text: str, schemas: Mapping[str, Schema]) -> dict[str, object] | None:
    arguments: dict[str, object] = {}
    position = 0
    for match in VALUE.finditer(text):
        if match.start() != position or match["key"] not in schemas:
            return None
        value = strip_line_breaks(match["value"], strip_single=False)
        arguments[match["key"]] = typed.parse_typed(value, schemas[match["key"]])
        position = match.end()
    return arguments if arguments and position == len(text) else None


def find_attributes_end(name: str, held: str) -> HeadDecision:
    """Ends with a tag that closes itself, else with its counterpart."""
    opening = OPENING.match(held)
    if opening is None:
        may_go_on = len(held) < MAX_OPENING_LENGTH and PART_OF_OPENING.match(held)
        return None if may_go_on else -1
    if opening["closed"]:
        return opening.end()
    return MarkerEnd(f"</{name}>"), opening.end()


MAX_OPENING_LENGTH = 4000
"""Characters of the attributes of a tag."""


def make_end_detector(opener: str, tools: Tools) -> EndDetector:
    name = opener[1:-1]
    if opener[-1] == ">":
        return MarkerEnd(f"</{name}>", skips_strings=True)
    return HeldEnd(partial(find_attributes_end, name), " ")


def write(request: ToolRequest) -> str:
    return f"<{request.name}>{builders.dump_arguments(request)}</{request.name}>"


DIALECT = builders.make_taught_dialect(
    dialect_name="named_tag",
    start_markers=(),
    make_end_detector=make_end_detector,
    parse_frame=parse,
    write_call=write,
    result_markers=("<result>", "</result>"),
)._replace(named_anywhere=("<NAME>", "<NAME "))
