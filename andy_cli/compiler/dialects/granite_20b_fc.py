"""Granite 20B function calling: one object behind each marker, no closer.

<function_call> {"name": "play", "arguments": {"track": "Blue"}}
"""

from andy_cli.compiler.bodies import forms

DIALECT = forms.marked_json(
    name="granite_20b_fc",
    openers=("<function_call>",),
    closers=("</function_call>",),
    write=lambda request: f"<function_call> {forms.as_json(request)}",
)._replace(models=("granite-20b-functioncalling*", "granite-20b-fc"))
