"""Compress a history, and truncate results that are too long, so that both fit the window (C30).

A truncated result is valid JSON that says what is missing: a stub says how much there was, keeps
the head of it, and says how to get the rest.

Of a history what goes first is what can be had again: old results become such stubs, then long
arguments of old calls, then old answers and long old texts of the user. Not touched are the
system prompt, the task, the user's last words, what the user decided, errors, and the last calls
with their results. A call and its result stay together whatever happens. Oldest first, and only as
much as is needed; the whole text stays in the session's log. Where even that is too much, what is
too long by itself is cut, but for the system prompt and the user's last words; then whole messages
are left out, and a note says how many. The task, the last words and the last calls always stay.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from math import isfinite
from typing import NamedTuple

from andy_cli.compiler.expression import Expression
from andy_cli.messages import Message, ToolCall
from andy_cli.models.token_count import (
    MESSAGE_TOKENS,
    REPLY_TOKENS,
    dump_arguments,
    estimate_message,
    estimate_tokens,
    reserve_for_reply,
)

SHORTENED = "shortened"
TRUNCATED = "truncated"
HEAD_CHARACTERS = 600
"""Characters of the data that a stub keeps at first; later none."""
MAX_DEPTH = 12
STUB_CHARACTERS = 160
"""Characters of a line that says what is missing."""
FAULTS = ("error", "errors", "exception", "traceback")
FAULT = Expression(
    r"\s*(?:(?:[Ee]rror|Failed|Failure|[A-Z]\w*(?:Error|Exception))\s*:|Traceback \(most recent)"
)
CALL_AGAIN = "Call {tool} again with the same arguments, or with narrower ones, to see the rest."
AGAIN = CALL_AGAIN.partition("{tool}")[2]
COUNTS = (TRUNCATED, "items", "left_out")


class TruncatedValue(NamedTuple):
    value: object
    length: int
    """Characters of JSON, about."""
    whole: bool


def is_error(content: str) -> bool:
    """Tell whether a result says what went wrong: such are never cut."""
    value = read_json(content)
    if not isinstance(value, Mapping):
        return FAULT.match(content) is not None
    return any(value.get(key) for key in FAULTS) or value.get("ok") is False


def read_json(content: str) -> object | None:
    """Read the JSON object or list a result holds; None for text."""
    if content.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value: object = json.loads(content, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def make_stub(content: str, tool: str = "", head: int = HEAD_CHARACTERS) -> str:
    """Make the stub of a result with so many characters of its data.

    A stub of a stub keeps counts.
    """
    value = read_json(content)
    if isinstance(value, dict) and value.get(SHORTENED) is True:
        if not head:
            value.pop("head", None)
        return dump_json(value)
    fields: dict[str, object] = {SHORTENED: True}
    if value is None:
        characters, line_breaks = measure_text(content)
        fields |= {"characters": characters, "lines": line_breaks + 1, "head": content[:head]}
    else:
        if not is_truncated_here(value):
            fields["characters"] = len(content)
        if (items := count_items(value)) is not None:
            fields["items"] = items
        fields["head"] = truncate_value(unwrap_data(value), head).value
    if not head:
        del fields["head"]
    fields["rest"] = CALL_AGAIN.format(tool=tool or "the tool")
    return dump_json(fields)


def is_truncated(value: object) -> bool:
    """Tell whether these are data of which a part was left out, here or by the tool itself."""
    return (
        isinstance(value, dict) and value.get(TRUNCATED) is True and {"data", "rest"} <= set(value)
    )


def is_truncated_here(value: object) -> bool:
    """Tell it of what stands alone between our counts; a tool says more beside its own data."""
    return is_truncated(value) and isinstance(value, dict) and str(value["rest"]).endswith(AGAIN)


def unwrap_data(value: object) -> object:
    """Return the data without the counts that stand around those that were truncated, and with what
    a tool says beside them: what could not be opened, or how its words were taken."""
    if not isinstance(value, dict) or not is_truncated(value):
        return value
    if is_truncated_here(value):
        return value["data"]
    return {key: value[key] for key in value if key not in COUNTS}


def count_items(value: object) -> object | None:
    """Count the items of a list, or of the lists in an object; None if there is none."""
    if isinstance(value, list):
        return len(value)
    if not isinstance(value, dict):
        return None
    if is_truncated_here(value):  # it was counted before it was cut
        items: object = value.get("items")
        return items
    sizes = {str(name): len(inner) for name, inner in value.items() if isinstance(inner, list)}
    if is_truncated(value) and isinstance(value.get("items"), int):
        sizes["data"] = value["items"]  # more than the tool has listed
    longest_names = sorted(sizes, key=lambda name: -sizes[name])[:5]
    return {name: sizes[name] for name in longest_names} or None


def truncate_value(value: object, max_characters: int, depth: int = MAX_DEPTH) -> TruncatedValue:
    """Truncate a value to JSON of about `max_characters` characters; never looks far beyond it."""
    if isinstance(value, str):
        is_whole = len(value) <= max_characters
        shown_text = value if is_whole else f"{value[: max(max_characters - 3, 0)]}..."
        return TruncatedValue(shown_text, len(shown_text) + 2, is_whole)
    if isinstance(value, list | dict) and depth == 0:
        return TruncatedValue("...", 5, False)
    if isinstance(value, list):
        return _truncate_list(value, max_characters, depth)
    if isinstance(value, dict):
        return _truncate_object(value, max_characters, depth)
    if isinstance(value, float) and not isfinite(value):
        value = str(value)  # JSON has no word for it
    return TruncatedValue(value, len(str(value)), True)


def _truncate_list(value: list[object], max_characters: int, depth: int) -> TruncatedValue:
    elements: list[object] = []
    length = 2
    for element in value:
        truncated = truncate_value(element, max_characters - length, depth - 1)
        if elements and (not truncated.whole or length + truncated.length > max_characters):
            return TruncatedValue(elements, length, False)
        if not truncated.whole and max_characters - length < 20:
            return TruncatedValue(elements, length, False)
        elements.append(truncated.value)
        length += truncated.length + 2
        if not truncated.whole:
            return TruncatedValue(elements, length, False)
    return TruncatedValue(elements, length, True)


def _truncate_object(
    value: Mapping[str, object], max_characters: int, depth: int
) -> TruncatedValue:
    """Short values first, so that one long list does not hide all the rest."""
    fields: dict[str, object] = {}
    length, is_whole = 2, True
    order = sorted(value, key=lambda key: isinstance(value[key], list | dict))
    for key in order:
        remaining = max_characters - length - len(key) - 6
        if remaining < 8:
            is_whole = False
            break
        truncated = truncate_value(value[key], remaining, depth - 1)
        fields[key] = truncated.value
        length += truncated.length + len(key) + 6
        is_whole = is_whole and truncated.whole
    return TruncatedValue({key: fields[key] for key in value if key in fields}, length, is_whole)


def truncate_result(content: str, max_tokens: int, tool: str = "") -> str:
    """Truncate a fresh result to so many tokens (but for errors, and never to less than a stub).

    Data becomes valid JSON marked `truncated`, with the first items and the number of those left
    out; text keeps its head and tail around a line that says what is missing.
    """
    return content if is_error(content) else _truncate_any_result(content, max_tokens, tool)


def _truncate_any_result(content: str, max_tokens: int, tool: str) -> str:
    if estimate_tokens(content) <= max_tokens:
        return content
    value = read_json(content)
    size = max(int(len(content) * max_tokens / estimate_tokens(content)), 1)
    while True:
        if value is None:
            shorter = _render_truncated_text(content, size, tool)
        else:
            shorter = _render_truncated_data(value, size, tool)
        if estimate_tokens(shorter) <= max_tokens or size < STUB_CHARACTERS:
            return shorter
        size = int(size * 0.8)


def _render_truncated_data(value: object, size: int, tool: str) -> str:
    data = truncate_value(unwrap_data(value), max(size - STUB_CHARACTERS - 60, 0)).value
    fields: dict[str, object] = {TRUNCATED: True}
    if (items := count_items(value)) is not None:
        fields["items"] = items
        fields["left_out"] = _subtract_counts(items, count_items(data))
    fields["data"] = data
    fields["rest"] = CALL_AGAIN.format(tool=tool or "the tool")
    return dump_json(fields)


def _subtract_counts(items: object, kept_counts: object) -> object:
    if isinstance(items, int):
        return items - (kept_counts if isinstance(kept_counts, int) else 0)
    if not isinstance(items, dict):
        return items
    known_counts = kept_counts if isinstance(kept_counts, dict) else {}
    return {key: count - known_counts.get(key, 0) for key, count in items.items()}


def _render_truncated_text(content: str, size: int, tool: str) -> str:
    remaining = max(size - STUB_CHARACTERS, 0)
    head, tail = content[: remaining * 2 // 3], content[len(content) - remaining // 3 :]
    if (line := head.rfind("\n")) > len(head) // 2:
        head = head[: line + 1]
    if 0 <= (line := tail.find("\n")) < len(tail) // 2:
        tail = tail[line + 1 :]
    removed = content[len(head) : len(content) - len(tail)]
    characters, line_breaks = measure_text(removed)
    notice = (
        f"[... {line_breaks:,} line breaks and {characters:,} characters left out here. "
        f"{CALL_AGAIN.format(tool=tool or 'the tool')} ...]"
    )
    return "\n".join(filter(None, [head.rstrip("\n"), notice, tail]))


TEXT_NOTICE = re.compile(
    r"\[\.\.\. (?P<line_breaks>[\d,]{1,15}) line breaks and (?P<characters>[\d,]{1,15}) characters "
    r"left out here\. [^\n]+? \.\.\.\]\n?"
)
"""The notice of a truncated text, as it stands there."""


def measure_text(text: str) -> tuple[int, int]:
    """Count the characters and the line breaks of a text, with those that were left out of it."""
    characters, line_breaks = len(text), text.count("\n")
    for notice in TEXT_NOTICE.finditer(text):
        characters += read_count(notice["characters"]) - len(notice[0])
        line_breaks += read_count(notice["line_breaks"]) - notice[0].count("\n")
    return characters, line_breaks


def read_count(digits: str) -> int:
    """Read a number as a notice has it: 1,234."""
    return int(digits.replace(",", "") or 0)


def dump_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


MIN_CUT_CHARACTERS = 400
"""Characters below which nothing is won."""
CERTAIN_SHARE = 0.9
"""Part of the characters that would stay by the average of a text: its signs are not all alike."""
LEFT_OUT = "({count} earlier messages of this conversation are left out here, for want of room.)"
CUT_NOTICE = " [... {count:,} characters left out ...] "


def _compile_notice(notice: str, slot: str, digits: str) -> re.Pattern[str]:
    """Compile what finds a notice, with the `count` that its slot was filled with."""
    before, after = map(re.escape, notice.split(slot))
    return re.compile(f"{before}(?P<count>{digits}){after}")


LEFT_OUT_COUNT = _compile_notice(LEFT_OUT, "{count}", r"\d+")
CUT_COUNT = _compile_notice(CUT_NOTICE, "{count:,}", r"[\d,]{1,15}")
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
    cut_texts: int = 0
    """Messages of the user or the model whose text was cut."""
    left_out: int = 0
    """Messages that are not in the history any more."""


ToolNames = Mapping[str, str]


def compress_history(
    history: Sequence[Message],
    window: int,
    fixed: int = 0,
    *,
    reply: int = REPLY_TOKENS,
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
        compressed = _cut_pinned(compressed, available, goal_size, pinned)
    compressed = compressed._replace(cut_texts=_count_cut_texts(history, compressed.history))
    if leave_out and compressed.after > available:
        return _leave_out(compressed, available, goal_size, pinned)
    return compressed


def _count_cut_texts(history: Sequence[Message], shortened: Sequence[Message]) -> int:
    return sum(
        message.role != "tool" and message.content != shorter.content
        for message, shorter in zip(history, shortened, strict=True)
    )


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
            # In the midst of a step: later messages are left whole once there is room.
            if size_after <= goal_size:
                break
            if position in pinned:
                continue
            changed = _keep_what_fits(
                message, shorten(message, names), sizes[position] - (size_after - goal_size)
            )
            size = estimate_message(changed) if changed is not message else sizes[position]
            if size < sizes[position]:
                size_after += size - sizes[position]
                sizes[position], messages[position] = size, changed
                shortened |= dict.fromkeys(list_changed_calls(message, changed))
    return CompressedHistory(tuple(messages), size_before, size_after, tuple(shortened))


def _keep_what_fits(message: Message, changed: Message, max_tokens: int) -> Message:
    """Cut a text less than to `changed` where so many tokens of it may stay."""
    size = estimate_message(message)
    if message.role == "tool" or changed.content == message.content or max_tokens <= 0:
        return changed
    max_characters = int(len(message.content) * max_tokens / size * CERTAIN_SHARE)
    if max_characters <= len(changed.content):
        return changed
    longer = cut_content(message, {}, message.role, max_characters)
    return longer if estimate_message(longer) <= max_tokens else changed


def _cut_pinned(
    compressed: CompressedHistory, available: int, goal_size: int, pinned: Collection[int]
) -> CompressedHistory:
    """Cut what is pinned and too long by itself, so that the others need not go for it.

    Of the task half the goal stays, or what the last messages leave of the room. The user's last
    words stay whole: what is asked of half of them would be another wish.
    """
    messages = list(compressed.history)
    names = {call.id: call.name for message in messages for call in message.calls}
    task, last_words, latest_calls = _find_essentials(messages)
    size_after = compressed.after
    shortened = dict.fromkeys(compressed.shortened)
    # The task last: it is what all the others are about.
    for position in sorted(pinned, key=lambda position: (position in task, position)):
        message = messages[position]
        if size_after <= goal_size:
            break
        if position in last_words or message.role == "system":
            continue
        max_tokens = goal_size // 2
        if position in task:
            needed_tokens = _sum_sizes(messages, last_words | latest_calls) + LEFT_OUT_TOKENS
            max_tokens = min(max_tokens, available - needed_tokens)
        elif position in latest_calls:
            max_tokens //= len(latest_calls)
        changed = _cut_to_tokens(message, names, max_tokens, position in task | latest_calls)
        size_after += estimate_message(changed) - estimate_message(message)
        messages[position] = changed
        if changed is not message:
            shortened |= dict.fromkeys(list_changed_calls(message, changed))
    return compressed._replace(
        history=tuple(messages), after=size_after, shortened=tuple(shortened)
    )


def _cut_to_tokens(
    message: Message, names: ToolNames, max_tokens: int, is_essential: bool
) -> Message:
    """Cut a message to so many tokens, or to the few that are always kept.

    Of the user's words that are not essential the beginning stays, which holds a decision.
    """
    size = estimate_message(message)
    if message.role == "tool":
        tool = message.name or names.get(message.call_id, "")
        content = _truncate_any_result(message.content, max(max_tokens, 1), tool)
        changed = message._replace(content=content)
    elif message.calls:
        changed = cut_arguments(message, names) if size > max_tokens else message
    elif is_from_user(message) and not is_essential:
        changed = cut_content(message, names, message.role, 2 * MIN_CUT_CHARACTERS)
    else:
        share = max(max_tokens, 0) / size
        max_characters = max(int(len(message.content) * share), MIN_CUT_CHARACTERS // 2)
        changed = cut_content(message, names, message.role, max_characters)
    return changed if estimate_message(changed) < size else message


def _find_essentials(messages: Sequence[Message]) -> tuple[set[int], set[int], set[int]]:
    """Find what is never left out: the task, the user's last words, the last calls."""
    users = [position for position, message in enumerate(messages) if is_from_user(message)]
    last_words = set(users[-1:])
    return set(users[:1]) - last_words, last_words, find_latest_calls(messages)


