"""Calls and their results belong together: no server takes one without the other."""

import secrets
from collections.abc import Iterable

from andy_cli.messages import Message, ToolCall

MISSING = "There is no result: it was interrupted."


def paired(history: Iterable[Message]) -> list[Message]:
    """The history with a result behind every call, and without results that no call asked for."""
    found: list[Message] = []
    owed: dict[str, ToolCall] = {}
    for message in history:
        if message.role == "tool":
            if owed.pop(message.call_id, None) is not None:
                found.append(message)
            continue
        found += [missing(call) for call in owed.values()]
        owed = {call.id: call for call in message.calls}
        found.append(message)
    return [*found, *(missing(call) for call in owed.values())]


def missing(call: ToolCall) -> Message:
    return Message("tool", MISSING, call_id=call.id, name=call.name)


def new_id() -> str:
    """An id for a session or a call: 9 letters and digits, which every provider accepts."""
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    return "".join(secrets.choice(alphabet) for _ in range(9))
