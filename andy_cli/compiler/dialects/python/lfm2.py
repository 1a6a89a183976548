"""LFM2: Python calls between markers; a JSON array occurs there too.

<|tool_call_start|>[play(track="Blue")]<|tool_call_end|>
"""

from andy_cli.compiler.bodies import builders, python_calls
from andy_cli.compiler.dialect import Tools
from andy_cli.compiler.dialects.python import pythonic
from andy_cli.messages import ToolRequest

OPEN, CLOSE = "<|tool_call_start|>", "<|tool_call_end|>"


def read(text: str, tools: Tools) -> list[ToolRequest] | None:
    requests = python_calls.read_python_calls(text, tools, only_known=False)
    return requests or builders.read_json_calls(text, tools)


DIALECT = builders.make_section_dialect(
    dialect_name="lfm2",
    start_markers=(OPEN,),
    end_markers=(CLOSE,),
    write_call=lambda request: f"{OPEN}{pythonic.write(request)}{CLOSE}",
    read_calls=read,
)._replace(models=("lfm2*",))
