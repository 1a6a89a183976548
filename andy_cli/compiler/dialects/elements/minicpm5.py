"""MiniCPM 5: a named <function> element; values may be CDATA.

<function name="play"><param name="track">Blue</param></function>

Detokenizers may lose the blank in the opening tags or leave a mark in its place.
"""

from andy_cli.compiler.bodies.markup import tagged
from andy_cli.compiler.bodies.markup.elements import NAMED_FUNCTION

DIALECT = tagged.make_tagged_dialect(
    name="minicpm5",
    start_markers=(),
    end_markers=("</function>",),
    tags=NAMED_FUNCTION,
    call_forms=('<function name="NAME">', "</function>"),
    value_forms=('<param name="KEY">', "</param>"),
    bare_start_markers=("<function name=", "<functionname=", "<function\u0120name="),
)._replace(models=("minicpm5*",))
