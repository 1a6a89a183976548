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

from andy_cli.agent.stubs import HEAD, dumped, fitted, is_error, stub
from andy_cli.agent.tokens import window_warning
from andy_cli.compiler.expression import Expression
from andy_cli.messages import Message, ToolCall
from andy_cli.models.token_count import MESSAGE, tokens

__all__ = ["Compressed", "compressed", "fitted", "window_warning"]

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


class Compressed(NamedTuple):
    history: tuple[Message, ...]
    before: int
    after: int
    """Estimated tokens of the history without what is `fixed`."""
    shortened: tuple[str, ...] = ()
    """The ids of the calls whose results or arguments were shortened."""
    left_out: int = 0
    """Messages that are not in the history any more."""


def compressed(
    history: Sequence[Message],
    window: int,
    fixed: int = 0,
    *,
    reply: int = REPLY,
    decisions: Collection[int] = (),
    failed: Collection[str] = (),
    goal: float = 1.0,
    leave_out: bool = False,
) -> Compressed:
    """The history in what `window` tokens leave beside `fixed` ones and the reply's.

    `fixed` is what goes with every request: the system prompt if it is not in the history, and
    the tools' schemas. `decisions` are places in the history that stay as they are, `failed` the
    ids of calls whose results are errors. What does not fit is shortened to the part `goal` of the
    room. With `leave_out` whole messages may go. If it still does not fit, `after` says so.
    """
    room = window - fixed - room_for_reply(window, reply)
    sizes = [size(each) for each in history]
    before = after = sum(sizes)
    if before <= room:
        return Compressed(tuple(history), before, before)
    messages = list(history)
    pinned = kept(history, decisions, failed)
    names = {call.id: call.name for each in history for call in each.calls}
    shortened: dict[str, None] = {}
    wanted = int(room * goal)
    for shorter in STEPS:
        for at, message in enumerate(messages):
            if after <= wanted:
                break
            changed = message if at in pinned else shorter(message, names)
            if changed is not message and (less := size(changed)) < sizes[at]:
                after += less - sizes[at]
                sizes[at], messages[at] = less, changed
                shortened |= dict.fromkeys(touched(message, changed))
    done = Compressed(tuple(messages), before, after, tuple(shortened))
    return _leave_out(done, wanted, pinned) if leave_out and after > room else done


def _leave_out(done: Compressed, room: int, pinned: Collection[int]) -> Compressed:
    """Leave out the oldest messages, a call with its results; what is pinned only at the last.

    The task is the last to go; the user's last words and the last calls stay.
    """
    messages = done.history
    users = [at for at, message in enumerate(messages) if _is_user(message)]
    task, needed = {*users[:1]}, {*users[-1:], *latest(messages)}
    after, gone = done.after + size(_left_out_note(len(messages))), set[int]()
    units = [unit for unit in _units(messages) if needed.isdisjoint(unit)]
    units.sort(key=lambda unit: (not unit.isdisjoint(task), not unit.isdisjoint(pinned)))
    for unit in units:
        if after <= room:
            break
        gone |= unit
        after -= sum(size(messages[at]) for at in unit)
    if not gone:
        return done
    kept = [message for at, message in enumerate(messages) if at not in gone]
    place = min(task, default=-1) + 1 if gone.isdisjoint(task) else 0
    left_out = sum(_count_left_out(messages[at]) for at in gone)
    kept.insert(place, _left_out_note(left_out))
    return done._replace(history=tuple(kept), after=sum(map(size, kept)), left_out=left_out)


def _is_user(message: Message) -> bool:
    return message.role == "user" and not message.note


def _units(messages: Sequence[Message]) -> Iterator[set[int]]:
    """What goes together, oldest first: a call with all its results, else a message alone."""
    results: dict[str, set[int]] = {}
    for at, message in enumerate(messages):
        if message.role == "tool":
            results.setdefault(message.call_id, set()).add(at)
    for at, message in enumerate(messages):
        if message.role not in ("tool", "system"):
            yield {at}.union(*(results.get(call.id, set()) for call in message.calls))


def _left_out_note(count: int) -> Message:
    return Message("user", LEFT_OUT.format(count=count), note=True)


