"""Nemotron Nano 2: a JSON array inside <TOOLCALL>.

<TOOLCALL>[{"name": "play", "arguments": {"track": "Blue"}}]</TOOLCALL>
"""

from andy_cli.compiler.bodies import forms

DIALECT = forms.marked_json(
    name="nemotron_v2",
    openers=("<TOOLCALL>",),
    closers=("</TOOLCALL>",),
    write=lambda request: f"<TOOLCALL>[{forms.as_json(request)}]</TOOLCALL>",
)._replace(models=("nemotron-nano-v2*", "nemotron-nano-*-v2*", "llama-*nemotron*"))
