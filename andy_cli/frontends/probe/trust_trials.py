"""Trials of what a model gets right by itself: tool and values, by effect and number of values.

Of each effect there are tools that need no value, one, two and three. They do nothing: to the model
they are tools all the same, as it reads no more than their names and descriptions.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from andy_cli.events import Event
from andy_cli.frontends.probe.probe_tasks import find_calls_made
from andy_cli.frontends.probe.trials import (
    ProbeBench,
    ProbedWay,
    find_failure,
    is_hopeless,
    take_turn,
)
from andy_cli.frontends.probe.trust_requests import TRIALS, TrustTrial
from andy_cli.messages import Arguments, Effect, Schema
from andy_cli.models.memory import recall_model
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import Tool

MIN_RIGHT_SHARE = 0.8
"""The share of requests that must be right: of two both, of ten eight."""
EFFECTS = tuple(dict.fromkeys(trial.effect for trial in TRIALS))


def make_tool(trial: TrustTrial) -> Tool:
    """Make the tool of a trial, which only says that it was done: so nobody has to be asked."""
    kinds = {str: "string", int: "integer"}
    _, values = trial.requests[0]
    properties = {name: {"type": kinds[type(value)]} for name, value in values.items()}
    schema: Schema = {"type": "object", "properties": properties, "required": list(properties)}
    return Tool(
        name=trial.tool,
        description=trial.about,
        effect=Effect.READ,
        action=trial.about,
        describe=lambda: schema,
        run=lambda arguments: "It is done.",
    )


def offer_trial_tools(value_count: int) -> Registry:
    """Make a registry of the tools of all effects that need so many values."""
    return Registry(make_tool(trial) for trial in TRIALS if trial.value_count == value_count)


class TrustAttempt(NamedTuple):
    """One request and whether it was carried out."""

    trial: TrustTrial
    request_text: str
    right: bool


class MeasuredTrust(NamedTuple):
    effects: Mapping[str, int]
    """By effect up to how many values the model is right."""
    tried: tuple[TrustAttempt, ...]
    is_whole: bool = True
    """False if the time was up before all was tried."""
    known_effects: Mapping[str, int] | None = None
    """The list that was known before; None for a model that is trusted with everything."""

    @property
    def says_enough(self) -> bool:
        """True if it can be gone by: an unfinished one where it says that the model is too weak."""
        return self.is_whole or (bool(self.tried) and Effect.READ not in self.effects)

    @property
    def kept(self) -> Mapping[str, int] | None:
        """The list to go by: where this one does not say enough, what was known before."""
        return self.effects if self.says_enough else self.known_effects


async def measure_trust(bench: ProbeBench, probed_way: ProbedWay) -> MeasuredTrust:
    """Measure what the model is right with. More values are tried once it was right with fewer."""
    trusted: dict[str, int] = {}
    all_attempts: list[TrustAttempt] = []
    try:
        async with asyncio.timeout_at(bench.trust_end):
            for effect in EFFECTS:
                await measure_effect(bench, probed_way, effect, trusted, all_attempts)
    except TimeoutError:
        known_effects = recall_model(bench.chosen.endpoint).trusted
        return MeasuredTrust(trusted, tuple(all_attempts), False, known_effects)
    return MeasuredTrust(trusted, tuple(all_attempts))


async def measure_effect(
    bench: ProbeBench,
    probed_way: ProbedWay,
    effect: Effect,
    trusted: dict[str, int],
    all_attempts: list[TrustAttempt],
) -> None:
    """Measure one effect: `trusted` and `all_attempts` get what was seen."""
    trials = [trial for trial in TRIALS if trial.effect is effect]
    for trial in sorted(trials, key=lambda trial: trial.value_count):
        attempts = await try_trial(bench, probed_way, trial)
        all_attempts += attempts
        if not can_be_trusted(attempts, len(attempts)):
            break
        trusted[effect] = trial.value_count


async def try_trial(
    bench: ProbeBench, probed_way: ProbedWay, trial: TrustTrial
) -> list[TrustAttempt]:
    """Make the requests of a trial, until it is known that too many are wrong."""
    attempts: list[TrustAttempt] = []
    requests = trial.requests * bench.tries
    for text, wanted_values in requests:
        attempts.append(await try_request(bench, probed_way, trial, text, wanted_values))
        if not can_be_trusted(attempts, len(requests)):
            break
    return attempts


def can_be_trusted(attempts: Sequence[TrustAttempt], requests: int) -> bool:
    """Tell whether enough of so many requests may be right, as far as they were made."""
    wrong = sum(not attempt.right for attempt in attempts)
    return requests - wrong >= MIN_RIGHT_SHARE * requests


async def try_request(
    bench: ProbeBench, probed_way: ProbedWay, trial: TrustTrial, text: str, wanted_values: Arguments
) -> TrustAttempt:
    """Make one request and see if the one call carried out is right. Raises ModelError."""
    bench.progress(f"{probed_way.name}  {trial.effect} with {trial.value_count} values: {text}")
    conversation = bench.create_conversation(probed_way, offer_trial_tools(trial.value_count))
    turn_events = await take_turn(conversation, text, partial(is_wrong, trial, wanted_values))
    error = find_failure(turn_events)
    if error and is_hopeless(error, probed_way.protocol):
        raise error
    return TrustAttempt(trial, text, is_right(trial, wanted_values, turn_events))


def is_wrong(trial: TrustTrial, wanted_values: Arguments, turn_events: Sequence[Event]) -> bool:
    """Tell whether a call was carried out and none can make it right any more."""
    return bool(find_calls_made(turn_events)) and not is_right(trial, wanted_values, turn_events)


def is_right(trial: TrustTrial, wanted_values: Arguments, turn_events: Sequence[Event]) -> bool:
    """Compare the call that was carried out with that of the trial and its values."""
    calls = find_calls_made(turn_events)
    if [call.tool for call in calls] != [trial.tool]:
        return False
    return _normalize(calls[0].arguments) == _normalize(wanted_values)


def _normalize(values: Arguments) -> Mapping[str, object]:
    """Texts without what makes no difference: case, quotes around them, a full stop."""
    return {
        name: value.strip(" .\"'").casefold() if isinstance(value, str) else value
        for name, value in values.items()
    }
