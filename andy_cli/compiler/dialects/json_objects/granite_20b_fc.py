"""Granite 20B function calling: one object after each marker, no closer.

<function_call> {"name": "play", "arguments": {"track": "Blue"}}

Models that learned from the set of Glaive write `<functioncall>`.
"""

from andy_cli.compiler.bodies import builders

DIALECT = builders.make_json_dialect(
    dialect_name="granite_20b_fc",
    start_markers=("<function_call>", "<functioncall>"),
    end_markers=("</function_call>", "</functioncall>"),
    write_call=lambda request: f"<function_call> {builders.write_json_call(request)}",
)._replace(models=("granite-20b-functioncalling*", "granite-20b-fc"))
