"""A history that fits the model's window (C30).

What goes first is what can be had again: old results become stubs that say how (`stubs.py`), then
long arguments of old calls, then old answers and long old texts of the user. Never touched are the
system prompt, the task, the user's last words, what the user decided, errors, and the last calls
with their results. A call and its result stay together whatever happens. Oldest first, and only as
much as is needed; the whole text stays in the session's log. Where even that is too much, whole
messages are left out, and a note says how many.
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
    goal: float = 1.0,
    leave_out: bool = False,
) -> CompressedHistory:
    """The history in what `window` tokens leave beside `fixed` ones and the reply's.

    `fixed` is what goes with every request: the system prompt if it is not in the history, and
    the tools' schemas. `decisions` are places in the history that stay as they are, `failed` the
    ids of calls whose results are errors. What does not fit is shortened to the part `goal` of the
    room. With `leave_out` whole messages may go. If it still does not fit, `after` says so.
    """
    room = window - fixed - reserve_for_reply(window, reply)
    sizes = [estimate_message(each) for each in history]
    before = after = sum(sizes)
    if before <= room:
        return CompressedHistory(tuple(history), before, before)
    messages = list(history)
    pinned = find_pinned_positions(history, decisions, failed)
    names = {call.id: call.name for each in history for call in each.calls}
    shortened: dict[str, None] = {}
    wanted = int(room * goal)
    for shorter in STEPS:
        for at, message in enumerate(messages):
            if after <= wanted:
                break
            changed = message if at in pinned else shorter(message, names)
            if changed is not message and (less := estimate_message(changed)) < sizes[at]:
                after += less - sizes[at]
                sizes[at], messages[at] = less, changed
                shortened |= dict.fromkeys(list_changed_calls(message, changed))
    done = CompressedHistory(tuple(messages), before, after, tuple(shortened))
    return _leave_out(done, wanted, pinned) if leave_out and after > room else done


def _leave_out(done: CompressedHistory, room: int, pinned: Collection[int]) -> CompressedHistory:
    """Leave out the oldest messages, a call with its results; what is pinned only at the last.

    The task is the last to go; the user's last words and the last calls stay.
    """
    messages = done.history
    users = [at for at, message in enumerate(messages) if _is_user(message)]
    task, needed = {*users[:1]}, {*users[-1:], *find_latest_calls(messages)}
    after, gone = done.after + estimate_message(_make_left_out_note(len(messages))), set[int]()
    units = [unit for unit in _group_messages(messages) if needed.isdisjoint(unit)]
    units.sort(key=lambda unit: (not unit.isdisjoint(task), not unit.isdisjoint(pinned)))
    for unit in units:
        if after <= room:
            break
        gone |= unit
        after -= sum(estimate_message(messages[at]) for at in unit)
    if not gone:
        return done
    find_pinned_positions = [message for at, message in enumerate(messages) if at not in gone]
    place = min(task, default=-1) + 1 if gone.isdisjoint(task) else 0
    left_out = sum(_count_left_out(messages[at]) for at in gone)
    find_pinned_positions.insert(place, _make_left_out_note(left_out))
    return done._replace(
        history=tuple(find_pinned_positions),
        after=sum(map(estimate_message, find_pinned_positions)),
        left_out=left_out,
    )


def _is_user(message: Message) -> bool:
    return message.role == "user" and not message.note


def _group_messages(messages: Sequence[Message]) -> Iterator[set[int]]:
    """What goes together, oldest first: a call with all its results, else a message alone."""
    results: dict[str, set[int]] = {}
    for at, message in enumerate(messages):
        if message.role == "tool":
            results.setdefault(message.call_id, set()).add(at)
    for at, message in enumerate(messages):
        if message.role not in ("tool", "system"):
            yield {at}.union(*(results.get(call.id, set()) for call in message.calls))


def _make_left_out_note(count: int) -> Message:
    return Message("user", LEFT_OUT.format(count=count), note=True)


def _count_left_out(message: Message) -> int:
    """How many messages are gone with this one: a note stands for those that it tells of."""
    told = LEFT_OUT_COUNT.fullmatch(message.content) if message.note else None
    return int(told["count"]) if told else 1


def reserve_for_reply(window: int, most: int = REPLY) -> int:
    """Tokens of the window that are kept free for the reply."""
    return min(most, window // 4)


def estimate_message(message: Message) -> int:
    """Estimated tokens of a message as it is sent."""
    called = sum(tokens(each.name) + tokens(dump_arguments(each)) + 8 for each in message.calls)
    return MESSAGE + tokens(message.content) + called


def dump_arguments(call: ToolCall) -> str:
    return dump_json(dict(call.arguments))


def list_changed_calls(before: Message, after: Message) -> Iterator[str]:
    if before.role == "tool":
        yield before.call_id
    for old, new in zip(before.calls, after.calls, strict=True):
        if old is not new:
            yield old.id


def find_pinned_positions(
    history: Sequence[Message], decisions: Collection[int], failed: Collection[str]
) -> frozenset[int]:
    """The places of what is never shortened."""
    users = [at for at, each in enumerate(history) if each.role == "user"]
    pinned = {*decisions, *users[:1], *users[-1:]}
    pinned |= {at for at, each in enumerate(history) if each.role == "system"}
    pinned |= {at for at in users if DECIDED.search(history[at].content[:WORTH])}
    pinned |= {
        at
        for at, each in enumerate(history)
        if each.role == "tool" and (each.call_id in failed or is_error(each.content))
    }
    return frozenset(pinned | find_latest_calls(history))


def find_latest_calls(history: Sequence[Message]) -> set[int]:
    """The last message with calls and all results that belong to it."""
    at = next((at for at in reversed(range(len(history))) if history[at].calls), None)
    if at is None:
        told = (at for at in reversed(range(len(history))) if history[at].role == "tool")
        return {*islice(told, 1)}
    ids = {call.id for call in history[at].calls}
    results = {n for n in range(at, len(history)) if history[n].call_id in ids}
    return {at, *results}


ToolNames = Mapping[str, str]


def stub_result_with_head(message: Message, names: ToolNames) -> Message:
    """A result as a stub that keeps the head of the data."""
    return _stub_content(message, names, HEAD)


def stub_result(message: Message, names: ToolNames) -> Message:
    """A result as a stub without any of the data."""
    return _stub_content(message, names, 0)


def _stub_content(message: Message, names: ToolNames, head: int) -> Message:
    if message.role != "tool" or len(message.content) < WORTH:
        return message
    tool = message.name or names.get(message.call_id, "")
    return message._replace(content=make_stub(message.content, tool, head))


def cut_arguments(message: Message, names: ToolNames) -> Message:
    """Calls with their long texts cut; the arguments stay an object of the same keys."""
    calls = tuple(map(_cut_call, message.calls))
    same = all(old is new for old, new in zip(message.calls, calls, strict=True))
    return message if same else message._replace(calls=calls)


def _cut_call(call: ToolCall) -> ToolCall:
    if len(dump_arguments(call)) < WORTH:
        return call
    arguments = {key: _cut_value(each) for key, each in call.arguments.items()}
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


def _cut_content(message: Message, role: str, most: int) -> Message:
    if message.role != role or len(message.content) <= most:
        return message
    return message._replace(content=cut_middle(message.content, most))


def cut_middle(text: str, most: int) -> str:
    """Head and tail of a text that is longer, with the number of characters between them."""
    left = len(text) - most + len(CUT) + 10
    if len(text) <= most or left <= 0:
        return text
    room = most - len(CUT) - 10
    head, tail = room * 2 // 3, room // 3
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
"""What is given up, in this order."""
