"""Tags that prompted models make up around JSON, after what they saw elsewhere.

<tool_use>{"name": "play", "arguments": {"track": "Blue"}}</tool_use>
<tools>{"name": "play", "arguments": {"track": "Blue"}}</tools>
"""

from andy_cli.compiler.bodies import builders

TAGS = ("tool_use", "tools", "tool", "toolcall", "tool-call", "function-call", "call", "action")
OPENERS = tuple(f"<{tag}>" for tag in TAGS)
CLOSERS = tuple(f"</{tag}>" for tag in TAGS)

DIALECT = builders.make_json_dialect(
    dialect_name="tag_json",
    start_markers=OPENERS,
    end_markers=CLOSERS,
    write_call=lambda request: f"<tool_use>{builders.write_json_call(request)}</tool_use>",
)
