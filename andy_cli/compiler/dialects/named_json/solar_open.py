"""Solar Open: an id, the name and the arguments as JSON, each behind a marker of its own.

<|tool_calls|><|tool_call:begin|>a1b2c3d4e5<|tool_call:name|>play<|tool_call:args|>
{"track": "Blue"}<|tool_call:end|><|calls|>
"""

from andy_cli.compiler.bodies import builders
from andy_cli.compiler.bodies.markup.sections import make_headed_end
from andy_cli.compiler.expression import Expression

SECTION, CALL, NAME, ARGUMENTS = (
    "<|tool_calls|>",
    "<|tool_call:begin|>",
    "<|tool_call:name|>",
    "<|tool_call:args|>",
)
CLOSERS = ("<|tool_call:end|>", "<|calls|>")
HEAD = Expression(
    r"(?:<\|tool_calls\|>\s*)?(?:<\|tool_call:begin\|>\s*[^<>|\s]{0,80}\s*)?<\|tool_call:name\|>"
    r"\s*(?P<name>[\w.\-/]{1,200})\s*<\|tool_call:args\|>\s*"
)

DIALECT = builders.make_taught_dialect(
    dialect_name="solar_open",
    start_markers=(SECTION, CALL, NAME),
    end_markers=CLOSERS,
    make_end_detector=lambda opener, tools: make_headed_end(opener, *CLOSERS, heads=(HEAD,)),
    parse_frame=builders.make_headed_parser(CLOSERS, HEAD),
    write_call=lambda request: (
        f"{SECTION}{CALL}{request.id}{NAME}{request.name}{ARGUMENTS}"
        f"{builders.dump_arguments(request)}{CLOSERS[0]}{CLOSERS[1]}"
    ),
)._replace(models=("solar-open*",))
