"""Find the words of a request that are the values of a command, by learned weights: of all ways to
give each parameter words of its own the likeliest.
"""

import heapq
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from andy_cli.messages import Choice
from andy_cli.models.inside.encoder import Encoder
from andy_cli.models.inside.learned_rating import MarkedRuns, WantedMember, WantedValue
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
KEPT_RUNS = 8
"""Of each parameter."""
MISSING_ODDS = 1.0
"""Log-odds against giving nothing to a parameter that is needed."""

LIKELY_MEMBER = 0.5
"""So likely is a member that is meant."""
LIKELY_SAID_MEMBER = 0.3
"""So likely is a member that is said, where no other is."""
MANY_MEMBERS = 3
REVERSED_ODDS = 0.5
"""Log-odds against a value that stands before one of a parameter before its own: of 197 pairs of
values 158 stand in the order of their parameters."""
LONGER_ODDS, LETTER_ODDS = 0.8, 0.001
"""Log-odds: so much less likely may a longer run be, and so much is a letter of it worth."""


class RatedRun(NamedTuple):
    """A run that may be the value of a parameter; None for no value."""

    odds: float
    """Natural logarithm of how likely it is."""
    run: Run | None


class RunAssignment(NamedTuple):
    """The values that are given to the first few parameters."""

    odds: float
    runs: tuple[Run | None, ...]

    def add(self, odds: float, run: Run | None) -> "RunAssignment":
        """Give the next parameter a run, or none, which is as likely as the `odds` say."""
        behind = [other for other in self.runs if run and other and other.start > run.start]
        return RunAssignment(self.odds + odds - REVERSED_ODDS * len(behind), (*self.runs, run))

    def allows(self, run: Run | None) -> bool:
        """Tell whether no word of a run is in a value already."""
        taken = [range(other.start, other.end) for other in self.runs if other]
        return run is None or not overlaps(run.span, taken)


