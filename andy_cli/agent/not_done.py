"""Actions that were asked for and not done, as andy itself says it beneath the answer.

Facts of the turn alone: the calls that were refused, failed, ran out of time or were stopped, and
for which no later call made up. No language of the model is read here.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from andy_cli.agent.grounding.claims import ActionRecord
from andy_cli.agent.grounding.evidence import NAME
from andy_cli.messages import Effect, Status

LOOKS = (Effect.READ, Effect.NETWORK, Effect.PROTOCOL)
REASONS = {
    Status.DENIED: "not allowed",
    Status.TIMED_OUT: "it ran out of time",
    Status.CANCELLED: "it was stopped",
    Status.FAILED: "it failed",
}
LONGEST = 160
"""Characters of a reason."""


class NotDone(NamedTuple):
    """An action, in the words of its tool, and why it was not done."""

    action: str
    reason: str

    def __str__(self) -> str:
        return f"Not done: {self.action} ({self.reason})"


def find_not_done(actions: Sequence[ActionRecord]) -> tuple[NotDone, ...]:
    """List what of one turn was not done or seen only in part, each once, in order."""
    not_done: dict[NotDone, None] = {}
    for position, action in enumerate(actions, start=1):
        reason = _explain(action, actions[position:]) if action.action else ""
        if reason:
            not_done[NotDone(action.action, reason)] = None
    return tuple(not_done)


def _explain(action: ActionRecord, later: Sequence[ActionRecord]) -> str:
    if action.ok:
        return f"only in part: {action.problem}" if action.problem else ""
    if any(_makes_up_for(action, other) for other in later):
        return ""
    if action.status is Status.FAILED and action.problem:
        return _shorten_reason(action.problem)
    return REASONS[action.status]


def _makes_up_for(action: ActionRecord, later: ActionRecord) -> bool:
    """Tell whether a later call did what this one could not: a look is replaced by any look of its
    tool, an action by one that was done to the same thing."""
    if not later.ok or later.tool != action.tool:
        return (
            later.ok
            and action.effect in LOOKS
            and later.effect in LOOKS
            and _is_same_target(action, later)
        )
    return action.effect in LOOKS or _is_same_target(action, later)


def _is_same_target(action: ActionRecord, other: ActionRecord) -> bool:
    first, second = set(_find_names(action)), set(_find_names(other))
    return (
        action.arguments == other.arguments or not first.isdisjoint(second) or not (first or second)
    )


def _find_names(action: ActionRecord) -> Iterator[str]:
    yield from NAME.findall(f"{action.action} {action.arguments}")


def _shorten_reason(text: str) -> str:
    line = text.strip().partition("\n")[0].rstrip(" .")
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 3]}..."
