"""Do without what a server has refused: once, and from then on. For andy itself and `andy serve`.

What is learned is a set of features (`features.py`); a request is changed by it on its way out, and
what is kept of the conversation stays as it was. There is no loop: each refusal must name something
that was not learned before and that changes the request, else it is an error.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial

from andy_cli.messages import Wire
from andy_cli.models.http.features import (
    ALTERNATION,
    DEVELOPER_ROLE,
    EMPTY_CONTENT,
    EXTRAS,
    LIMIT,
    LIMITS,
    NULL_CONTENT,
    REASONING,
    SHORT_IDS,
    STREAM,
    SYSTEM_ROLE,
    TOOL_ROLE,
    TOOLS,
    find_features,
)
from andy_cli.models.http.refusals import ServerRefusal

Body = dict[str, object]

KEPT_FIELDS = frozenset({"model", "messages", "stream", "tools", "tool_choice", *LIMITS})
"""Fields that are sent even to a server that wants nothing extra."""
WITH_TOOLS = frozenset({"tools", "tool_choice", "parallel_tool_calls", "functions"})


class Adapter:
    """The memory of what one server has refused of requests to one model."""

    def __init__(self, learned: Iterable[str] = ()) -> None:
        self.learned = set(learned)

    def adapt(self, body: Mapping[str, object]) -> Body:
        """The request without what was refused before."""
        return adapt_body(body, self.learned)

    def learn(
        self, status: int, refusal: ServerRefusal, sent_body: Mapping[str, object]
    ) -> Body | None:
        """Find what to send instead of a request that was refused; None if nothing is left."""
        for feature in find_features(status, refusal, sent_body):
            if feature in self.learned:
                continue
            changed = adapt_body(sent_body, {*self.learned, feature})
            if changed != sent_body:
                self.learned.add(feature)
                return changed
        return None


def adapt_body(body: Mapping[str, object], learned: Collection[str]) -> Body:
    """The request without the features; the same again for a request that has none of them."""
    kept_fields = {STREAM, *LIMITS}  # these are changed
    changed = {
        name: value for name, value in body.items() if name not in learned or name in kept_fields
    }
    if STREAM in learned:
        changed["stream"] = False
        changed.pop("stream_options", None)
    dropped = {*WITH_TOOLS} if TOOLS in learned else set()
    dropped |= changed.keys() - KEPT_FIELDS if EXTRAS in learned else set()
    changed = {name: value for name, value in changed.items() if name not in dropped}
    _rename_limit(changed, learned)
    messages = body.get("messages")
    if isinstance(messages, list | tuple):
        changed["messages"] = _adapt_messages(messages, learned)
    return changed


def _rename_limit(body: Body, learned: Collection[str]) -> None:
    """The tokens of the reply under the name that the server knows; dropped if it knows none."""
    for name in LIMITS:
        if name in body and (name in learned or LIMIT in learned):
            value = body.pop(name)
            other = next(limit for limit in LIMITS if limit != name)
            if other not in learned and LIMIT not in learned:
                body.setdefault(other, value)
            return


def _adapt_roles(wire_messages: list[Wire], learned: Collection[str]) -> list[Wire]:
    if DEVELOPER_ROLE in learned:
        wire_messages = [_with_system_role(message) for message in wire_messages]
    if ALTERNATION in learned or TOOL_ROLE in learned:
        wire_messages = _without_tool_role(wire_messages)
    if ALTERNATION in learned or SYSTEM_ROLE in learned:
        wire_messages = _without_system_role(wire_messages)
    return wire_messages


def _adapt_messages(messages: Sequence[Wire], learned: Collection[str]) -> list[Wire]:
    dropped = {name.removeprefix("messages.") for name in learned if name.startswith("messages.")}
    wire_messages = _adapt_roles([_drop_fields(message, dropped) for message in messages], learned)
    changes: list[Callable[[Wire], Wire]] = []
    if NULL_CONTENT in learned or EMPTY_CONTENT in learned:
        changes.append(partial(_with_content, learned=learned))
    if SHORT_IDS in learned:
        changes.append(_with_short_ids)
    if REASONING in learned and "reasoning_content" not in dropped:
        changes.append(_with_reasoning)
    for change in changes:
        wire_messages = [*map(change, wire_messages)]
    return wire_messages


def _drop_fields(message: Wire, names: Collection[str]) -> Wire:
    return {name: value for name, value in message.items() if name not in names}


def _with_system_role(message: Wire) -> Wire:
    return {**message, "role": "system"} if message.get("role") == "developer" else message


def _with_content(message: Wire, learned: Collection[str]) -> Wire:
    """Nothing said is null or an empty text, as the server takes it; words, if it takes neither."""
    if message.get("content") not in (None, ""):
        return message
    if EMPTY_CONTENT not in learned:
        return {**message, "content": ""}
    is_null = bool(message.get("tool_calls")) and NULL_CONTENT not in learned
    return {**message, "content": None if is_null else "(empty)"}


def _with_reasoning(message: Wire) -> Wire:
    """A reply whose reasoning was not kept says that it is empty: the field is what is demanded."""
    if message.get("role") != "assistant" or "reasoning_content" in message:
        return message
    return {**message, "reasoning_content": ""}


def _with_short_ids(message: Wire) -> Wire:
    changed = dict(message)
    if isinstance(id := message.get("tool_call_id"), str):
        changed["tool_call_id"] = shorten_id(id)
    calls = message.get("tool_calls")
    if isinstance(calls, list | tuple):
        changed["tool_calls"] = [
            {**call, "id": shorten_id(str(call.get("id")))} if isinstance(call, Mapping) else call
            for call in calls
        ]
    return changed


def shorten_id(id: str) -> str:
    """Nine letters and digits, as Mistral wants them; the same ones for the same id."""
    if len(id) == 9 and id.isalnum() and id.isascii():
        return id
    return hashlib.sha256(id.encode("utf-8", "replace")).hexdigest()[:9]


def _without_tool_role(messages: Sequence[Wire]) -> list[Wire]:
    """Results told by the user. Requests go with them: we never write the assistant's words."""
    words_by_id: dict[object, str] = {}
    wire_messages: list[Wire] = []
    for message in messages:
        for id, words in _calls_in_words(message):
            words_by_id[id] = words
        if message.get("role") == "tool":
            call_words = words_by_id.get(message.get("tool_call_id"), "")
            text = f"Result{call_words}:\n{_message_text(message)}"
            wire_messages.append({"role": "user", "content": text})
        elif message.get("tool_calls"):
            if text := _message_text(message):
                wire_messages.append({"role": message["role"], "content": text})
        else:
            wire_messages.append(message)
    return _merge_neighbours(wire_messages)