def _leave_out(
    compressed: CompressedHistory, available: int, goal_size: int, pinned: Collection[int]
) -> CompressedHistory:
    """Leave out the oldest messages, a call with its results; what is pinned only at the last.

    The task, the user's last words and the last calls stay.
    """
    messages = compressed.history
    task, last_words, latest_calls = _find_essentials(messages)
    left_out_positions = _choose_left_out(
        compressed, available, goal_size, pinned, task | last_words | latest_calls
    )
    if not left_out_positions:
        return compressed
    remaining = [
        message for position, message in enumerate(messages) if position not in left_out_positions
    ]
    left_out = sum(_count_left_out(messages[position]) for position in left_out_positions)
    remaining.insert(min(task, default=-1) + 1, _make_left_out_note(left_out))
    size_after = sum(map(estimate_message, remaining))
    return compressed._replace(history=tuple(remaining), after=size_after, left_out=left_out)


def _choose_left_out(
    compressed: CompressedHistory,
    available: int,
    goal_size: int,
    pinned: Collection[int],
    essential: set[int],
) -> set[int]:
    """Choose the positions of the messages that go."""
    messages = compressed.history
    groups = [group for group in _group_messages(messages) if essential.isdisjoint(group)]
    groups.sort(key=lambda group: not group.isdisjoint(pinned))
    least_size = _sum_sizes(messages, essential)
    if least_size + LEFT_OUT_TOKENS > goal_size:
        # The goal cannot be reached: all the others would go though there is room for some.
        goal_size = available
    size_after = compressed.after + LEFT_OUT_TOKENS
    left_out_positions: set[int] = set()
    for group in groups:
        if size_after <= goal_size:
            break
        left_out_positions |= group
        size_after -= _sum_sizes(messages, group)
    return left_out_positions


