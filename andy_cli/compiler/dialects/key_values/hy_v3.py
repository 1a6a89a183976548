"""Hunyuan HY3: GLM's pairs after a separator, all calls in one section.

<tool_calls>
<tool_call>play<tool_sep>
<arg_key>track</arg_key>
<arg_value>Blue</arg_value>
</tool_call>
</tool_calls>
"""

from andy_cli.compiler.bodies.markup import tagged
from andy_cli.compiler.bodies.markup.elements import PAIRS

DIALECT = tagged.make_tagged_dialect(
    name="hy_v3",
    start_markers=("<tool_calls>",),
    end_markers=("</tool_calls>", "</tool_call>"),
    tags=PAIRS,
    call_forms=("<tool_calls>\n<tool_call>NAME<tool_sep>\n", "</tool_call>\n</tool_calls>"),
    value_forms=("<arg_key>KEY</arg_key>\n<arg_value>", "</arg_value>\n"),
)._replace(models=("hy3*", "hunyuan-hy3*"))
