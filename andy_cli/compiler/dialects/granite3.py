"""Granite 3: a JSON array behind a marker, to the end of the turn.

<|tool_call|>[{"name": "play", "arguments": {"track": "Blue"}}]
"""

from andy_cli.compiler.bodies import forms

DIALECT = forms.marked_json(
    name="granite3",
    openers=("<|tool_call|>",),
    closers=("</tool_call>",),
    write=lambda request: f"<|tool_call|>[{forms.as_json(request)}]",
)._replace(models=("granite-3", "granite-3.*"))
