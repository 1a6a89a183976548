"""PLaMo 3: a block for the name and one for the arguments.

<|plamo:begin_tool_requests:plamo|><|plamo:begin_tool_request:plamo|>
<|plamo:begin_tool_name:plamo|>play<|plamo:end_tool_name:plamo|>
<|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{"track": "Blue"}
<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>
<|plamo:end_tool_requests:plamo|>
"""

from itertools import product

from andy_cli.compiler.bodies import forms, headed
from andy_cli.compiler.expression import Expression

MARK = r"\s*<\|plamo:[\w:]{1,60}\|>\s*"
HEAD = Expression(
    rf"(?:{MARK}){{1,9}}(?P<name>[\w.\-/]{{1,200}})(?:{MARK}){{1,9}}(?:json(?:{MARK}){{1,3}})?"
)
BLOCKS = ("tool_requests", "tool_request", "tool_name", "tool_arguments")


def marks(edge: str) -> tuple[str, ...]:
    return tuple(
        f"<|plamo:{edge}_{block}{tail}|>" for block, tail in product(BLOCKS, (":plamo", ""))
    )


CLOSERS = tuple(mark for mark in marks("end") if "tool_name" not in mark)

DIALECT = headed.dialect(
    name="plamo3",
    openers=tuple(mark for mark in marks("begin") if "arguments" not in mark),
    closers=CLOSERS,
    head=HEAD,
    write=lambda request: (
        "<|plamo:begin_tool_requests:plamo|><|plamo:begin_tool_request:plamo|>"
        f"<|plamo:begin_tool_name:plamo|>{request.name}<|plamo:end_tool_name:plamo|>"
        "<|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>"
        f"{forms.dumped(request)}<|plamo:end_tool_arguments:plamo|>"
        "<|plamo:end_tool_request:plamo|><|plamo:end_tool_requests:plamo|>"
    ),
)._replace(models=("plamo-3*",))
