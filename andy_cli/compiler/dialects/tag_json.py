"""Tags that prompted models make up around JSON, after what they saw elsewhere.

<tool_use>{"name": "play", "arguments": {"track": "Blue"}}</tool_use>
<tools>{"name": "play", "arguments": {"track": "Blue"}}</tools>
"""

from andy_cli.compiler.bodies import forms

TAGS = ("tool_use", "tools", "tool", "toolcall", "tool-call", "function-call", "call", "action")
OPENERS = tuple(f"<{tag}>" for tag in TAGS)
CLOSERS = tuple(f"</{tag}>" for tag in TAGS)

DIALECT = forms.marked_json(
    name="tag_json",
    openers=OPENERS,
    closers=CLOSERS,
    write=lambda request: f"<tool_use>{forms.as_json(request)}</tool_use>",
)