def _count_left_out(message: Message) -> int:
    """How many messages are gone with this one: a note stands for those that it tells of."""
    told = LEFT_OUT_COUNT.fullmatch(message.content) if message.note else None
    return int(told["count"]) if told else 1


def room_for_reply(window: int, most: int = REPLY) -> int:
    """Tokens of the window that are kept free for the reply."""
    return min(most, window // 4)


def size(message: Message) -> int:
    """Estimated tokens of a message as it is sent."""
    called = sum(tokens(each.name) + tokens(dumped_arguments(each)) + 8 for each in message.calls)
    return MESSAGE + tokens(message.content) + called


def dumped_arguments(call: ToolCall) -> str:
    return dumped(dict(call.arguments))


def touched(before: Message, after: Message) -> Iterator[str]:
    if before.role == "tool":
        yield before.call_id
    for old, new in zip(before.calls, after.calls, strict=True):
        if old is not new:
            yield old.id


def kept(
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
    return frozenset(pinned | latest(history))


def latest(history: Sequence[Message]) -> set[int]:
    """The last message with calls and all results that belong to it."""
    at = next((at for at in reversed(range(len(history))) if history[at].calls), None)
    if at is None:
        told = (at for at in reversed(range(len(history))) if history[at].role == "tool")
        return {*islice(told, 1)}
    ids = {call.id for call in history[at].calls}
    results = {n for n in range(at, len(history)) if history[n].call_id in ids}
    return {at, *results}


Names = Mapping[str, str]


def result_headed(message: Message, names: Names) -> Message:
    """A result as a stub that keeps the head of the data."""
    return _stubbed(message, names, HEAD)


def result_counted(message: Message, names: Names) -> Message:
    """A result as a stub without any of the data."""
    return _stubbed(message, names, 0)


def _stubbed(message: Message, names: Names, head: int) -> Message:
    if message.role != "tool" or len(message.content) < WORTH:
        return message
    tool = message.name or names.get(message.call_id, "")
    return message._replace(content=stub(message.content, tool, head))


def arguments_cut(message: Message, names: Names) -> Message:
    """Calls with their long texts cut; the arguments stay an object of the same keys."""
    calls = tuple(map(_cut_call, message.calls))
    same = all(old is new for old, new in zip(message.calls, calls, strict=True))
    return message if same else message._replace(calls=calls)


def _cut_call(call: ToolCall) -> ToolCall:
    if len(dumped_arguments(call)) < WORTH:
        return call
    arguments = {key: _cut_value(each) for key, each in call.arguments.items()}
    return call._replace(arguments=arguments)


def _cut_value(value: object) -> object:
    if isinstance(value, str):
        return cut(value, WORTH // 2)
    if isinstance(value, list | dict) and len(written := dumped(value)) > WORTH:
        return cut(written, WORTH // 2)
    return value


def answer_cut(message: Message, names: Names) -> Message:
    return _content_cut(message, "assistant", 2 * WORTH)


def words_cut(message: Message, names: Names) -> Message:
    return _content_cut(message, "user", 2 * WORTH)


def answer_hinted(message: Message, names: Names) -> Message:
    return _content_cut(message, "assistant", WORTH // 2)


def words_hinted(message: Message, names: Names) -> Message:
    return _content_cut(message, "user", WORTH // 2)


def _content_cut(message: Message, role: str, most: int) -> Message:
    if message.role != role or len(message.content) <= most:
        return message
    return message._replace(content=cut(message.content, most))


def cut(text: str, most: int) -> str:
    """Head and tail of a text that is longer, with the number of characters between them."""
    left = len(text) - most + len(CUT) + 10
    if len(text) <= most or left <= 0:
        return text
    room = most - len(CUT) - 10
    head, tail = room * 2 // 3, room // 3
    return text[:head] + CUT.format(count=len(text) - head - tail) + text[len(text) - tail :]


STEPS: tuple[Callable[[Message, Names], Message], ...] = (
    result_headed,
    arguments_cut,
    result_counted,
    answer_cut,
    words_cut,
    answer_hinted,
    words_hinted,
)
"""What is given up, in this order."""
