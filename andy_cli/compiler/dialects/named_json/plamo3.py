"""PLaMo 3: a block for the name and one for the arguments.

<|plamo:begin_tool_requests:plamo|><|plamo:begin_tool_request:plamo|>
<|plamo:begin_tool_name:plamo|>play<|plamo:end_tool_name:plamo|>
<|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{"track": "Blue"}
<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>
<|plamo:end_tool_requests:plamo|>
"""

from itertools import product

from andy_cli.compiler.bodies import builders
from andy_cli.compiler.bodies.markup.sections import make_headed_end
from andy_cli.compiler.expression import Expression

MARK = r"\s*<\|plamo:[\w:]{1,60}\|>\s*"
HEAD = Expression(
    rf"(?:{MARK}){{1,9}}(?P<name>[\w.\-/]{{1,200}})(?:{MARK}){{1,9}}(?:json(?:{MARK}){{1,3}})?"
)
BLOCKS = ("tool_requests", "tool_request", "tool_name", "tool_arguments")


def spell_marks(boundary: str) -> tuple[str, ...]:
    return tuple(
        f"<|plamo:{boundary}_{block}{tail}|>" for block, tail in product(BLOCKS, (":plamo", ""))
    )


CLOSERS = tuple(mark for mark in spell_marks("end") if "tool_name" not in mark)

DIALECT = builders.make_taught_dialect(
    dialect_name="plamo3",
    start_markers=tuple(mark for mark in spell_marks("begin") if "arguments" not in mark),
    end_markers=CLOSERS,
    make_end_detector=lambda opener, tools: make_headed_end(opener, *CLOSERS, heads=(HEAD,)),
    parse_frame=builders.make_headed_parser(CLOSERS, HEAD),
    write_call=lambda request: (
        "<|plamo:begin_tool_requests:plamo|><|plamo:begin_tool_request:plamo|>"
        f"<|plamo:begin_tool_name:plamo|>{request.name}<|plamo:end_tool_name:plamo|>"
        "<|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>"
        f"{builders.dump_arguments(request)}<|plamo:end_tool_arguments:plamo|>"
        "<|plamo:end_tool_request:plamo|><|plamo:end_tool_requests:plamo|>"
    ),
)._replace(models=("plamo-3*",))
