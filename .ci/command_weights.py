"""Learn how commands of others are rated: the encoder's biases and norms for them, and matrices of
its last layers (models/inside/command_tuning.npz), and the weights of what it finds
(models/inside/commands.npz).

    pip install jax tokenizers
    python .ci/command_weights.py [--measure]

Each request of tests/corpora/small_model/clients_*.jsonl and foreign*.jsonl makes its own command
the likeliest of its client's, or that it asks for none of them (softmax); so does some talk of
talk.toml beside them, and half of the requests of choices_*.jsonl beside the commands that are
nearest to theirs. Of every third request it is learned too that it asks for none where its command
is not there. First the weights are learned with the encoder as it is, then all together. With
--measure what is learned from three quarters of the clients is tried on the fourth, and nothing is
written. Takes three quarters of an hour on two cores.
"""

import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

import jax
import jax.numpy as jnp
import numpy
from client_requests import HELD_OUT, TRIED_CHOICES, read_choices, read_clients
from trainable_encoder import (
    Adam,
    Array,
    Course,
    Layers,
    TrainableEncoder,
    Tree,
    as_query,
    fill_up,
    tune,
    write_tuning,
)

from andy_cli.messages import Choice
from andy_cli.models.inside.learned_rating import COMMAND_WEIGHTS, MAX_COUNT, CommandWeights, centre
from andy_cli.models.inside.planning.choosing import list_phrases, make_phrase, name_things
from andy_cli.models.inside.planning.form_fit import FormFit, measure_form
from andy_cli.models.inside.planning.replies import small_talk
from andy_cli.models.inside.text_vectors import FORMAT
from andy_cli.models.inside.tuning import COMMAND_TUNING
from andy_cli.models.inside.values.parameters import summarize_command
from tests.benchmarks.small_choices import Request

ROUNDS = 3
MATRIX_LAYERS, MATRIX_RATE = 4, 2e-4
"""Layers whose matrices change too, the last ones, and how fast."""
HEAD_STEPS = 120
"""Of the weights alone, before the encoder is tuned with them."""
CLIENTS_TOGETHER = 8
LONGEST_GROUP = 28
"""Requests of one client that are learned together."""
NEIGHBOURS, TOO_NEAR = 6, 0.5
"""Commands beside one of choices_*.jsonl; what is nearer may be the same."""
LEARNED_REQUESTS = 2
"""Of choices_*.jsonl one of so many is learned."""
ABSENT_STEP, ABSENT_SHARE = 3, 0.5
"""Of so many requests one is learned without its command too, and the weight of that."""
RATE, HEAD_SHARE = 1e-3, 0.3
"""How fast numbers of the encoder change, and weights beside how fast they do at first."""
RATES = {
    "request_mean": 0.0,
    "command_mean": 0.0,
    "left": 0.01,
    "right": 0.01,
    "none": 0.03,
    "usual_none": 0.03,
    "nearness": 0.05,
    "fits": 0.02,
}
RIDGE = 1e-4
NEARNESS = 15.0
"""Where the weight of nearness begins."""
RANK = 48
SMALL_TALK = ("greeting", "thanks", "goodbye", "okay", "mood", "who", "abilities")
OTHER_TALK = ("knowledge", "own", "create")
TALK_ROWS, OTHER_ROWS = 300, 60
"""More of them take wishes for talk."""
NONE_SHIFT = -1.0
"""Log-odds: to miss a wish is worse than to take a question beside the commands for one."""
CALM = 0.9
"""Log-odds of requests that were not learned are that much smaller."""
FOLDS = 4
SHUT_OUT = -1e9
ROW_STEP, TEXT_STEP = 64, 256
"""Rows and texts are filled up to a multiple, so that few forms have to be compiled."""
MOST_COMMANDS, MOST_PHRASES = 8, 6
Head = Mapping[str, Array]
"""The weights of CommandWeights by name."""


