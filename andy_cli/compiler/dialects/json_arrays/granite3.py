"""Granite 3: a JSON array after a marker, to the end of the turn.

<|tool_call|>[{"name": "play", "arguments": {"track": "Blue"}}]
"""

from andy_cli.compiler.bodies import builders

DIALECT = builders.make_json_dialect(
    dialect_name="granite3",
    start_markers=("<|tool_call|>",),
    end_markers=("</tool_call>",),
    write_call=lambda request: f"<|tool_call|>[{builders.write_json_call(request)}]",
)._replace(models=("granite-3", "granite-3.*"))