def _sum_sizes(messages: Sequence[Message], positions: Collection[int]) -> int:
    return sum(estimate_message(messages[position]) for position in positions)


def is_from_user(message: Message) -> bool:
    """Tell whether the user said it; notes are andy's own."""
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


LEFT_OUT_TOKENS = MESSAGE_TOKENS + estimate_tokens(LEFT_OUT.format(count=100_000))
"""Estimated tokens of the note."""


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
    for position in users:
        if DECIDED.search(history[position].content[:MIN_CUT_CHARACTERS]):
            pinned.add(position)
    for position, message in enumerate(history):
        is_failure = False
        if message.role == "tool":
            is_failure = message.call_id in failed or is_error(message.content)
        if is_failure or message.role == "system":
            pinned.add(position)
    return frozenset(pinned | find_latest_calls(history))


def find_latest_calls(history: Sequence[Message]) -> set[int]:
    """Find the last message with calls and all results that belong to it."""
    backwards = list(reversed(range(len(history))))
    last_calls = next((position for position in backwards if history[position].calls), None)
    if last_calls is None:
        results = (position for position in backwards if history[position].role == "tool")
        return set(islice(results, 1))
    ids = {call.id for call in history[last_calls].calls}
    positions = range(last_calls, len(history))
    return {last_calls, *(position for position in positions if history[position].call_id in ids)}


