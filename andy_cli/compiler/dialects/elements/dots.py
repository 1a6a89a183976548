"""Dots: <invoke> elements, or a JSON object, in an element of its own.

<dots_function_call>
<invoke name="play">
<parameter name="track">Blue</parameter>
</invoke>
</dots_function_call>
"""

from andy_cli.compiler.bodies.markup import tagged
from andy_cli.compiler.bodies.markup.elements import INVOKE

DIALECT = tagged.make_tagged_dialect(
    name="dots",
    start_markers=("<dots_function_call>",),
    end_markers=("</dots_function_call>", "</invoke>"),
    tags=INVOKE,
    call_forms=('<dots_function_call>\n<invoke name="NAME">\n', "</invoke>\n</dots_function_call>"),
    value_forms=('<parameter name="KEY">', "</parameter>\n"),
    bare_start_markers=("<invoke name=",),
    json=True,
)._replace(models=("dots*",))
