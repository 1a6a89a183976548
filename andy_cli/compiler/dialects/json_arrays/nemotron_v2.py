"""Nemotron Nano 2: a JSON array inside <TOOLCALL>.

<TOOLCALL>[{"name": "play", "arguments": {"track": "Blue"}}]</TOOLCALL>
"""

from andy_cli.compiler.bodies import builders

DIALECT = builders.make_json_dialect(
    dialect_name="nemotron_v2",
    start_markers=("<TOOLCALL>",),
    end_markers=("</TOOLCALL>",),
    write_call=lambda request: f"<TOOLCALL>[{builders.write_json_call(request)}]</TOOLCALL>",
)._replace(models=("nemotron-nano-v2*", "nemotron-nano-*-v2*", "llama-*nemotron*"))