class Described(NamedTuple):
    """A request with what it is compared with, in texts."""

    client: str
    written: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]
    fits: tuple[FormFit, ...]
    right: int
    """The place of the command that it asks for; MOST_COMMANDS for none."""
    absent: int | None = None
    """The place of a command that is not there."""

    def drop(self) -> "Described":
        """The same where the command that it asks for is not there."""
        return self._replace(right=MOST_COMMANDS, absent=self.right)


class Rows(NamedTuple):
    """Requests in figures."""

    requests: Array
    """The places of the texts that each is written in, one row a request."""
    commands: Array
    """Client, command, phrase: the place of its text."""
    shares: Array
    """Client, command, phrase: its share of the command; 0 where there is none."""
    clients: Array
    """Of each request."""
    shut: Array
    """Request, command: SHUT_OUT where there is none."""
    fits: Array
    """Request, command, count."""
    right: Array
    counts: Array
    """1 for each request, 0 for what fills up."""


def read_all(encoder: TrainableEncoder) -> Iterator[tuple[str, Request]]:
    """Read the requests, each with its client; talk stands beside the commands of some client."""
    clients = []
    for name, request in read_clients():
        if name.startswith("clients_") and request.choices not in clients[-1:]:
            clients.append(request.choices)
        yield name, request
    yield from read_talk(clients)
    yield from read_neighbours(encoder)


def read_neighbours(encoder: TrainableEncoder) -> Iterator[tuple[str, Request]]:
    """Read requests for a command alone, each beside those that are nearest to its command."""
    requests: dict[str, list[Request]] = {}
    for name, request in read_choices():
        if not name.startswith(f"{TRIED_CHOICES} "):
            requests.setdefault(name, []).append(request)
    names = [*requests]
    texts = [describe_alone(requests[name][0].choices[0]) for name in names]
    for group in group_near(encoder.encode(encoder.tuned, [*map(as_query, texts)])):
        together = [requests[names[place]] for place in group]
        choices = tuple(own[0].choices[0] for own in together)
        if len({choice.text for choice in choices}) == len(choices):
            for own in together:
                for request in own[::LEARNED_REQUESTS]:
                    yield f"near {names[group[0]]}", request._replace(choices=choices)


def describe_alone(choice: Choice) -> str:
    name = choice.text.rpartition(",")[2].replace("_", " ")
    return f"{name}: {summarize_command(choice)}"


def group_near(vectors: Array) -> Iterator[list[int]]:
    """Group commands with those that are near, and no doubles: their places, each once."""
    centred = centre(vectors, vectors.mean(0))
    near = centred @ centred.T
    left = dict.fromkeys(random.Random(2).sample(range(len(near)), len(near)))
    while left:
        group = [next(iter(left))]
        for place in map(int, numpy.argsort(-near[group[0]])):
            is_free = place in left and place not in group and len(group) <= NEIGHBOURS
            if is_free and all(near[place][other] < TOO_NEAR for other in group):
                group.append(place)
        for place in group:
            del left[place]
        yield group


def read_talk(clients: Sequence[tuple[Choice, ...]]) -> Iterator[tuple[str, Request]]:
    """Read talk, each beside the commands of some client."""
    chance = random.Random(0)
    for kinds, count in ((SMALL_TALK, TALK_ROWS), (OTHER_TALK, OTHER_ROWS)):
        said = [text for kind in kinds for text in small_talk.load_examples()[kind]]
        for text in chance.sample(said, count):
            plain = make_phrase(text).text
            yield f"talk {plain}", Request(plain, None, {}, chance.choice(clients))


def describe(client: str, request: Request, described: dict[int, Any]) -> Described:
    """Describe a request; what describes the commands of a client is made once."""
    key = id(request.choices)
    if key not in described:
        described[key] = tuple(
            tuple(phrase.text for phrase in list_phrases(choice)) for choice in request.choices
        )
    text, plain = request.text, name_things(request.text)
    fits = tuple(measure_form(text, plain != text, choice) for choice in request.choices)
    right = MOST_COMMANDS if request.tool is None else request.names.index(request.tool)
    return Described(client, (text, plain), described[key], fits, right)


