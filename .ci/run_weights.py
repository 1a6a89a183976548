"""Learn which run of words is a value from how it stands in its request: the encoder's biases and
norms for that, with the weights of what it finds (models/inside/run_tuning.npz).

    pip install jax tokenizers
    python .ci/run_weights.py [--measure] [--matrices]

Each number and value in words of tests/corpora/small_model/clients_*.jsonl, choices_*.jsonl and
foreign*.jsonl is made the likeliest of those that .ci/value_weights.py finds likely, or that there
is none (softmax), and its parameter the likeliest of those of its client. With --measure what is
learned from seven eighths of the commands is tried on the others, and nothing is written. Takes
three quarters of an hour on two cores. With --matrices it goes on with what was learned
without, and changes matrices of the encoder's last layers too: an hour more.
"""

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

import jax
import jax.numpy as jnp
import numpy
from client_requests import group_examples, read_choices, read_clients, split_examples
from trainable_encoder import (
    Array,
    Course,
    TrainableEncoder,
    Tree,
    as_query,
    fill_up,
    tune,
    write_tuning,
)
from value_weights import list_candidates, write_value

from andy_cli.messages import Choice
from andy_cli.models.inside.encoder import Encoder, load_encoder
from andy_cli.models.inside.learned_rating import LEAST_ODDS, MarkedRuns, RunWeights, centre
from andy_cli.models.inside.tuning import RUN_TUNING
from andy_cli.models.inside.values.learned_values import KEPT_RUNS, ValueFinder
from andy_cli.models.inside.values.parameters import list_parameters

ROUNDS = 1
MATRIX_LAYERS, MATRIX_RATE = 4, 2e-4
"""With --matrices: layers whose matrices change, the last ones, and how fast."""
LATER_RATE = 1e-3
"""With --matrices: how fast the others change."""
COMMANDS_TOGETHER = 3
LONGEST_GROUP = 16
"""Examples of one command that are learned together: they share texts."""
LEARNED_REQUESTS = 2
"""Of choices_*.jsonl one of so many is learned: most of their values are names."""
LEARNED_RUNS = 4
"""Of each example; what is tried has all that are kept."""
RATE = 1.5e-3
RATES = {
    "words_mean": 0.0,
    "marked_mean": 0.0,
    "about_mean": 0.0,
    "words_left": 0.003,
    "words_right": 0.003,
    "words_nearness": 0.05,
    "marked_left": 0.003,
    "marked_right": 0.003,
    "marked_nearness": 0.05,
    "value": 0.02,
    "odds": 0.01,
    "none_odds": 0.01,
    "none": 0.02,
    "needed": 0.02,
}
NEARNESS, NEEDED = 3.0, -1.0
"""Where the weights of nearness, and of none where one is needed, begin."""
OTHER_PARAMETERS, OTHER_SHARE = 8, 0.5
"""Parameters that a right run is compared with beside its own, and the share of that in the loss.
"""
RANK = 32
FIRST_SPREAD = 0.05
SAMPLE = 100
"""Examples that means are taken of."""
SHUT_OUT = -1e9
NO_TEXT = -1
ROW_STEP, TEXT_STEP = 16, 64
"""Rows and texts are filled up to a multiple, so that few forms have to be compiled."""
Head = Mapping[str, Array]


class Example(NamedTuple):
    """A request, and what of it may be the value of a parameter."""

    command: str
    """Its client, or the file and number of a command alone."""
    parameter: str
    is_number: bool
    wanted: MarkedRuns
    right: Sequence[int]
    """The places of the runs that are right; none where it has no value."""

    def keep(self, count: int) -> "Example":
        """Keep the likeliest runs, and one that is right."""
        kept = [*range(len(self.wanted.runs))][:count]
        if self.right and not {*kept} & {*self.right}:
            kept[-1] = self.right[0]
        wanted = self.wanted._replace(
            words=[self.wanted.words[at] for at in kept],
            runs=[self.wanted.runs[at] for at in kept],
            odds=[*(self.wanted.odds[at] for at in kept), self.wanted.odds[-1]],
        )
        right = [kept.index(at) for at in self.right if at in kept]
        return self._replace(wanted=wanted, right=right)


class Rows(NamedTuple):
    """Examples in figures."""

    words: Array
    """Example, run: the place of its text."""
    marked: Array
    """The same of the request in which it is marked."""
    about: Array
    """Example, parameter: the place of its text; first its own, NO_TEXT where there is none."""
    odds: Array
    """Example, run: SHUT_OUT where there is none; last of no run."""
    needed: Array
    right: Array
    """Example, run: 1 for what is right; last no run."""
    counts: Array
    """1 for each example, 0 for what fills up."""


def read_examples() -> Iterator[Example]:
    with tempfile.TemporaryDirectory() as folder:
        encoder = load_encoder(Path(folder))
        choices = [*read_choices()][::LEARNED_REQUESTS]
        for client, request in (*read_clients(), *choices):
            for choice in request.choices:
                if choice.text == request.tool:
                    given = request.values
                    yield from make_examples(encoder, client, request.text, choice, given)


