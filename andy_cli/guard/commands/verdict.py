"""The verdict on a command: it may run, it is asked, it never runs."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

Level = Literal["allow", "ask", "deny"]
ORDER: tuple[Level, ...] = ("allow", "ask", "deny")


class CommandJudgement(NamedTuple):
    verdict: Level
    reason: str


def ask(reason: str) -> CommandJudgement:
    return CommandJudgement("ask", reason)


def deny(reason: str) -> CommandJudgement:
    return CommandJudgement("deny", reason)


def strictest(judgements: Iterable[CommandJudgement]) -> CommandJudgement:
    """The strictest verdict, the first of its kind; nothing at all is asked."""
    return max(
        judgements,
        key=lambda judgement: ORDER.index(judgement.verdict),
        default=ask("it says nothing"),
    )
