"""MiniMax M2: <invoke> elements with raw values in a section.

<minimax:tool_call>
<invoke name="play">
<parameter name="track">Blue</parameter>
</invoke>
</minimax:tool_call>
"""

from andy_cli.compiler.bodies.markup import tagged
from andy_cli.compiler.bodies.markup.elements import INVOKE

DIALECT = tagged.make_tagged_dialect(
    name="minimax_m2",
    start_markers=("<minimax:tool_call>",),
    end_markers=("</minimax:tool_call>", "</invoke>"),
    tags=INVOKE,
    call_forms=('<minimax:tool_call>\n<invoke name="NAME">\n', "</invoke>\n</minimax:tool_call>"),
    value_forms=('<parameter name="KEY">', "</parameter>\n"),
    bare_start_markers=("<invoke name=",),
    json=True,
)._replace(models=("minimax-m2*",))
