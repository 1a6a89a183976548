"""Inkling: one object with `args`.

<|content_invoke_tool_json|>{"name": "play", "args": {"track": "Blue"}}<|end_message|>
"""

from andy_cli.compiler.bodies import builders

DIALECT = builders.make_json_dialect(
    dialect_name="inkling",
    start_markers=("<|content_invoke_tool_json|>",),
    end_markers=("<|end_message|>",),
    write_call=lambda request: (
        "<|content_invoke_tool_json|>"
        f"{builders.write_json_call(request, arguments_key='args')}<|end_message|>"
    ),
)._replace(models=("inkling*",))
