"""Inkling: one object with `args`.

<|content_invoke_tool_json|>{"name": "play", "args": {"track": "Blue"}}<|end_message|>
"""

from andy_cli.compiler.bodies import forms

DIALECT = forms.marked_json(
    name="inkling",
    openers=("<|content_invoke_tool_json|>",),
    closers=("<|end_message|>",),
    write=lambda request: (
        f"<|content_invoke_tool_json|>{forms.as_json(request, arguments='args')}<|end_message|>"
    ),
)._replace(models=("inkling*",))
