"""GLM 4.7 and 5, Laguna, Ling 3: as GLM 4.5 on one line.

<tool_call>play<arg_key>track</arg_key><arg_value>Blue</arg_value></tool_call>
"""

from andy_cli.compiler.bodies.markup import tagged
from andy_cli.compiler.bodies.markup.elements import PAIRS

DIALECT = tagged.make_tagged_dialect(
    name="glm47",
    start_markers=("<tool_call>",),
    end_markers=("</tool_call>", "</function>"),
    tags=PAIRS,
    call_forms=("<tool_call>NAME", "</tool_call>"),
    value_forms=("<arg_key>KEY</arg_key><arg_value>", "</arg_value>"),
)._replace(models=("glm-4.7*", "glm-5*", "spark-2.5*", "laguna*", "ling-3*"))
