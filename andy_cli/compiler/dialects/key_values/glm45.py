"""GLM 4.5 and 4.6: the name, then pairs of key and raw value.

    <tool_call>write_file
    <arg_key>path</arg_key>
    <arg_value>notes.txt</arg_value>
    </tool_call>

Line breaks between the tags are framing, inside a value they are data.
"""

from andy_cli.compiler.bodies.markup import tagged
from andy_cli.compiler.bodies.markup.elements import PAIRS

DIALECT = tagged.make_tagged_dialect(
    name="glm45",
    start_markers=("<tool_call>",),
    end_markers=("</tool_call>", "</function>"),
    tags=PAIRS,
    call_forms=("<tool_call>NAME\n", "</tool_call>"),
    value_forms=("<arg_key>KEY</arg_key>\n<arg_value>", "</arg_value>\n"),
)._replace(models=("glm-4.5*", "glm-4.6*"))
