"""What was asked for and not done, as andy itself says it beneath the answer.

Facts of the turn alone: the calls that were refused, failed, ran out of time or were stopped, and
for which no later call made up. No language of the model is read here.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from andy_cli.agent.grounding.claim import Deed
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


def find_not_done(deeds: Sequence[Deed]) -> tuple[NotDone, ...]:
    """List what of one turn was not done or seen only in part, each once, in order."""
    found: dict[NotDone, None] = {}
    for at, deed in enumerate(deeds):
        if deed.action and (reason := _explain(deed, deeds[at + 1 :])):
            found[NotDone(deed.action, reason)] = None
    return tuple(found)


def _explain(deed: Deed, later: Sequence[Deed]) -> str:
    if deed.ok:
        return f"only in part: {deed.problem}" if deed.problem else ""
    if any(_makes_up_for(deed, each) for each in later):
        return ""
    if deed.status is Status.FAILED and deed.problem:
        return _shorten_reason(deed.problem)
    return REASONS[deed.status]


def _makes_up_for(deed: Deed, later: Deed) -> bool:
    """Whether a later call did what this one could not: a look is replaced by any look of its
    tool, a deed by one that was done to the same thing."""
    if not later.ok or later.tool != deed.tool:
        return (
            later.ok
            and deed.effect in LOOKS
            and later.effect in LOOKS
            and _is_same_target(deed, later)
        )
    return deed.effect in LOOKS or _is_same_target(deed, later)


def _is_same_target(one: Deed, other: Deed) -> bool:
    first, second = set(_find_names(one)), set(_find_names(other))
    return one.arguments == other.arguments or not first.isdisjoint(second) or not (first or second)


def _find_names(deed: Deed) -> Iterator[str]:
    yield from NAME.findall(f"{deed.action} {deed.arguments}")


def _shorten_reason(text: str) -> str:
    line = text.strip().partition("\n")[0].rstrip(" .")
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 3]}..."