def make_rows(described: Sequence[Described]) -> tuple[list[str], Rows]:
    """Put requests into figures, and list the texts whose places they hold."""
    places: dict[str, int] = {}

    def place(text: str) -> int:
        return places.setdefault(text, len(places))

    clients = {id(row.commands): row.commands for row in described}
    numbers = {key: number for number, key in enumerate(clients)}
    count = fill_up(len(clients), CLIENTS_TOGETHER)
    commands = numpy.zeros((count, MOST_COMMANDS, MOST_PHRASES), numpy.int32)
    shares = numpy.zeros(commands.shape, numpy.float32)
    for key, written in clients.items():
        for at, phrases in enumerate(written):
            row = numbers[key], at, slice(len(phrases))
            commands[row] = [*map(place, phrases)]
            shares[row] = 1 / len(phrases)
    rows = fill_up(len(described), ROW_STEP)
    shut = numpy.full((rows, MOST_COMMANDS), SHUT_OUT, numpy.float32)
    fits = numpy.zeros((rows, MOST_COMMANDS, len(FormFit._fields)), numpy.float32)
    requests = numpy.zeros((rows, 2), numpy.int32)
    owners, right = numpy.zeros((2, rows), numpy.int32)
    counts = numpy.zeros(rows, numpy.float32)
    for at, row in enumerate(described):
        there = slice(len(row.commands))
        shut[at, there] = 0
        fits[at, there] = numpy.minimum(numpy.array(row.fits), MAX_COUNT)
        requests[at] = [*map(place, row.written)]
        owners[at], right[at], counts[at] = numbers[id(row.commands)], row.right, 1
        if row.absent is not None:
            shut[at, row.absent], counts[at] = SHUT_OUT, ABSENT_SHARE
    found = Rows(requests, commands, shares, owners, shut, fits, right, counts)
    return [*map(as_query, places)], found


def rate(head: Head, vectors: Array, rows: Rows) -> Array:
    """Rate each command of each row, and last that none is wanted."""
    asked = centre(vectors[rows.requests].mean(1), head["request_mean"])
    mixed = (vectors[rows.commands] * rows.shares[..., None]).sum(2)
    described = centre(mixed, head["command_mean"])[rows.clients]
    learned = head["nearness"] * asked + (asked @ head["left"]) @ head["right"]
    rated = jnp.einsum("rcv,rv->rc", described, learned) + rows.fits @ head["fits"] + rows.shut
    none = asked @ head["none"] + head["usual_none"]
    return jnp.concatenate([rated, none[:, None]], axis=1)


def measure_loss(head: Head, vectors: Array, rows: Rows) -> Array:
    """How unlikely the right commands are (natural logarithm), with the cost of large weights."""
    likely = jax.nn.log_softmax(rate(head, vectors, rows), axis=1)
    found = likely[jnp.arange(len(rows.right)), rows.right] * rows.counts
    matrix = head["left"] @ head["right"]
    return -found.sum() / rows.counts.sum() + RIDGE * (matrix**2).sum() / 2


def start_head(vectors: Array, rows: Rows, width: int) -> dict[str, Array]:
    """Begin with the means of vectors, and with nearness alone."""
    chance = numpy.random.default_rng(0)
    mixed = (vectors[rows.commands] * rows.shares[..., None]).sum(2)
    asked = vectors[rows.requests][rows.counts > 0]
    return {
        "request_mean": jnp.array(asked.mean((0, 1))),
        "command_mean": jnp.array(mixed[rows.shares.any(2)].mean(0)),
        "left": jnp.zeros((width, RANK)),
        "right": jnp.array(chance.normal(0, width**-0.5, (RANK, width)), jnp.float32),
        "none": jnp.zeros(width),
        "usual_none": jnp.float32(0),
        "nearness": jnp.float32(NEARNESS),
        "fits": jnp.zeros(len(FormFit._fields)),
    }


