"""Apertus: an array of objects whose only key is the tool's name.

<|tools_prefix|>[{"play": {"track": "Blue"}}, {"stop": {}}]<|tools_suffix|>
"""

import json

from andy_cli.compiler.bodies import builders, calls, json_text
from andy_cli.compiler.dialect import Tools
from andy_cli.messages import ToolRequest


def read(text: str, tools: Tools) -> list[ToolRequest] | None:
    """Known names or not: the marker says that these are calls."""
    value = json_text.read_value(text)
    requests: list[ToolRequest] = []
    for item in value if isinstance(value, list) else [value]:
        if not isinstance(item, dict) or len(item) != 1:
            return builders.read_json_calls(text, tools)
        ((written_name, arguments),) = item.items()
        name = calls.clean_tool_name(written_name, tools)
        requests.append(ToolRequest(name, arguments if isinstance(arguments, dict) else {}))
    return requests


DIALECT = builders.make_json_dialect(
    dialect_name="apertus",
    start_markers=("<|tools_prefix|>",),
    end_markers=("<|tools_suffix|>",),
    write_call=lambda request: (
        f"<|tools_prefix|>[{{{json.dumps(request.name)}: {builders.dump_arguments(request)}}}]"
        "<|tools_suffix|>"
    ),
    read_calls=read,
)._replace(models=("apertus*",))