def make_examples(
    encoder: Encoder,
    client: str,
    text: str,
    choice: Choice,
    values: Mapping[str, Sequence[object]],
) -> Iterator[Example]:
    """Make an example of each parameter that takes words; `values` are all that are right, of each
    parameter that is said.
    """
    finder = ValueFinder(encoder, choice, text)
    for parameter in list_parameters(choice):
        is_open = parameter.is_numeric or (parameter.is_wording and not parameter.has_form)
        runs = list_candidates(finder, parameter, text) if is_open else []
        if not runs or parameter.schema.get("format"):
            continue
        given = {write_value(value) for value in values.get(parameter.name, ())}
        rated = finder.rate_likeliest(parameter, runs)
        right = [at for at, (_, run) in enumerate(rated) if run and write_value(run.text) in given]
        if right or not given:
            marked = finder.mark(parameter, rated)
            yield Example(client, parameter.name, parameter.is_numeric, marked, right)


class Learned(NamedTuple):
    """An example to learn from."""

    example: Example
    others: Sequence[str]
    """What describes the other parameters of its client."""

    @property
    def command(self) -> str:
        return self.example.command


def add_others(examples: Sequence[Example]) -> Iterator[Learned]:
    """Add some of the other parameters of the client to each example whose value is said."""
    described: dict[str, dict[str, str]] = {}
    for client, request in (*read_clients(), *read_choices()):
        for choice in () if client in described else request.choices:
            finder = ValueFinder(Encoder(), choice, "")
            for parameter in list_parameters(choice):
                about = finder.explain(parameter)
                described.setdefault(client, {})[about] = parameter.name
    chance = random.Random(0)
    for example in examples:
        known = described[example.command] if example.right else {}
        others = [about for about, name in known.items() if name != example.parameter]
        count = min(len(others), OTHER_PARAMETERS)
        yield Learned(example.keep(LEARNED_RUNS), chance.sample(others, count))


def make_rows(learned: Sequence[Learned], width: int = LEARNED_RUNS) -> tuple[list[str], Rows]:
    """Put examples into figures, and list the texts whose places they hold."""
    places: dict[str, int] = {}

    def place(text: str) -> int:
        return places.setdefault(as_query(text), len(places))

    count = fill_up(len(learned), ROW_STEP)
    words, marked = numpy.zeros((2, count, width), numpy.int32)
    about = numpy.full((count, 1 + OTHER_PARAMETERS), NO_TEXT, numpy.int32)
    odds = numpy.full((count, width + 1), SHUT_OUT, numpy.float32)
    needed = numpy.zeros(count, numpy.float32)
    right = numpy.zeros(odds.shape, numpy.float32)
    for at, (example, others) in enumerate(learned):
        wanted, found = example.wanted, len(example.wanted.runs)
        about[at, : 1 + len(others)] = [place(text) for text in (wanted.about, *others)]
        words[at, :found] = [place(text) for text in wanted.words]
        marked[at, :found] = [place(text) for text in wanted.runs]
        odds[at, :found], odds[at, -1] = wanted.odds[:-1], wanted.odds[-1]
        needed[at] = wanted.needed
        right[at, [*example.right] or -1] = 1
    right[len(learned) :, -1] = 1
    counts = (numpy.arange(count) < len(learned)).astype(numpy.float32)
    return [*places], Rows(words, marked, about, odds, needed, right, counts)


class Directions(NamedTuple):
    """The directions of words, and of marked runs, that a parameter means."""

    words: Array
    marked: Array


def find_directions(head: Head, about: Array) -> Directions:
    about = centre(about, head["about_mean"])
    return Directions(
        *(
            head[f"{name}_nearness"] * about
            + (about @ head[f"{name}_left"]) @ head[f"{name}_right"]
            for name in Directions._fields
        )
    )


def rate(head: Head, vectors: Array, rows: Rows) -> Array:
    """Rate each run for each example, and last that none is the value."""
    words = centre(vectors[rows.words], head["words_mean"])
    marked = centre(vectors[rows.marked], head["marked_mean"])
    wanted = find_directions(head, vectors[rows.about[:, 0]])
    odds = rows.odds[:, :-1]
    rated = jnp.einsum("rkv,rv->rk", words, wanted.words)
    rated += jnp.einsum("rkv,rv->rk", marked, wanted.marked + head["value"])
    rated += head["odds"] * jnp.maximum(odds, LEAST_ODDS)
    rated = jnp.where(odds == SHUT_OUT, SHUT_OUT, rated)
    none = head["none_odds"] * rows.odds[:, -1] + head["none"] + head["needed"] * rows.needed
    return jnp.concatenate([rated, none[:, None]], axis=1)


