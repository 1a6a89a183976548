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
    items = value if isinstance(value, list) else [value]
    if not all(isinstance(item, dict) and len(item) == 1 for item in items):
        return builders.read_json_calls(text, tools)
    named_arguments = [call for item in items if isinstance(item, dict) for call in item.items()]
    return [
        ToolRequest(
            name=calls.clean_tool_name(name, tools),
            arguments=arguments if isinstance(arguments, dict) else {},
        )
        for name, arguments in named_arguments
    ]


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
