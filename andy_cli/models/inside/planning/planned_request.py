"""The request that is planned, with the commands there are and how near each is to a text."""

from collections.abc import Sequence
from textwrap import shorten
from typing import NamedTuple

from andy_cli.messages import Choice, Constraint, NotDone
from andy_cli.models.inside.encoder import Encoder
from andy_cli.models.inside.planning.answered_question import (
    AnsweredQuestion,
    find_answered,
    find_last_calling,
)
from andy_cli.models.inside.planning.choosing import Scorer, Scores, describe_command
from andy_cli.models.inside.planning.replies.dialogue import Exchange, name_command
from andy_cli.models.inside.values.filling import FilledArguments, Filler, Known


class Step(NamedTuple):
    at: int
    """Its place among the choices."""
    text: str
    """The part of the request that asks for it."""
    lead: float
    """Over the next command."""
    rival: bool = False
    """A command that the model is not trusted with is nearly as likely."""
    is_guess: bool = False
    """It reads the file that is nearest to a question, and may not answer it."""
    questions: tuple[str, ...] = ()
    """The questions that the file which it reads answers, as they were asked."""


MAX_SUMMARY = 160
"""Characters of a wish as it is told again."""


def summarize(text: str) -> str:
    """Write a wish in one line, shortened."""
    return shorten(text.rstrip("?!. "), MAX_SUMMARY, placeholder="...")


class Plan(NamedTuple):
    """The commands that a request needs, in order."""

    steps: list[Step]
    unanswered: Sequence[str] = ()
    """Sentences on the parts that cannot be answered beside the steps, and on files that may not
    answer."""
    declined: Sequence[NotDone] = ()
    """The wishes that cannot be fulfilled beside them."""

    @property
    def remarks(self) -> list[str]:
        """Sentences on the rest of the request, to be said beside what is done."""
        return [
            *self.unanswered,
            *(f"Not done: {part.action}. {part.reason}" for part in self.declined),
        ]


class PlannedRequest(NamedTuple):
    encoder: Encoder
    scorer: Scorer
    filler: Filler
    constraint: Constraint
    exchanges: tuple[Exchange, ...] = ()
    """The turns before."""

    @property
    def choices(self) -> tuple[Choice, ...]:
        return self.constraint.choices

    @property
    def names(self) -> tuple[str, ...]:
        return self.constraint.context.names

    @property
    def has_examples(self) -> bool:
        """The commands are andy's own: it is known how people ask for them."""
        return any(choice.examples for choice in self.choices)

    @property
    def answered(self) -> AnsweredQuestion | None:
        """The question that a file answered last; of what commands of others find nobody knows."""
        return find_answered(self.exchanges, self.choices) if self.has_examples else None

    def find_last_command(self) -> int | None:
        """Find the place of the command that was called last in the turns before."""
        last = find_last_calling(self.exchanges)
        called = name_command(last.calls[-1]) if last else ""
        commands = [choice.text for choice in self.choices]
        return commands.index(called) if called in commands else None

    def compare(self, text: str) -> Scores:
        return self.scorer.compare(text, self.choices, self.names)

    def compare_commands(self, at: int, others: Sequence[int]) -> dict[int, float]:
        """Compare the description of a command with those of others."""
        descriptions = [describe_command(self.choices[other]) for other in others]
        near = self.encoder.closeness(describe_command(self.choices[at]), descriptions)
        return dict(zip(others, near, strict=True))

    def fill(self, step: Step) -> FilledArguments:
        """Fill a command with what was said alone."""
        return self.filler.fill(self.choices[step.at], step.text, Known((), self.names))

    def fill_by_meaning(self, step: Step) -> FilledArguments:
        """Fill a command with what was said and found."""
        found = (*self.constraint.context.earlier, *self.constraint.context.results)
        known = Known(found, self.names)
        choice = self.choices[step.at]
        return self.filler.fill_by_meaning(choice, step.text, known)
