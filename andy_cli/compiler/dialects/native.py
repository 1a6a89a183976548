"""Native: the server's own tool calls, `delta.tool_calls` with index, id, name and arguments.

    {"delta": {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "now"}}]}}

There is nothing to read in the text: the compiler joins the pieces. The history goes back in the
API's own shape (C11): results are `tool` messages that carry the id of their call.
"""

import json
from collections.abc import Sequence

from andy_cli.compiler.bodies.end_detectors import ReplyEnd
from andy_cli.compiler.dialect import Dialect
from andy_cli.messages import Message, ToolCall, Wire


def render(history: Sequence[Message]) -> list[Wire]:
    return [as_wire(message) for message in history]


def as_wire(message: Message) -> Wire:
    # Anthropic refuses a blank text beside calls; null is what OpenAI itself writes there.
    has_blank_text = message.calls and not message.content.strip()
    content = None if has_blank_text else message.content
    wire_message: dict[str, object] = {"role": message.role, "content": content}
    if message.calls:
        wire_message["tool_calls"] = [as_native(call) for call in message.calls]
    if message.role == "tool":
        wire_message["tool_call_id"] = message.call_id
        wire_message["name"] = message.name
    return wire_message


def as_native(call: ToolCall) -> dict[str, object]:
    """A call as the API writes it: the arguments are a JSON text (A21)."""
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


DIALECT = Dialect(
    name="native",
    body=lambda opener, tools: ReplyEnd(),
    parse=lambda text, tools: None,
    render=render,
)
