"""GigaChat 3: one object after a role header, or after a marker (3.1).

<|message_sep|>

function call<|role_sep|>
{"name": "play", "arguments": {"track": "Blue"}}
"""

from andy_cli.compiler.bodies import builders

DIALECT = builders.make_json_dialect(
    dialect_name="gigachat3",
    start_markers=(
        "<|function_call|>",
        "<|message_sep|>\n\nfunction call<|role_sep|>",
        "<|message_sep|>function call<|role_sep|>",
        "function call<|role_sep|>",
    ),
    end_markers=("<|message_sep|>",),
    write_call=lambda request: f"<|function_call|>{builders.write_json_call(request)}",
)._replace(models=("gigachat-3*", "!gigachat-3.5*"))
