"""IQuest Q1: GLM's pairs in an outer tag of its own.

<iquest_tool_call>play<arg_key>track</arg_key><arg_value>Blue</arg_value></iquest_tool_call>
"""

from andy_cli.compiler.bodies.markup import tagged
from andy_cli.compiler.bodies.markup.elements import PAIRS

DIALECT = tagged.make_tagged_dialect(
    name="iquest_q1",
    start_markers=("<iquest_tool_call>",),
    end_markers=("</iquest_tool_call>",),
    tags=PAIRS,
    call_forms=("<iquest_tool_call>NAME", "</iquest_tool_call>"),
    value_forms=("<arg_key>KEY</arg_key><arg_value>", "</arg_value>"),
    json=True,
)._replace(models=("iquest-q1*",))
