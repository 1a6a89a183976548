"""Llama 3: objects with `parameters` after a marker, joined by `;`, `,` or a line break.

<|python_tag|>{"name": "play", "parameters": {"track": "Blue"}}; {"name": "stop", "parameters": {}}

The servers' own tools are called in Python there: `<|python_tag|>play.call(track="Blue")`.
"""

import ast

from andy_cli.compiler.bodies import builders, python_calls
from andy_cli.compiler.bodies.end_detectors import HeadDecision, HeldEnd, LineEnd, ReplyEnd
from andy_cli.compiler.bodies.markup import tagged
from andy_cli.compiler.bodies.markup.sections import LINE, MAX_HEAD_LENGTH, JsonSectionEnd
from andy_cli.compiler.dialect import Parsed, Tools
from andy_cli.compiler.expression import Expression

OPEN = "<|python_tag|>"
ENDS = ("<|eom_id|>", "<|eot_id|>")
NO_INTERPRETER = "No program can be run here. Use a tool that exists, or answer without."


def find_end(held: str) -> HeadDecision:
    """A JSON value, or a line of Python; further objects follow as plain JSON does."""
    start = held.lstrip()
    if start[:1] in ("{", "["):
        return JsonSectionEnd(), 0
    if LINE.match(start) and not start.startswith("print("):
        return LineEnd(), 0
    if PROGRAM.match(start):
        return ReplyEnd(), 0
    undecided = not start or (WORD.match(start) and len(start) <= MAX_HEAD_LENGTH)
    return None if undecided else -1


PROGRAM = Expression(r"(?:import|from|print)\b|\w+ *=")
WORD = Expression(r"[\w.\-/]+\Z")


def parse(text: str, tools: Tools) -> Parsed | None:
    body = builders.text_between(text, (OPEN,), ENDS)
    if body[:1] in ("{", "["):
        return tagged.json_section(body, (), tools)
    calls = python_calls.read_python_calls(body.replace(".call(", "(", 1), tools)
    if calls:
        return Parsed(tuple(calls))
    return Parsed(fault=NO_INTERPRETER) if is_program(body) else None


def is_program(text: str) -> bool:
    """Tell whether it is Python: Llama writes programs for an interpreter of its servers."""
    try:
        ast.parse(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
    return "(" in text or "=" in text


DIALECT = builders.make_taught_dialect(
    dialect_name="llama3_json",
    start_markers=(OPEN,),
    make_end_detector=lambda opener, tools: HeldEnd(find_end),
    parse_frame=parse,
    write_call=lambda request: (
        f"{OPEN}{builders.write_json_call(request, arguments_key='parameters')}"
    ),
)._replace(models=("llama-3.1*", "llama-3.2*", "llama-3.3*"))
