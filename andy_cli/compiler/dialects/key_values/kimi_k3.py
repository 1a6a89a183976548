"""Kimi K3: sections that open and close by marker, with typed raw values.

    <|open|>tools<|sep|><|open|>call tool="play" index="1"<|sep|>
    <|open|>argument key="track" type="string"<|sep|>Blue<|close|>argument<|sep|>
    <|close|>call<|sep|><|close|>tools<|sep|>

Names and keys are escaped as in XML, values are not.
"""

import html

from andy_cli.compiler import ids
from andy_cli.compiler.bodies.builders import write_raw
from andy_cli.compiler.bodies.markup import tagged
from andy_cli.compiler.bodies.markup.elements import SECTIONED
from andy_cli.compiler.bodies.typed import kind_of
from andy_cli.messages import ToolRequest

SEP = "<|sep|>"
OPEN, CLOSE = f"<|open|>tools{SEP}", f"<|close|>tools{SEP}"
CALL, CALLED = "<|open|>call tool=", f"<|close|>call{SEP}"


def write(request: ToolRequest) -> str:
    values = [
        f'<|open|>argument key="{html.escape(key)}" type="{kind_of(value)}"{SEP}'
        f"{write_raw(value)}<|close|>argument{SEP}"
        for key, value in (request.arguments or {}).items()
    ]
    head = f'{CALL}"{html.escape(request.name)}" index="{html.escape(request.id or "1")}"{SEP}'
    return "".join([OPEN, head, *values, CALLED, CLOSE])


DIALECT = tagged.make_tagged_dialect(
    name="kimi_k3",
    start_markers=(OPEN,),
    end_markers=(CALLED, CLOSE),
    tags=SECTIONED,
    write=write,
    bare_start_markers=(CALL,),
    tag_end=SEP,
)._replace(models=("kimi-k3*",), id_form=ids.number_from_one)
