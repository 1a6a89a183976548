"""Find the words of a request that are the values of a command, by learned weights: of all ways to
give each parameter words of its own the likeliest.
"""

import heapq
import math
from collections.abc import Sequence
from typing import NamedTuple

from andy_cli.messages import Choice
from andy_cli.models.inside.encoder import Encoder
from andy_cli.models.inside.learned_rating import ValueComparison, WantedValue
from andy_cli.models.inside.values.parameters import Parameter, summarize_command
from andy_cli.models.inside.values.runs import (
    Run,
    RunForm,
    list_runs,
    make_run,
    measure_fit,
    measure_run,
    split_tokens,
)
from andy_cli.models.inside.values.spans import Span, overlaps
from andy_cli.models.inside.values.words import find_stem, find_words

KEPT_ASSIGNMENTS = 20
KEPT_RUNS = 12
"""Of each parameter."""
MISSING_ODDS = 1.0
"""Log-odds against giving nothing to a parameter that is needed."""


SAID_ODDS = 20.0
"""Log-odds of a member that is said, where words have no vectors."""
LIKELY_MEMBER = 0.6
"""So likely is a member that is meant. Of 458 that were needed 256 are, and 33 others are; of 213
that were not 101 are, and four others; and so are five in 162 requests that meant none."""


class Rated(NamedTuple):
    """A run that may be the value of a parameter; None for no value."""

    odds: float
    """Natural logarithm of how likely it is."""
    run: Run | None


class RunAssignment(NamedTuple):
    """The values that are given to the first few parameters."""

    odds: float
    runs: tuple[Run | None, ...]

    def allows(self, run: Run | None) -> bool:
        """Tell whether no word of a run is in a value already."""
        return run is None or not overlaps(
            Span(run.text, run.start, run.end),
            [range(other.start, other.end) for other in self.runs if other],
        )


class ValueFinder:
    """Finds the values of one command in one request."""

    def __init__(self, encoder: Encoder, choice: Choice, text: str) -> None:
        self._encoder = encoder
        self._text = text
        self._tokens = split_tokens(text)
        name = choice.text.rpartition(",")[2]
        self._own = frozenset(map(find_stem, find_words(f"{name} {summarize_command(choice)}")))

    def list_runs(self, taken: Sequence[range]) -> list[Run]:
        """List the runs of words that are not taken, nor the command's own words alone."""
        return [
            run
            for run in list_runs(self._text, self._tokens)
            if not overlaps(Span(run.text, run.start, run.end), taken)
            and not self._own.issuperset(map(find_stem, run.text.split()))
        ]

    def list_covered(self, spans: Sequence[Span]) -> list[Run]:
        """List the runs of words that pieces of the request stand in, each with its text."""
        return [run for span in spans if (run := make_run(span, self._tokens))]

    def assign(self, wanted: Sequence[tuple[Parameter, Sequence[Run]]]) -> tuple[Run | None, ...]:
        """Give each parameter one of its runs, or none, no word to two of them: the likeliest of
        all ways.
        """
        kept = [RunAssignment(0.0, ())]
        for parameter, runs in wanted:
            rated = self._rate(parameter, runs)
            longer = (
                RunAssignment(one.odds + odds, (*one.runs, run))
                for one in kept
                for odds, run in rated
                if one.allows(run)
            )
            kept = heapq.nlargest(KEPT_ASSIGNMENTS, longer, key=lambda one: one.odds)
        return kept[0].runs

    def _rate(self, parameter: Parameter, runs: Sequence[Run]) -> list[Rated]:
        """Rate the likeliest runs, and none at last."""
        if not runs:
            return [Rated(0.0, None)]
        wanted = self.describe(parameter, runs)
        comparison = self._compare(wanted)
        *odds, none = comparison.rate_runs() if comparison else rate_by_form(wanted)
        none -= MISSING_ODDS * parameter.needed
        total = sum_odds([*odds, none])
        # That it has a value, whichever: runs that overlap share what is likely.
        given = sum_odds(odds) - max(odds) - total
        found = [Rated(value + given, run) for value, run in zip(odds, runs, strict=True)]
        likeliest = heapq.nlargest(KEPT_RUNS, found, key=lambda rated: rated.odds)
        return [*likeliest, Rated(none - total, None)]

    def _compare(self, wanted: WantedValue) -> ValueComparison | None:
        words = [token.text for token in self._tokens]
        return self._encoder.compare_values(self._text, words, wanted) if words else None

    def choose_member(self, parameter: Parameter) -> str | None:
        """Choose the member of an enumeration that is likely enough."""
        wanted = self.describe(parameter, ())
        comparison = self._compare(wanted)
        odds = comparison.rate_members() if comparison else rate_said(wanted.is_said)
        best = max(range(len(odds)), key=odds.__getitem__)
        is_likely = odds[best] - sum_odds(odds) > math.log(LIKELY_MEMBER)
        return [*parameter.members, None][best] if is_likely else None

    def describe(self, parameter: Parameter, runs: Sequence[Run]) -> WantedValue:
        """Describe what is wanted, and what speaks for each run beside its words."""
        name = " ".join(find_words(parameter.name))
        kind = str(parameter.schema.get("type") or "string")
        members = [" ".join(find_words(member)) for member in parameter.members]
        said = f" {' '.join(find_words(self._text))} "
        return WantedValue(
            name=name,
            about=f"{name}: {parameter.schema.get('description') or name}",
            kind=[1, kind == "string", kind == "integer", kind == "number", parameter.needed],
            runs=[(run.first, run.last) for run in runs],
            forms=[
                (
                    *measure_run(self._text, self._tokens, run),
                    *measure_fit(self._tokens, run, parameter, self._own),
                )
                for run in runs
            ],
            members=members,
            is_said=[float(f" {member} " in said) for member in members],
        )


def sum_odds(odds: Sequence[float]) -> float:
    """Add up what logarithms of odds stand for."""
    highest = max(odds)
    return highest + math.log(sum(math.exp(value - highest) for value in odds))


def rate_said(is_said: Sequence[float]) -> list[float]:
    """Rate members by whether they are said, where words have no vectors."""
    return [*(SAID_ODDS * said for said in is_said), SAID_ODDS / 2]


def rate_by_form(wanted: WantedValue) -> list[float]:
    """Rate runs by their form alone, where words have no vectors."""
    is_words = bool(wanted.kind[1])
    rated = [
        _rate_form(RunForm(*map(bool, form[: len(RunForm._fields)])), is_words)
        for form in wanted.forms
    ]
    return [*rated, 0.0]


def _rate_form(form: RunForm, is_words: bool) -> float:
    if not is_words:
        return float(form.holds_digits)
    links = form.begins_with_link + form.ends_with_link + form.holds_link
    return 2 * form.is_name + form.precedes_sign - links - form.is_longer - form.begins_request