def _calls_in_words(message: Wire) -> list[tuple[object, str]]:
    calls = message.get("tool_calls")
    call_words: list[tuple[object, str]] = []
    for call in calls if isinstance(calls, list | tuple) else ():
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping):
            words = f" of {function.get('name')} {function.get('arguments') or ''}".rstrip()
            call_words.append((call.get("id"), words))
    return call_words


def _without_system_role(messages: Sequence[Wire]) -> list[Wire]:
    folded = [
        {**message, "role": "user"} if message.get("role") in ("system", "developer") else message
        for message in messages
    ]
    return _merge_neighbours(folded)


def _merge_neighbours(messages: Sequence[Wire]) -> list[Wire]:
    """Neighbours of one role become one message, with a blank line between (R1)."""
    wire_messages: list[Wire] = []
    for message in messages:
        if wire_messages and message.get("role") == wire_messages[-1].get("role") != "tool":
            joined_text = f"{_message_text(wire_messages[-1])}\n\n{_message_text(message)}".strip()
            wire_messages[-1] = {**wire_messages[-1], "content": joined_text}
        else:
            wire_messages.append(message)
    return wire_messages


def _message_text(message: Wire) -> str:
    content = message.get("content")
    if isinstance(content, list):
        texts = [
            content_part.get("text")
            for content_part in content
            if isinstance(content_part, Mapping)
        ]
        return "\n".join(content_part for content_part in texts if isinstance(content_part, str))
    return content if isinstance(content, str) else ""
