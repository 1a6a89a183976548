"""Qwen3-Coder, Qwen3.5, Nemotron 3, MiMo, Step 3.5: elements with raw values.

    <tool_call>
    <function=write_file>
    <parameter=path>
    notes.txt
    </parameter>
    </function>
    </tool_call>

One line break inside either tag of a value is framing, any other is data. The outer element is
lost now and then.
"""

from andy_cli.compiler.bodies.markup import tagged
from andy_cli.compiler.bodies.markup.elements import FUNCTION
from andy_cli.compiler.dialect import Parsed, Tools
from andy_cli.compiler.expression import Expression

OTHER = Expression(r"\s*<function=[^<>]*>\s*+(?!<parameter|<param |</|\Z|<)")
"""A bare call whose content is no element: that of `functionary_v31`."""


def parse(text: str, tools: Tools) -> Parsed | None:
    return None if OTHER.match(text) else TAGGED.parse(text, tools)


TAGGED = tagged.make_tagged_dialect(
    name="qwen3_coder",
    start_markers=("<tool_call>",),
    end_markers=("</tool_call>", "</function>"),
    tags=FUNCTION,
    call_forms=("<tool_call>\n<function=NAME>\n", "</function>\n</tool_call>"),
    value_forms=("<parameter=KEY>\n", "\n</parameter>\n"),
    bare_start_markers=("<function=",),
)

DIALECT = TAGGED._replace(
    parse=parse,
    models=tuple(
        (
            "qwen3-coder* qwen3.* qwen3.5* qwen3.6* qwen3.8* nemotron-3* mimo* step-3.5* step-5* "
            "nanbeige* granite-4.1-*thinking*"
        ).split()
    ),
)