class ValueFinder:
    """Finds the values of one command in one request."""

    def __init__(self, encoder: Encoder, choice: Choice, text: str, is_rough: bool = False) -> None:
        """`is_rough`: runs are rated apart from where they stand, which is faster."""
        self._encoder = encoder
        self._is_rough = is_rough
        self._text = text
        self._tokens = split_tokens(text)
        name = choice.text.rpartition(",")[2]
        self._command = " ".join(find_words(name))
        self._own = frozenset(map(find_stem, find_words(f"{name} {summarize_command(choice)}")))

    def list_runs(self, taken: Sequence[range]) -> list[Run]:
        """List the runs of words that are not taken, nor the command's own words alone."""
        runs = list_runs(self._text, self._tokens)
        free = [run for run in runs if not overlaps(run.span, taken)]
        return [run for run in free if not self._own.issuperset(map(find_stem, run.text.split()))]

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
            longer = (one.add(odds, run) for one in kept for odds, run in rated if one.allows(run))
            kept = heapq.nlargest(KEPT_ASSIGNMENTS, longer, key=lambda one: one.odds)
        return kept[0].runs

    def _rate(self, parameter: Parameter, runs: Sequence[Run]) -> list[RatedRun]:
        """Rate the likeliest runs, and none at last."""
        if not runs:
            return [RatedRun(0.0, None)]
        rated = self.rate_likeliest(parameter, runs)
        odds = [one.odds for one in rated]
        is_learned = parameter.is_numeric or parameter.is_wording
        if is_learned and not self._is_rough:
            odds = self._encoder.rate_marked_runs(self.mark(parameter, rated))
        if parameter.needed:
            odds[-1] -= MISSING_ODDS
        total = sum_odds(odds)
        # That it has a value, whichever: runs that overlap share what is likely.
        given = sum_odds(odds[:-1]) - max(odds[:-1])
        found = []
        for value, one in zip(odds, rated, strict=True):
            share = value - total
            found.append(RatedRun(share if one.run is None else share + given, one.run))
        return found if parameter.is_numeric else list(prefer_longer(found))

    def rate_likeliest(self, parameter: Parameter, runs: Sequence[Run]) -> list[RatedRun]:
        """Rate runs by their words and form, each apart from the others: the likeliest, and none at
        last.
        """
        wanted = self.describe(parameter, runs)
        odds = self._encoder.rate_runs([token.text for token in self._tokens], wanted)
        odds = odds or rate_by_form(wanted)
        total = sum_odds(odds)
        *odds_of_runs, odds_of_none = [value - total for value in odds]
        found = [RatedRun(value, run) for value, run in zip(odds_of_runs, runs, strict=True)]
        likeliest = heapq.nlargest(KEPT_RUNS, found, key=lambda rated: rated.odds)
        return [*likeliest, RatedRun(odds_of_none, None)]

    def mark(self, parameter: Parameter, rated: Sequence[RatedRun]) -> MarkedRuns:
        """Mark each run in the request."""
        runs = [run for _, run in rated if run]
        return MarkedRuns(
            about=self.explain(parameter),
            words=[run.text for run in runs],
            runs=[mark_run(self._text, run) for run in runs],
            odds=[one.odds for one in rated],
            needed=parameter.needed,
        )

    def choose_member(self, parameter: Parameter) -> str | None:
        """Choose the member of an enumeration, or yes or no, that is likely enough."""
        wanted = self.describe_members(parameter)
        odds = self._encoder.rate_members(self._text, wanted)
        likely = [value - sum_odds(odds) for value in odds[:-1]]
        said = [place for place, is_said in enumerate(wanted.is_said) if is_said]
        if len(said) == 1 and likely[said[0]] > math.log(LIKELY_SAID_MEMBER):
            return parameter.options[said[0]]
        best = max(range(len(likely)), key=likely.__getitem__)
        return parameter.options[best] if likely[best] > math.log(LIKELY_MEMBER) else None

    def describe_members(self, parameter: Parameter) -> WantedMember:
        """Describe the members of an enumeration, and which of them are said."""
        members = [" ".join(find_words(member)) for member in parameter.options]
        about = self.explain(parameter)
        said = f" {' '.join(find_words(self._text))} "
        return WantedMember(
            members=[f"{about}: {member}" for member in members],
            unsaid=f"{about}: not said",
            is_said=[not parameter.is_yes_or_no and f" {member} " in said for member in members],
            kind=[1, parameter.needed, parameter.is_yes_or_no, len(members) > MANY_MEMBERS],
        )

    def explain(self, parameter: Parameter) -> str:
        """Write what a parameter is of: `open repair job, boat (Name of the boat)`."""
        name = " ".join(find_words(parameter.name))
        explained = str(parameter.schema.get("description") or "").strip().rstrip(".")
        called = f"{self._command}, {name}"
        return f"{called} ({explained})" if explained else called

    def describe(self, parameter: Parameter, runs: Sequence[Run]) -> WantedValue:
        """Describe what is wanted, and what speaks for each run beside its words."""
        name = " ".join(find_words(parameter.name))
        kind = str(parameter.schema.get("type") or "string")
        return WantedValue(
            name=name,
            about=f"{name}: {parameter.schema.get('description') or name}",
            kind=[1, kind == "string", kind == "integer", kind == "number", parameter.needed],
            runs=[(run.first, run.last) for run in runs],
            forms=[self._measure(parameter, run) for run in runs],
        )

    def _measure(self, parameter: Parameter, run: Run) -> Sequence[float]:
        form = measure_run(self._text, self._tokens, run)
        return (*form, *measure_fit(self._tokens, run, parameter, self._own))


def mark_run(text: str, run: Run) -> str:
    """Write a run before the request in which it stands in brackets."""
    before, marked, behind = text[: run.start], text[run.start : run.end], text[run.end :]
    return f"{run.text}: {before}[ {marked} ]{behind}"


def prefer_longer(rated: Sequence[RatedRun]) -> Iterator[RatedRun]:
    """Rate a run that holds likelier ones just above them, where it is little less likely: `sister
    is getting married` before `getting married`.
    """
    for odds, run in rated:
        near = [
            other.odds
            for other in rated
            if run and run.holds(other.run) and odds < other.odds <= odds + LONGER_ODDS
        ]
        if run and near:
            odds = max(near) + LETTER_ODDS * len(run.text)
        yield RatedRun(odds, run)


def sum_odds(odds: Sequence[float]) -> float:
    """Add up what logarithms of odds stand for."""
    highest = max(odds)
    return highest + math.log(sum(math.exp(value - highest) for value in odds))


def rate_by_form(wanted: WantedValue) -> list[float]:
    """Rate runs by their form alone, where words have no vectors."""
    is_words = bool(wanted.kind[1])
    # Behind the form of each run stands how it fits the parameter.
    size = len(RunForm._fields)
    forms = [RunForm(*map(bool, form[:size])) for form in wanted.forms]
    return [*(_rate_form(form, is_words) for form in forms), 0.0]


def _rate_form(form: RunForm, is_words: bool) -> float:
    if not is_words:
        return float(form.holds_digits)
    links = form.begins_with_link + form.ends_with_link + form.holds_link
    return 2 * form.is_name + form.precedes_sign - links - form.is_longer - form.begins_request
