"""Jamba, Hunyuan-A13B, Apriel: a JSON array inside <tool_calls>; MiniMax-M1: an object a line.

<tool_calls>[{"name": "play", "arguments": {"track": "Blue"}}]</tool_calls>
"""

from andy_cli.compiler.bodies import builders

DIALECT = builders.make_json_dialect(
    dialect_name="jamba",
    start_markers=("<tool_calls>",),
    end_markers=("</tool_calls>",),
    write_call=lambda request: f"<tool_calls>[{builders.write_json_call(request)}]</tool_calls>",
)._replace(models=("jamba*", "hunyuan-a13b*", "apriel-1.5*", "apriel-1.6*", "minimax-m1*"))
