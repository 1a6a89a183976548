"""Compress a history so that it fits the model's window (C30).

What goes first is what can be had again: old results become stubs that say how
(`result_truncation.py`), then long arguments of old calls, then old answers and long old texts of
the user. Never touched are the system prompt, the task, the user's last words, what the user
decided, errors, and the last calls with their results. A call and its result stay together whatever
happens. Oldest first, and only as much as is needed; the whole text stays in the session's log.
Where even that is too much, whole messages are left out, and a note says how many.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from andy_cli.agent.history.result_truncation import (
    HEAD,
    dump_json,
    is_error,
    make_stub,
)
from andy_cli.compiler.expression import Expression
from andy_cli.messages import Message, ToolCall
from andy_cli.models.token_count import MESSAGE, tokens

REPLY = 4096
"""Tokens kept free for the reply at most; a quarter of a small window."""
WORTH = 400
"""Characters below which nothing is won."""
LEFT_OUT = "({count} earlier messages of this conversation are left out here, for want of room.)"
LEFT_OUT_COUNT = re.compile(re.escape(LEFT_OUT).replace(r"\{count\}", r"(?P<count>\d+)"))
CUT = " [... {count:,} characters left out ...] "
DECIDED = Expression(
    r"(?i)^\W*(?:no|yes|yeah|nope|ok|okay|stop|wait|wrong|actually|instead|rather|correction)\b"
    r"|\b(?:do not|don['\u2019]t|never|always|must(?: not)?|only|instead of|i meant|i said"
    r"|not that|from now on|you may|you can|allowed?|forbidden|remember|prefer|make sure)\b"
)


class CompressedHistory(NamedTuple):
    history: tuple[Message, ...]
    before: int
    after: int
    """Estimated tokens of the history without what is `fixed`."""
    shortened: tuple[str, ...] = ()
    """The ids of the calls whose results or arguments were shortened."""
    left_out: int = 0
    """Messages that are not in the history any more."""


def compress_history(
    history: Sequence[Message],
    window: int,
    fixed: int = 0,
    *,
    reply: int = REPLY,
    decisions: Collection[int] = (),
    failed: Collection[str] = (),
    goal_share: float = 1.0,
    leave_out: bool = False,
) -> CompressedHistory:
    """Shorten the history to what `window` tokens leave beside `fixed` ones and the reply's.

    `fixed` is what goes with every request: the system prompt if it is not in the history, and
    the tools' schemas. `decisions` are places in the history that stay as they are, `failed` the
    ids of calls whose results are errors. What does not fit is shortened to the part
    `goal_share` of the room. With `leave_out` whole messages may go. If it still does not fit,
    `after` says so.
    """
    available = window - fixed - reserve_for_reply(window, reply)
    size_before = sum(map(estimate_message, history))
    if size_before <= available:
        return CompressedHistory(tuple(history), size_before, size_before)
    pinned = find_pinned_positions(history, decisions, failed)
    goal_size = int(available * goal_share)
    compressed = _shorten_messages(history, size_before, goal_size, pinned)
    if leave_out and compressed.after > available:
        return _leave_out(compressed, goal_size, pinned)
    return compressed


def _shorten_messages(
    history: Sequence[Message], size_before: int, goal_size: int, pinned: Collection[int]
) -> CompressedHistory:
    """Shorten one message after the other, step by step, until the goal is reached."""
    messages = list(history)
    sizes = [estimate_message(message) for message in history]
    names = {call.id: call.name for message in history for call in message.calls}
    size_after = size_before
    shortened: dict[str, None] = {}
    for shorten in STEPS:
        for position, message in enumerate(messages):
            if size_after <= goal_size:
                break
            if position in pinned:
                continue
            changed = shorten(message, names)
            size = estimate_message(changed) if changed is not message else sizes[position]
            if size < sizes[position]:
                size_after += size - sizes[position]
                sizes[position], messages[position] = size, changed
                shortened |= dict.fromkeys(list_changed_calls(message, changed))
    return CompressedHistory(tuple(messages), size_before, size_after, tuple(shortened))


def _leave_out(
    compressed: CompressedHistory, available: int, pinned: Collection[int]
) -> CompressedHistory:
    """Leave out the oldest messages, a call with its results; what is pinned only at the last.

    The task is the last to go; the user's last words and the last calls stay.
    """
    messages = compressed.history
    user_positions = [
        position for position, message in enumerate(messages) if _is_from_user(message)
    ]
    task = set(user_positions[:1])
    left_out_positions = _choose_left_out(
        compressed, available, pinned, task, {*user_positions[-1:]}
    )
    if not left_out_positions:
        return compressed
    remaining = [
        message for position, message in enumerate(messages) if position not in left_out_positions
    ]
    note_position = min(task, default=-1) + 1 if left_out_positions.isdisjoint(task) else 0
    left_out = sum(_count_left_out(messages[position]) for position in left_out_positions)
    remaining.insert(note_position, _make_left_out_note(left_out))
    size_after = sum(map(estimate_message, remaining))
    return compressed._replace(history=tuple(remaining), after=size_after, left_out=left_out)


def _choose_left_out(
    compressed: CompressedHistory,
    available: int,
    pinned: Collection[int],
    task: Collection[int],
    last_words: Collection[int],
) -> set[int]:
    """Choose the positions of the messages that go."""
    messages = compressed.history
    needed = {*last_words, *find_latest_calls(messages)}
    groups = [group for group in _group_messages(messages) if needed.isdisjoint(group)]
    groups.sort(key=lambda group: (not group.isdisjoint(task), not group.isdisjoint(pinned)))
    size_after = compressed.after + estimate_message(_make_left_out_note(len(messages)))
    left_out_positions: set[int] = set()
    for group in groups:
        if size_after <= available:
            break
        left_out_positions |= group
        size_after -= sum(estimate_message(messages[position]) for position in group)
    return left_out_positions


def _is_from_user(message: Message) -> bool:
    return message.role == "user" and not message.note


def _group_messages(messages: Sequence[Message]) -> Iterator[set[int]]:
    """Group what goes together, oldest first: a call with its results, else a message alone."""
    results: dict[str, set[int]] = {}
    for position, message in enumerate(messages):
        if message.role == "tool":
            results.setdefault(message.call_id, set()).add(position)
    for position, message in enumerate(messages):
        if message.role not in ("tool", "system"):
            yield {position}.union(*(results.get(call.id, set()) for call in message.calls))


def _make_left_out_note(count: int) -> Message:
    return Message("user", LEFT_OUT.format(count=count), note=True)


def _count_left_out(message: Message) -> int:
    """Count the messages that are gone with this one: a note stands for those it tells of."""
    note = LEFT_OUT_COUNT.fullmatch(message.content) if message.note else None
    return int(note["count"]) if note else 1


def reserve_for_reply(window: int, most_tokens: int = REPLY) -> int:
    """Reserve tokens of the window for the reply."""
    return min(most_tokens, window // 4)


def estimate_message(message: Message) -> int:
    """Estimate the tokens of a message as it is sent."""
    calls = sum(tokens(call.name) + tokens(dump_arguments(call)) + 8 for call in message.calls)
    return MESSAGE + tokens(message.content) + calls


def dump_arguments(call: ToolCall) -> str:
    return dump_json(dict(call.arguments))


def list_changed_calls(old_message: Message, new_message: Message) -> Iterator[str]:
    """List the ids of the calls in a message, or of its result, that were shortened."""
    if old_message.role == "tool":
        yield old_message.call_id
    for old_call, new_call in zip(old_message.calls, new_message.calls, strict=True):
        if old_call is not new_call:
            yield old_call.id


def find_pinned_positions(
    history: Sequence[Message], decisions: Collection[int], failed: Collection[str]
) -> frozenset[int]:
    """Find the positions of what is never shortened."""
    users = [position for position, message in enumerate(history) if message.role == "user"]
    pinned = {*decisions, *users[:1], *users[-1:]}
    pinned |= {position for position in users if DECIDED.search(history[position].content[:WORTH])}
    for position, message in enumerate(history):
        failed_here = message.role == "tool" and (
            message.call_id in failed or is_error(message.content)
        )
        if message.role == "system" or failed_here:
            pinned.add(position)
    return frozenset(pinned | find_latest_calls(history))


def find_latest_calls(history: Sequence[Message]) -> set[int]:
    """Find the last message with calls and all results that belong to it."""
    backwards = list(reversed(range(len(history))))
    last_calls = next((position for position in backwards if history[position].calls), None)
    if last_calls is None:
        results = (position for position in backwards if history[position].role == "tool")
        return {*islice(results, 1)}
    ids = {call.id for call in history[last_calls].calls}
    positions = range(last_calls, len(history))
    return {last_calls, *(position for position in positions if history[position].call_id in ids)}


ToolNames = Mapping[str, str]


def stub_result_with_head(message: Message, names: ToolNames) -> Message:
    """Replace a result by a stub that keeps the head of the data."""
    return _stub_content(message, names, HEAD)


def stub_result(message: Message, names: ToolNames) -> Message:
    """Replace a result by a stub without any of the data."""
    return _stub_content(message, names, 0)


def _stub_content(message: Message, names: ToolNames, head: int) -> Message:
    if message.role != "tool" or len(message.content) < WORTH:
        return message
    tool = message.name or names.get(message.call_id, "")
    return message._replace(content=make_stub(message.content, tool, head))


def cut_arguments(message: Message, names: ToolNames) -> Message:
    """Cut the long texts in calls; the arguments stay an object of the same keys."""
    calls = tuple(map(_cut_call, message.calls))
    are_unchanged = all(
        old_call is new_call for old_call, new_call in zip(message.calls, calls, strict=True)
    )
    return message if are_unchanged else message._replace(calls=calls)


def _cut_call(call: ToolCall) -> ToolCall:
    if len(dump_arguments(call)) < WORTH:
        return call
    arguments = {name: _cut_value(value) for name, value in call.arguments.items()}
    return call._replace(arguments=arguments)


def _cut_value(value: object) -> object:
    if isinstance(value, str):
        return cut_middle(value, WORTH // 2)
    if isinstance(value, list | dict) and len(written := dump_json(value)) > WORTH:
        return cut_middle(written, WORTH // 2)
    return value


def cut_answer(message: Message, names: ToolNames) -> Message:
    return _cut_content(message, "assistant", 2 * WORTH)


def cut_user_text(message: Message, names: ToolNames) -> Message:
    return _cut_content(message, "user", 2 * WORTH)


def cut_answer_short(message: Message, names: ToolNames) -> Message:
    return _cut_content(message, "assistant", WORTH // 2)


def cut_user_text_short(message: Message, names: ToolNames) -> Message:
    return _cut_content(message, "user", WORTH // 2)


def _cut_content(message: Message, role: str, limit: int) -> Message:
    if message.role != role or len(message.content) <= limit:
        return message
    return message._replace(content=cut_middle(message.content, limit))


def cut_middle(text: str, limit: int) -> str:
    """Cut a longer text to head and tail, with the number of characters between them."""
    removed = len(text) - limit + len(CUT) + 10
    if len(text) <= limit or removed <= 0:
        return text
    remaining = limit - len(CUT) - 10
    head, tail = remaining * 2 // 3, remaining // 3
    return text[:head] + CUT.format(count=len(text) - head - tail) + text[len(text) - tail :]


STEPS: tuple[Callable[[Message, ToolNames], Message], ...] = (
    stub_result_with_head,
    cut_arguments,
    stub_result,
    cut_answer,
    cut_user_text,
    cut_answer_short,
    cut_user_text_short,
)
"""The order in which things are given up."""