def measure_loss(head: Head, vectors: Array, rows: Rows) -> Array:
    """The loss of the right run among others, and of its parameter among others."""
    likely = jax.nn.log_softmax(rate(head, vectors, rows), axis=1)
    found = jax.nn.logsumexp(jnp.where(rows.right > 0, likely, SHUT_OUT), axis=1)
    own, is_said = rate_parameters(head, vectors, rows), rows.counts * (rows.right[:, -1] == 0)
    return -(
        (found * rows.counts).sum() / rows.counts.sum()
        + OTHER_SHARE * (own * is_said).sum() / jnp.maximum(is_said.sum(), 1)
    )


def rate_parameters(head: Head, vectors: Array, rows: Rows) -> Array:
    """The logarithm of how likely the parameter of each example is, of all that it is compared
    with, by a run that is right.
    """
    best = jnp.arange(len(rows.counts)), rows.right[:, :-1].argmax(1)
    words = centre(vectors[rows.words[best]], head["words_mean"])
    marked = centre(vectors[rows.marked[best]], head["marked_mean"])
    wanted = find_directions(head, vectors[jnp.maximum(rows.about, 0)])
    rated = jnp.einsum("rv,rpv->rp", words, wanted.words)
    rated += jnp.einsum("rv,rpv->rp", marked, wanted.marked)
    return jax.nn.log_softmax(jnp.where(rows.about == NO_TEXT, SHUT_OUT, rated), axis=1)[:, 0]


def make_head(learned: Sequence[Learned], encoder: TrainableEncoder) -> dict[str, Array]:
    texts, rows = make_rows(random.Random(0).sample(learned, SAMPLE))
    vectors = encoder.encode(encoder.tuned, texts)
    there, width = rows.odds[:, :-1] > SHUT_OUT, vectors.shape[1]
    spread = FIRST_SPREAD * numpy.random.default_rng(0).standard_normal((2, width, RANK))
    lefts = dict(zip(("words_left", "marked_left"), jnp.float32(spread), strict=True))
    return {
        "words_mean": jnp.array(vectors[rows.words[there]].mean(0)),
        "marked_mean": jnp.array(vectors[rows.marked[there]].mean(0)),
        "about_mean": jnp.array(vectors[rows.about[:, 0]].mean(0)),
        **lefts,
        "words_right": jnp.zeros((RANK, width)),
        "words_nearness": jnp.float32(NEARNESS),
        "marked_right": jnp.zeros((RANK, width)),
        "marked_nearness": jnp.float32(NEARNESS),
        "value": jnp.zeros(width),
        "odds": jnp.float32(1),
        "none_odds": jnp.float32(1),
        "none": jnp.float32(0),
        "needed": jnp.float32(NEEDED),
    }


def count_right(examples: Sequence[Example], encoder: TrainableEncoder, learned: Tree) -> str:
    tuned, head = learned
    counts: Counter[str] = Counter()
    for begin in range(0, len(examples), ROW_STEP):
        some = examples[begin : begin + ROW_STEP]
        texts, rows = make_rows([Learned(example, ()) for example in some], KEPT_RUNS)
        rated = numpy.array(rate(head, encoder.encode(tuned, texts), rows))
        for example, odds in zip(some, rated, strict=False):
            *likely, none = odds
            best = int(numpy.argmax(likely))
            is_right, is_taken = best in example.right, likely[best] > none
            kind = "numbers" if example.is_number else "words"
            kind = kind if example.right else f"no {kind}"
            counts[kind] += 1
            counts[f"first {kind}"] += is_right
            counts[f"taken {kind}"] += is_taken and (is_right or not example.right)
    words = (
        f"{kind}: of {counts[kind]} {counts[f'first {kind}']} are the likeliest, "
        f"{counts[f'taken {kind}']} taken"
        for kind in ("words", "no words", "numbers", "no numbers")
    )
    return "; ".join(words)


def main(arguments: Sequence[str]) -> None:
    goes_on = "--matrices" in arguments
    encoder = TrainableEncoder(MATRIX_LAYERS if goes_on else 0)
    known, tried = split_examples(read_examples(), "--measure" in arguments)

    def show(when: str, learned: Tree) -> None:
        for name, examples in tried.items():
            sys.stdout.write(f"{when}, {name}: {count_right(examples, encoder, learned)}\n")
            sys.stdout.flush()

    learned = [*add_others(known)]
    if goes_on:
        head = encoder.load(RUN_TUNING, RunWeights._fields)
        course = Course(ROUNDS, COMMANDS_TOGETHER, TEXT_STEP, LATER_RATE, RATES, MATRIX_RATE)
    else:
        head = make_head(learned, encoder)
        course = Course(ROUNDS, COMMANDS_TOGETHER, TEXT_STEP, RATE, RATES)
    show("as it is", (encoder.tuned, head))
    groups = group_examples(learned, LONGEST_GROUP)
    tuned, head = tune(encoder, head, groups, make_rows, measure_loss, course, show)
    if "--measure" not in arguments:
        found = {name: numpy.float16(part) for name, part in head.items()}
        write_tuning(RUN_TUNING, tuned, encoder.model, found)
        sys.stdout.write(f"{len(known)} examples, {RUN_TUNING.stat().st_size // 1024} KB\n")


if __name__ == "__main__":
    main(sys.argv[1:])
