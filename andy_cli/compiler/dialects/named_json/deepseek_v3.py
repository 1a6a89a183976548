"""DeepSeek V3 and R1: the kind of call, the name, and the arguments in a code fence.

    <|tool_calls_begin|><|tool_call_begin|>function<|tool_sep|>play
    ```json
    {"track": "Blue"}
    ```<|tool_call_end|><|tool_calls_end|>

The bars are full-width and the low lines U+2581, unless a quantized model writes ASCII.
"""

from andy_cli.compiler.bodies import builders
from andy_cli.compiler.bodies.deepseek import (
    CLOSERS,
    OPENERS,
    V3,
    find_body,
    make_reader,
    write_marker,
    write_section,
)
from andy_cli.messages import ToolRequest


def write(request: ToolRequest) -> str:
    head = f"function{write_marker('tool_sep')}{request.name}"
    return write_section(f"{head}\n```json\n{builders.dump_arguments(request)}\n```")


DIALECT = builders.make_taught_dialect(
    dialect_name="deepseek_v3",
    start_markers=OPENERS,
    make_end_detector=find_body,
    parse_frame=make_reader(V3),
    write_call=write,
    end_markers=CLOSERS,
)._replace(models=("deepseek-v3*", "deepseek-r1*", "cogito-v2*"))
