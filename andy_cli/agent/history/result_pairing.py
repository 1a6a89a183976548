"""Pair calls with their results: no server takes one without the other."""

import secrets
from collections.abc import Iterable, Iterator, Mapping
from operator import is_not

from andy_cli.messages import Message, ToolCall

MISSING = "There is no result: it was interrupted."


def pair_results(history: Iterable[Message]) -> list[Message]:
    """Put each result right behind its call, in the order of the calls.

    A call without a result gets one that says so, a result without a call is left out, and ids
    that two calls share become different ones: results are told by id.
    """
    without_results: list[Message] = []
    results: dict[str, Message] = {}
    waiting: dict[str, list[str]] = {}
    """Id as it was written -> the ids of the calls that have it and no result yet."""
    used_ids: set[str] = set()
    for message in history:
        if message.role == "tool":
            if ids := waiting.get(message.call_id):
                results[ids.pop(0)] = message
            continue
        if message.calls:
            message = _make_ids_unique(message, used_ids, waiting)
        without_results.append(message)
    paired: list[Message] = []
    for message in without_results:
        paired += [message, *_pair_with_results(message, results)]
    return paired


def _make_ids_unique(
    message: Message, used_ids: set[str], waiting: dict[str, list[str]]
) -> Message:
    """Give each call an id of its own, and let it wait for its result."""
    calls = tuple(_with_unique_id(call, used_ids) for call in message.calls)
    # A later call of the same id is the one that is answered from here on.
    waiting |= {call.id: [] for call in message.calls}
    for written, call in zip(message.calls, calls, strict=True):
        waiting[written.id].append(call.id)
    if not any(map(is_not, calls, message.calls)):
        return message
    return message._replace(calls=calls)


def _with_unique_id(call: ToolCall, used_ids: set[str]) -> ToolCall:
    """Give a call an id that no other has; deterministic, so that a prompt cache holds."""
    id, count = call.id or "call", 2
    while id in used_ids:
        id, count = f"{call.id or 'call'}_{count}", count + 1
    used_ids.add(id)
    return call if id == call.id else call._replace(id=id)


def _pair_with_results(message: Message, results: Mapping[str, Message]) -> Iterator[Message]:
    for call in message.calls:
        result = results.get(call.id)
        if result is None:
            result = Message("tool", MISSING)
        if (result.call_id, result.name) != (call.id, call.name):
            result = result._replace(call_id=call.id, name=call.name)
        yield result


def new_id() -> str:
    """Make an id for a session or a call: 9 letters and digits, which every provider accepts."""
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    return "".join(secrets.choice(alphabet) for _ in range(9))
