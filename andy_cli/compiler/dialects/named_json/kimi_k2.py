"""Kimi K2: an id that carries the name, then the arguments as JSON.

    <|tool_calls_section_begin|><|tool_call_begin|>functions.play:0<|tool_call_argument_begin|>
    {"track": "Blue"}<|tool_call_end|><|tool_calls_section_end|>

Where a server strips special tokens, `functions.play:0{"track": "Blue"}` is left.
"""

from andy_cli.compiler import ids
from andy_cli.compiler.bodies import builders
from andy_cli.compiler.bodies.deepseek import KIMI, KIMI_CLOSERS, KIMI_OPENERS, find_body
from andy_cli.messages import ToolRequest

SECTION, _, CALL = KIMI_OPENERS
CALLED, SECTIONED, _ = KIMI_CLOSERS


def write(request: ToolRequest) -> str:
    id = request.id or f"functions.{request.name}:0"
    head = f"{SECTION}{CALL}{id}<|tool_call_argument_begin|>"
    return f"{head}{builders.dump_arguments(request)}{CALLED}{SECTIONED}"


DIALECT = builders.make_taught_dialect(
    dialect_name="kimi_k2",
    start_markers=KIMI_OPENERS,
    make_end_detector=find_body,
    parse_frame=builders.make_headed_parser(KIMI_CLOSERS, KIMI),
    write_call=write,
    end_markers=KIMI_CLOSERS,
)._replace(
    named_start_markers=("functions.NAME:",), models=("kimi-k2*",), id_form=ids.number_by_name
)
