"""Find the actions of a turn that were not done, from facts of the turn alone (R7): the calls that
were refused, failed, ran out of time or were stopped, and that no later call put right. The wording
of the model is not looked at.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from andy_cli.agent.grounding.evidence import ActionRecord
from andy_cli.messages import Effect, NotDone, Status

LOOKING_EFFECTS = (Effect.READ, Effect.NETWORK, Effect.PROTOCOL)
REASONS = {
    Status.DENIED: "not allowed",
    Status.TIMED_OUT: "it ran out of time",
    Status.CANCELLED: "it was stopped",
    Status.FAILED: "it failed",
}
MAX_REASON_CHARACTERS = 160
"""Characters of a reason."""
MIN_SIMILARITY = 0.5
"""Of two texts of which one is written anew for the other."""
WORD = re.compile(r"\w+")
MAX_VALUES = 12
"""Single values of a call that are compared one by one."""
MAX_COMPARED_LENGTH = 1000
"""Characters of a value that are compared."""
MIN_NAME_LENGTH = 2
"""Characters of what the user calls by its name."""


class CallValue(NamedTuple):
    """A single value among the arguments of a call."""

    name: str
    text: str


def find_not_done(actions: Sequence[ActionRecord], request: str = "") -> tuple[NotDone, ...]:
    """List what of one turn was not done or seen only in part, each once, in order.

    `request` is what the user asked for.
    """
    not_done: dict[NotDone, None] = {}
    for position, action in enumerate(actions, start=1):
        is_told = action.action and not _is_done_already(action, actions[: position - 1])
        reason = _explain(action, actions[position:], request) if is_told else ""
        if reason:
            not_done[NotDone(action.action, reason)] = None
    return tuple(not_done)


def _is_done_already(action: ActionRecord, earlier: Sequence[ActionRecord]) -> bool:
    """Tell whether an equal call did it before: an edit that is asked for twice fails then."""
    same = (action.tool, action.arguments)
    is_change = action.status is Status.FAILED and action.effect is Effect.WRITE
    return is_change and any(
        other.ok and (other.tool, other.arguments) == same for other in earlier
    )


def _explain(action: ActionRecord, later: Sequence[ActionRecord], request: str) -> str:
    if action.ok:
        return _explain_partial(action, later)
    if any(other.ok and _makes_up_for(action, other, request) for other in later):
        return ""
    if action.status is Status.FAILED and action.problem:
        return _shorten_reason(action.problem)
    return REASONS[action.status]


def _explain_partial(action: ActionRecord, later: Sequence[ActionRecord]) -> str:
    """Explain what was done in part, or a command that failed and that no other one follows."""
    has_failed = action.exit_code and action.effect not in LOOKING_EFFECTS
    if has_failed and not any(other.ok and other.effect is action.effect for other in later):
        return f"exit code {action.exit_code}"
    return f"only in part: {action.problem}" if action.problem else ""


def _makes_up_for(action: ActionRecord, later: ActionRecord, request: str) -> bool:
    """Tell whether a later call did what this one could not: the same act on the same things, or
    a look at them. Where the user named none of them any look of the tool does.
    """
    if action.effect not in LOOKING_EFFECTS:
        return later.tool == action.tool and _is_same_act(action, later)
    wanted = [*_list_values(action)]
    named = [value for value in wanted if _is_named(value.text, request)]
    is_any_look = later.tool == action.tool and not named
    return later.effect in LOOKING_EFFECTS and (is_any_look or _looks_at(later, named or wanted))


def _looks_at(later: ActionRecord, wanted: Sequence[CallValue]) -> bool:
    """Tell whether a look is at all of these things."""
    others = [*_list_values(later)]
    return all(any(_is_same_thing(value.text, other.text) for other in others) for value in wanted)


def _is_same_act(action: ActionRecord, later: ActionRecord) -> bool:
    """Tell whether a call tries anew what another could not do. A command is the same one only as
    it stands. Of all else what its tool names is the same; of the rest one value may be another.
    """
    is_command = Effect.RUN in (action.effect, later.effect)
    values, others = [*_list_values(action)], [*_list_values(later)]
    if is_command or max(len(values), len(others)) > MAX_VALUES:
        return action.arguments == later.arguments
    changed = [value for value in values if not _has_match(value, others)]
    is_other_thing = any(_is_named(value.text, action.action) for value in changed)
    rewritten = [value for value in changed if _is_rewritten(value, others)]
    return not is_other_thing and len(changed) - len(rewritten) <= 1


def _has_match(value: CallValue, others: Sequence[CallValue]) -> bool:
    return any(
        value.name == other.name and _is_same_thing(value.text, other.text) for other in others
    )


def _is_rewritten(value: CallValue, others: Sequence[CallValue]) -> bool:
    return any(
        value.name == other.name and _measure_similarity(value.text, other.text) >= MIN_SIMILARITY
        for other in others
    )


def _measure_similarity(one: str, other: str) -> float:
    """Measure the share of words that two texts have in common: 1 if all. Takes linear time."""
    words, other_words = Counter(WORD.findall(one)), Counter(WORD.findall(other))
    return 2 * (words & other_words).total() / max(1, words.total() + other_words.total())


def _is_same_thing(one: str, other: str) -> bool:
    """Tell whether one text is the other, or a whole part of it: `01.mp3` is `songs/01.mp3`."""
    return _is_named(one, other) or _is_named(other, one)


def _is_named(text: str, within: str) -> bool:
    """Tell whether a text stands in another one, as words of its own."""
    name = text.strip().removeprefix("./")
    if len(name) < MIN_NAME_LENGTH:
        return name == within.strip()
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", within, re.I) is not None


def _list_values(action: ActionRecord) -> Iterator[CallValue]:
    """List the single values of the arguments; those of a list have its name."""
    try:
        arguments = json.loads(action.arguments)
    except ValueError:
        arguments = action.arguments
    yield from _flatten("", arguments)


def _flatten(name: str, value: object) -> Iterator[CallValue]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flatten(str(key), inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _flatten(name, inner)
    elif value not in ("", None):
        yield CallValue(name, str(value)[:MAX_COMPARED_LENGTH])


def _shorten_reason(text: str) -> str:
    line = text.strip().partition("\n")[0].rstrip(" .")
    return line if len(line) <= MAX_REASON_CHARACTERS else f"{line[: MAX_REASON_CHARACTERS - 3]}..."