def stub_result(message: Message, names: ToolNames, head: int) -> Message:
    """Replace a result by a stub that keeps so many characters of its data."""
    if message.role != "tool" or len(message.content) < MIN_CUT_CHARACTERS:
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
    if len(dump_arguments(call)) < MIN_CUT_CHARACTERS:
        return call
    arguments = {name: _cut_value(value) for name, value in call.arguments.items()}
    return call._replace(arguments=arguments)


def _cut_value(value: object) -> object:
    if isinstance(value, str):
        return cut_middle(value, MIN_CUT_CHARACTERS // 2)
    if isinstance(value, list | dict) and len(written := dump_json(value)) > MIN_CUT_CHARACTERS:
        return cut_middle(written, MIN_CUT_CHARACTERS // 2)
    return value


def cut_content(message: Message, names: ToolNames, role: str, max_characters: int) -> Message:
    """Cut what the user or the model said."""
    if message.role != role or len(message.content) <= max_characters:
        return message
    return message._replace(content=cut_middle(message.content, max_characters))


def cut_middle(text: str, max_characters: int) -> str:
    """Cut a longer text to head and tail, with the number of characters between them."""
    removed = len(text) - max_characters + len(CUT_NOTICE) + 10
    if len(text) <= max_characters or removed <= 0:
        return text
    remaining = max_characters - len(CUT_NOTICE) - 10
    head, tail = remaining * 2 // 3, remaining // 3
    middle = text[head : len(text) - tail]
    count = len(middle)
    for notice in CUT_COUNT.finditer(middle):  # of an earlier cut
        count += read_count(notice["count"]) - len(notice[0])
    return text[:head] + CUT_NOTICE.format(count=count) + text[len(text) - tail :]


STEPS: tuple[Callable[[Message, ToolNames], Message], ...] = (
    partial(stub_result, head=HEAD_CHARACTERS),
    cut_arguments,
    partial(stub_result, head=0),
    partial(cut_content, role="assistant", max_characters=2 * MIN_CUT_CHARACTERS),
    partial(cut_content, role="user", max_characters=2 * MIN_CUT_CHARACTERS),
    partial(cut_content, role="assistant", max_characters=MIN_CUT_CHARACTERS // 2),
    partial(cut_content, role="user", max_characters=MIN_CUT_CHARACTERS // 2),
)
"""The order in which things are given up."""
