"""`@tool`: a line for each call (D8); names may hold dots.

@tool kom.memory.v1.search_memory {"query": {"text": "a } brace"}}
"""

import re

from andy_cli.compiler.bodies import builders, calls, json_text
from andy_cli.compiler.bodies.end_detectors import HeadDecision, HeldEnd
from andy_cli.compiler.bodies.json_scan import JsonScan
from andy_cli.compiler.dialect import Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import ToolRequest

LINE = Expression(r"@tool[ \t]+(?P<name>[\w.\-/]+)[ \t]*(?P<rest>.*)", re.S)


def find_end(held: str) -> HeadDecision:
    """A line; if an object begins on it, to the end of the object."""
    line, line_end, _ = held.partition("\n")
    if "{" in line:
        return JsonScan(), line.index("{")
    return len(line) if line_end else None


def parse(text: str, tools: Tools) -> Parsed | None:
    line = LINE.fullmatch(text.rstrip())
    if not line:
        return None
    name, arguments_text = calls.clean_tool_name(line["name"], tools), line["rest"].strip()
    if not arguments_text:
        return Parsed((ToolRequest(name=name, arguments={}),))
    if not arguments_text.startswith("{"):
        return None
    arguments = calls.read_argument_object(json_text.read_value(arguments_text), tools.get(name))
    if not json_text.is_balanced(arguments_text) and json_text.parse_strict(arguments_text) is None:
        return Parsed(incomplete=True)
    return Parsed((ToolRequest(name=name, arguments=arguments),)) if arguments is not None else None


def write(request: ToolRequest) -> str:
    return f"@tool {request.name} {builders.dump_arguments(request)}"


DIALECT = builders.make_taught_dialect(
    dialect_name="at_tool",
    start_markers=(),
    make_end_detector=lambda opener, tools: HeldEnd(find_end),
    parse_frame=parse,
    write_call=write,
    result_markers=builders.RESULT,
)._replace(line_start_markers=("@tool ",))
