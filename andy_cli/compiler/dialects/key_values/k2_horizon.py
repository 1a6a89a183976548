"""K2 Horizon: GLM's pairs with a prefix on every tag; a JSON object inside is legal too.

<ifm|tool_call>play<ifm|arg_key>track</ifm|arg_key><ifm|arg_value>Blue</ifm|arg_value></ifm|tool_call>

A pair may name the type of its value between the two: the schema knows it better.
"""

from andy_cli.compiler.bodies.markup import tagged
from andy_cli.compiler.bodies.markup.elements import PAIRS

DIALECT = tagged.make_tagged_dialect(
    name="k2_horizon",
    start_markers=("<ifm|tool_calls>", "<ifm|tool_call>"),
    end_markers=("</ifm|tool_calls>", "</ifm|tool_call>", "<ifm|/tool_calls>", "<ifm|/tool_call>"),
    tags=PAIRS,
    call_forms=("<ifm|tool_call>NAME", "</ifm|tool_call>"),
    value_forms=("<ifm|arg_key>KEY</ifm|arg_key><ifm|arg_value>", "</ifm|arg_value>"),
    json=True,
)._replace(models=("k2-horizon*",))
