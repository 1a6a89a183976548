"""GigaChat 3: one object behind a role header, or behind a marker (3.1).

<|message_sep|>

function call<|role_sep|>
{"name": "play", "arguments": {"track": "Blue"}}
"""

from andy_cli.compiler.bodies import forms

DIALECT = forms.marked_json(
    name="gigachat3",
    openers=(
        "<|function_call|>",
        "<|message_sep|>\n\nfunction call<|role_sep|>",
        "<|message_sep|>function call<|role_sep|>",
        "function call<|role_sep|>",
    ),
    closers=("<|message_sep|>",),
    write=lambda request: f"<|function_call|>{forms.as_json(request)}",
)._replace(models=("gigachat-3*", "!gigachat-3.5*"))
