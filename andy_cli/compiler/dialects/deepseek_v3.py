"""DeepSeek V3 and R1: the kind of call, the name, and the arguments in a code fence.

    <|tool_calls_begin|><|tool_call_begin|>function<|tool_sep|>play
    ```json
    {"track": "Blue"}
    ```<|tool_call_end|><|tool_calls_end|>

The bars are full-width and the low lines U+2581, unless a quantized model writes ASCII.
"""

from andy_cli.compiler.bodies import forms
from andy_cli.compiler.bodies.deepseek import CLOSERS, OPENERS, V3, body, marker, reader
from andy_cli.messages import ToolRequest


def write(request: ToolRequest) -> str:
    return (
        marker("tool_calls_begin")
        + f"{marker('tool_call_begin')}function{marker('tool_sep')}{request.name}\n"
        + f"```json\n{forms.dumped(request)}\n```"
        + marker("tool_call_end")
        + marker("tool_calls_end")
    )


DIALECT = forms.taught(
    name="deepseek_v3",
    openers=OPENERS,
    body=body,
    parse=reader(V3),
    write=write,
    closers=CLOSERS,
)._replace(models=("deepseek-v3*", "deepseek-r1*", "cogito-v2*"))
