"""Cohere Command R7B and A: an array with `tool_name` and `parameters`.

<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "play", "parameters": {}}]<|END_ACTION|>
"""

import json

from andy_cli.compiler import ids
from andy_cli.compiler.bodies import builders
from andy_cli.messages import ToolRequest


def write(request: ToolRequest) -> str:
    call = {"tool_call_id": request.id or "0", "tool_name": request.name}
    written = json.dumps(
        [{**call, "parameters": dict(request.arguments or {})}], ensure_ascii=False
    )
    return f"<|START_ACTION|>{written}<|END_ACTION|>"


DIALECT = builders.make_json_dialect(
    dialect_name="cohere_command",
    start_markers=("<|START_ACTION|>",),
    end_markers=("<|END_ACTION|>",),
    write_call=write,
)._replace(models=("command-r7b*", "command-a*", "cohere2-moe*"), id_form=ids.number_from_zero)
