"""Step 3: DeepSeek's markers (full-width bars, plain low lines) around prefixed elements.

<|tool_calls_begin|><|tool_call_begin|>function<|tool_sep|><steptml:invoke name="play">
<steptml:parameter name="track">Blue</steptml:parameter></steptml:invoke><|tool_call_end|>
<|tool_calls_end|>
"""

from andy_cli.compiler.bodies import builders
from andy_cli.compiler.bodies.deepseek import CLOSERS, OPENERS, STEP, find_body, write_marker
from andy_cli.compiler.bodies.markup import tagged
from andy_cli.compiler.bodies.markup.elements import INVOKE
from andy_cli.compiler.bodies.markup.sections import MAX_HEAD_LENGTH
from andy_cli.compiler.dialect import Parsed, Tools

INVOKED = "</steptml:invoke>"
READ = tagged.make_tagged_parser(INVOKE, OPENERS, (*CLOSERS, INVOKED))


def parse(text: str, tools: Tools) -> Parsed | None:
    start = text.find(STEP, 0, MAX_HEAD_LENGTH)
    return READ(text[start:], tools) if start >= 0 else None


DIALECT = builders.make_taught_dialect(
    dialect_name="step3",
    start_markers=OPENERS,
    make_end_detector=find_body,
    parse_frame=parse,
    write_call=tagged.make_element_writer(
        (
            write_marker("tool_calls_begin", "_")
            + f"{write_marker('tool_call_begin', '_')}function{write_marker('tool_sep', '_')}"
            + '<steptml:invoke name="NAME">',
            INVOKED + write_marker("tool_call_end", "_") + write_marker("tool_calls_end", "_"),
        ),
        ('<steptml:parameter name="KEY">', "</steptml:parameter>"),
        INVOKE,
    ),
    end_markers=(*CLOSERS, INVOKED),
)._replace(models=("step3*",))
