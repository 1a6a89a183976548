"""Cohere Command R7B and A: an array with `tool_name` and `parameters`.

<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "play", "parameters": {}}]<|END_ACTION|>
"""

from andy_cli.compiler.bodies import forms

DIALECT = forms.marked_json(
    name="cohere_command",
    openers=("<|START_ACTION|>",),
    closers=("<|END_ACTION|>",),
    write=lambda request: (
        f"<|START_ACTION|>[{forms.as_json(request, 'tool_name', 'parameters')}]<|END_ACTION|>"
    ),
)._replace(models=("command-r7b*", "command-a*", "cohere2-moe*"))