def learn(
    described: Sequence[Described], encoder: TrainableEncoder, show: Callable[[str, Tree], None]
) -> tuple[Layers, Head]:
    """Find the numbers of the encoder and the weights by which what is right is the likeliest."""
    texts, rows = make_rows(described)
    vectors = encoder.encode(encoder.tuned, texts)
    head = Adam(start_head(vectors, rows, vectors.shape[1]), RATES)
    slope = jax.jit(jax.grad(lambda weights: measure_loss(weights, vectors, rows)))
    for step in range(HEAD_STEPS):
        head.step(slope(head.numbers), 1 - step / HEAD_STEPS)
    show("weights alone", (encoder.tuned, head.numbers))
    rates = {name: HEAD_SHARE * rate for name, rate in RATES.items()}
    course = Course(ROUNDS, CLIENTS_TOGETHER, TEXT_STEP, RATE, rates, MATRIX_RATE)
    groups = [*group_by_client(described)]
    return tune(encoder, head.numbers, groups, make_rows, measure_loss, course, show)


def group_by_client(described: Sequence[Described]) -> Iterator[list[Described]]:
    """Group requests of the same client, since they share texts; some stand there again without
    their command.
    """
    clients: dict[int, list[Described]] = {}
    for row in described:
        clients.setdefault(id(row.commands), []).append(row)
    chance = random.Random(5)
    for rows in clients.values():
        own = chance.sample(rows, len(rows))
        for begin in range(0, len(own), LONGEST_GROUP):
            some = own[begin : begin + LONGEST_GROUP]
            wishes = [row for row in some if row.right < MOST_COMMANDS]
            yield [*some, *(row.drop() for row in wishes[::ABSENT_STEP])]


def count_right(described: Sequence[Described], encoder: TrainableEncoder, learned: Tree) -> str:
    tuned, head = learned
    texts, rows = make_rows(described)
    rated = numpy.array(rate(head, encoder.encode(tuned, texts), rows))[: len(described)]
    right = rows.right[: len(described)]
    wants = right < MOST_COMMANDS
    alone = (rated[:, :-1].argmax(1) == right)[wants].sum()
    chosen = rated.argmax(1) == right
    return (
        f"{alone} of {wants.sum()} commands, {chosen[wants].sum()} beside none, "
        f"none for {chosen[~wants].sum()} of {(~wants).sum()}"
    )


def write_weights(head: Head) -> None:
    calm = {name: CALM * head[name] for name in ("left", "none", "nearness", "fits")}
    none = {"usual_none": CALM * head["usual_none"] + NONE_SHIFT}
    learned = CommandWeights(**{**head, **calm, **none})
    parts = {name: numpy.float16(part) for name, part in learned._asdict().items()}
    numpy.savez_compressed(COMMAND_WEIGHTS, format=numpy.array(FORMAT), **parts)


def main(arguments: Sequence[str]) -> None:
    encoder = TrainableEncoder(MATRIX_LAYERS)
    made: dict[int, Any] = {}
    rows = [describe(client, request, made) for client, request in read_all(encoder)]
    known = [row for row in rows if row.client not in HELD_OUT]
    tried = {"held out": [row for row in rows if row.client in HELD_OUT]}
    if "--measure" in arguments:
        names = sorted({row.client for row in known})
        fold = {name: at % FOLDS for at, name in enumerate(names)}
        tried["a quarter"] = [row for row in known if not fold[row.client]]
        known = [row for row in known if fold[row.client]]

    def show(when: str, learned: Tree) -> None:
        for name, described in tried.items():
            found = count_right(described, encoder, learned)
            sys.stdout.write(f"{when}, {name}: {found}\n")
            sys.stdout.flush()

    tuned, head = learn(known, encoder, show)
    if "--measure" not in arguments:
        write_tuning(COMMAND_TUNING, tuned, encoder.model)
        write_weights(head)
        sys.stdout.write(f"{len(known)} requests, {COMMAND_TUNING.stat().st_size // 1024} KB\n")


if __name__ == "__main__":
    main(sys.argv[1:])
