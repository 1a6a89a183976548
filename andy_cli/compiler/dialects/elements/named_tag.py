"""A tag of the tool's own name, with JSON or one element for each argument in it.

    <play>{"track": "Blue"}</play>
    <play><track>Blue</track></play>

Models make it up; it counts only for tools that exist and arguments that fit.
"""

import re
from collections.abc import Mapping

from andy_cli.compiler.bodies import builders, calls, json_text, typed
from andy_cli.compiler.bodies.end_detectors import MarkerEnd
from andy_cli.compiler.dialect import Dialect, EndDetector, Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import Schema, ToolRequest

TAG = Expression(r"<(?P<name>[\w.\-]+)>(?P<inside>.*?)</(?P=name)>\s*", re.S)
VALUE = Expression(r"\s*<(?P<key>\w+)>(?P<value>.*?)</(?P=key)>\s*", re.S)


def parse(text: str, tools: Tools) -> Parsed | None:
    tag = TAG.fullmatch(text)
    if not tag or tag["name"] not in tools:
        return None
    arguments = read_inside(tag["inside"].strip(), tag["name"], tools)
    if arguments is None:
        return None
    return Parsed((ToolRequest(name=tag["name"], arguments=arguments),))


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
        arguments[match["key"]] = typed.parse_typed(match["value"], schemas[match["key"]])
        position = match.end()
    return arguments if arguments and position == len(text) else None


def body(opener: str, tools: Tools) -> EndDetector:
    return MarkerEnd(f"</{opener[1:]}", skips_strings=True)


def write(request: ToolRequest) -> str:
    return f"<{request.name}>{builders.dump_arguments(request)}</{request.name}>"


DIALECT = Dialect(
    name="named_tag",
    start_markers=(),
    named_anywhere=("<NAME>",),
    body=body,
    parse=parse,
    write=write,
    render=builders.make_renderer(write, builders.result_between("<result>", "</result>")),
    render_tools=builders.render_schemas,
    prompt_template="calls",
)
