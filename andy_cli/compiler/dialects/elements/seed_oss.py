"""Seed-OSS: as Qwen3-Coder with an outer tag of its own.

<seed:tool_call>
<function=play>
<parameter=track>Blue</parameter>
</function>
</seed:tool_call>
"""

from andy_cli.compiler.bodies.markup import tagged
from andy_cli.compiler.bodies.markup.elements import FUNCTION

EXACT = FUNCTION._replace(lone=False)
"""A line break on one side of a value alone is part of it: the template writes none."""

DIALECT = tagged.make_tagged_dialect(
    name="seed_oss",
    start_markers=("<seed:tool_call>",),
    end_markers=("</seed:tool_call>", "</function>"),
    tags=EXACT,
    call_forms=("<seed:tool_call>\n<function=NAME>\n", "</function>\n</seed:tool_call>"),
    value_forms=("<parameter=KEY>\n", "\n</parameter>\n"),
    json=True,
)._replace(models=("seed-oss*",))
