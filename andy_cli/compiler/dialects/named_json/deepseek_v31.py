"""DeepSeek 3.1: a name, a separator and the arguments as JSON (the bars are full-width).

    <|tool_calls_begin|><|tool_call_begin|>play<|tool_sep|>{"track": "Blue"}<|tool_call_end|>
    <|tool_calls_end|>

The low lines are U+2581; quantized models write both as ASCII, as here. Where a server strips
special tokens, `play{"track": "Blue"}` is left; other models write `play: {...}`.
"""

from andy_cli.compiler.bodies import builders, calls, json_text
from andy_cli.compiler.bodies.deepseek import (
    CLOSERS,
    OPENERS,
    V31,
    find_body,
    make_reader,
    write_marker,
    write_section,
)
from andy_cli.compiler.bodies.markup.sections import make_begun_end
from andy_cli.compiler.dialect import EndDetector, Parsed, Tools
from andy_cli.messages import ToolRequest

READ = make_reader(V31)


def make_end_detector(opener: str, tools: Tools) -> EndDetector:
    return make_begun_end(opener) if opener[-1] == "{" else find_body(opener, tools)


def parse(text: str, tools: Tools) -> Parsed | None:
    return READ(text, tools) if text[:1] == "<" else read_bare_call(text, tools)


def read_bare_call(text: str, tools: Tools) -> Parsed | None:
    """Read a name and an object, with no marker around it."""
    name, bracket, object_text = text.partition("{")
    arguments_text = bracket + object_text
    value = json_text.parse_strict(arguments_text)
    if isinstance(value, dict):
        name = calls.clean_tool_name(name.rstrip(": "), tools)
        return Parsed((ToolRequest(name, value),), settled=True)
    has_key = object_text.lstrip().startswith('"')
    is_cut_off = has_key and not json_text.is_balanced(arguments_text)
    return Parsed(incomplete=True) if is_cut_off else None


def write(request: ToolRequest) -> str:
    arguments_text = builders.dump_arguments(request)
    return write_section(f"{request.name}{write_marker('tool_sep')}{arguments_text}")


DIALECT = builders.make_taught_dialect(
    dialect_name="deepseek_v31",
    start_markers=OPENERS,
    make_end_detector=make_end_detector,
    parse_frame=parse,
    write_call=write,
    end_markers=CLOSERS,
)._replace(named_start_markers=("NAME{", "NAME {", "NAME: {"), models=("deepseek-v3.1*",))
