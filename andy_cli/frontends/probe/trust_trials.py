"""Trials of what a model gets right by itself: tool and values, by effect and number of values.

Of each effect there are tools that need no value, one, two and three. They touch nothing; what they
would do is said in their names alone, as with any tool.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from andy_cli.agent.turn import turn
from andy_cli.events import Event
from andy_cli.frontends.probe.probe_tasks import find_made
from andy_cli.frontends.probe.trials import Bench, Way, failure, hopeless
from andy_cli.frontends.probe.trust_requests import TRIALS, Trial
from andy_cli.messages import Arguments, Effect, Schema
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import Tool

BAR = 0.8
"""The share of requests that must be right: of two both, of ten eight."""


EFFECTS = tuple(dict.fromkeys(trial.effect for trial in TRIALS))


def make_tool(trial: Trial) -> Tool:
    """Its tool, which says that it was done and does nothing; so nobody has to be asked."""
    kinds = {str: "string", int: "integer"}
    values = trial.said[0][1]
    properties = {name: {"type": kinds[type(value)]} for name, value in values.items()}
    schema: Schema = {"type": "object", "properties": properties, "required": [*properties]}
    return Tool(
        name=trial.tool,
        description=trial.about,
        effect=Effect.READ,
        action=trial.about,
        describe=lambda: schema,
        run=lambda arguments: "It is done.",
    )


def offer_tools(values: int) -> Registry:
    """The tools of all effects that need so many values."""
    return Registry(make_tool(trial) for trial in TRIALS if trial.values == values)


class Tried(NamedTuple):
    """One request and whether it was carried out."""

    trial: Trial
    said: str
    right: bool


class Trusted(NamedTuple):
    effects: Mapping[str, int]
    """By effect up to how many values the model is right."""
    tried: tuple[Tried, ...]


async def measure_trust(bench: Bench, way: Way) -> Trusted:
    """Measure what the model is right with. More values are tried once it was right with fewer."""
    trusted: dict[str, int] = {}
    every: list[Tried] = []
    for effect in EFFECTS:
        for trial in sorted(trials_of(effect), key=lambda trial: trial.values):
            tried = [await try_request(bench, way, trial, at) for at in requests_of(bench, trial)]
            every += tried
            if sum(attempt.right for attempt in tried) < BAR * len(tried):
                break
            trusted[effect] = trial.values
    return Trusted(trusted, tuple(every))


def trials_of(effect: Effect) -> Iterator[Trial]:
    return (trial for trial in TRIALS if trial.effect is effect)


def requests_of(bench: Bench, trial: Trial) -> Sequence[int]:
    return [*range(len(trial.said))] * bench.tries


async def try_request(bench: Bench, way: Way, trial: Trial, at: int) -> Tried:
    """Make one request and see if the one call carried out is right. Raises ModelError."""
    said, wanted = trial.said[at]
    bench.progress(f"{way.name}  {trial.effect} with {trial.values} values: {said}")
    chat = bench.conversation(way, offer_tools(trial.values))
    seen = [event async for event in turn(chat, said)]
    error = failure(seen)
    if error and hopeless(error, way.protocol):
        raise error
    return Tried(trial, said, is_right(trial, wanted, seen))


def is_right(trial: Trial, wanted: Arguments, seen: Sequence[Event]) -> bool:
    """Compare the call that was carried out with that of the trial and its values."""
    made = find_made(seen)
    if [call.tool for call in made] != [trial.tool]:
        return False
    return _plain(made[0].arguments) == _plain(wanted)


def _plain(values: Arguments) -> Mapping[str, object]:
    """Texts without what makes no difference: case, quotes around them, a full stop."""
    return {
        name: value.strip(" .\"'").casefold() if isinstance(value, str) else value
        for name, value in values.items()
    }
