"""Learn which member of an enumeration a request means, and whether yes or no: the encoder's biases
and norms for that, with the weights of what it finds (models/inside/member_tuning.npz).

    pip install jax tokenizers
    python .ci/member_weights.py [--measure] [--matrices]

Each request of tests/corpora/small_model/choices_*.jsonl, clients_*.jsonl and foreign*.jsonl makes
the member that it means the likeliest, or that it means none (softmax). With --measure what is
learned from seven eighths of the commands is tried on the others, and nothing is written. Takes an
hour on two cores. With --matrices it goes on with what was learned without, and changes
matrices of the encoder's last layers too: half an hour more.
"""

import random
import sys
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

from andy_cli.messages import Choice
from andy_cli.models.inside.encoder import Encoder
from andy_cli.models.inside.learned_rating import MemberWeights, WantedMember, centre
from andy_cli.models.inside.tuning import MEMBER_TUNING
from andy_cli.models.inside.values.learned_values import LIKELY_MEMBER, ValueFinder
from andy_cli.models.inside.values.parameters import list_parameters

ROUNDS = 2
MATRIX_LAYERS, MATRIX_RATE = 4, 2e-4
"""With --matrices: layers whose matrices change, the last ones, and how fast."""
LATER_RATE, LATER_STEP = 5e-4, 3
"""With --matrices: how fast the others change, and of so many groups one is learned."""
COMMANDS_TOGETHER = 3
LONGEST_GROUP = 48
"""Examples of one command that are learned together: they share the texts of its members."""
RATE = 1e-3
RATES = {
    "request_mean": 0.0,
    "member_mean": 0.0,
    "left": 0.003,
    "right": 0.003,
    "nearness": 0.05,
    "said": 0.02,
    "none": 0.03,
}
NEARNESS, SAID = 12.0, 3.0
"""Where the weights of nearness, and of a member that is said, begin."""
RANK = 32
FIRST_SPREAD = 0.05
MOST_MEMBERS = 8
"""Of an enumeration, that are learned."""
KIND_SIZE = 4
SAMPLE = 300
"""Examples that means are taken of."""
WISHES = {True: "yes", False: "no"}
SHUT_OUT = -1e9
ROW_STEP, TEXT_STEP = 32, 64
"""Rows and texts are filled up to a multiple, so that few forms have to be compiled."""
Head = Mapping[str, Array]


class Example(NamedTuple):
    """A request, and what of an enumeration it may mean."""

    command: str
    """With its client."""
    text: str
    wanted: WantedMember
    right: int
    """The place of the member that it means; after the last one for none."""


class Rows(NamedTuple):
    """Examples in figures."""

    requests: Array
    """The place of the text of each."""
    members: Array
    """Example, member: the place of its text; last of the text for none."""
    added: Array
    """Example, member: 1 for one that is said, SHUT_OUT where there is none."""
    kinds: Array
    right: Array
    counts: Array
    """1 for each example, 0 for what fills up."""


def read_examples() -> Iterator[Example]:
    for client, request in (*read_clients(), *read_choices()):
        for choice in request.choices:
            if choice.text == request.tool:
                yield from make_examples(client, request.text, choice, request.values)


def make_examples(
    client: str, text: str, choice: Choice, values: Mapping[str, Sequence[object]]
) -> Iterator[Example]:
    """Make an example of each enumeration, and of each yes or no; `values` are all that are right,
    of each parameter that is said.
    """
    finder = ValueFinder(Encoder(), choice, text)
    for parameter in list_parameters(choice):
        members = [*parameter.options]
        given = values.get(parameter.name, ())
        written = [WISHES[value] if isinstance(value, bool) else str(value) for value in given]
        right = next((members.index(value) for value in written if value in members), len(members))
        if members and (not given or right < len(members)):
            wanted = finder.describe_members(parameter)
            yield Example(f"{client} {choice.text}", text, wanted, right)


def make_rows(examples: Sequence[Example]) -> tuple[list[str], Rows]:
    """Put examples into figures, and list the texts whose places they hold."""
    places: dict[str, int] = {}

    def place(text: str) -> int:
        return places.setdefault(as_query(text), len(places))

    count = fill_up(len(examples), ROW_STEP)
    requests, right = numpy.zeros(count, numpy.int32), numpy.zeros(count, numpy.int32)
    members = numpy.zeros((count, MOST_MEMBERS + 1), numpy.int32)
    added = numpy.full(members.shape, SHUT_OUT, numpy.float32)
    kinds = numpy.zeros((count, KIND_SIZE), numpy.float32)
    for at, example in enumerate(examples):
        wanted = example.wanted
        requests[at] = place(example.text)
        kept = [*range(len(wanted.members))][:MOST_MEMBERS]
        if MOST_MEMBERS <= example.right < len(wanted.members):
            kept[-1] = example.right
        members[at, : len(kept)] = [place(wanted.members[member]) for member in kept]
        added[at, : len(kept)] = [wanted.is_said[member] for member in kept]
        members[at, MOST_MEMBERS], added[at, MOST_MEMBERS] = place(wanted.unsaid), 0
        kinds[at] = wanted.kind
        right[at] = kept.index(example.right) if example.right in kept else MOST_MEMBERS
    counts = (numpy.arange(count) < len(examples)).astype(numpy.float32)
    return [*places], Rows(requests, members, added, kinds, right, counts)


def rate(head: Head, vectors: Array, rows: Rows) -> Array:
    """Rate each member for each example, and last that none is meant."""
    asked = centre(vectors[rows.requests], head["request_mean"])
    members = centre(vectors[rows.members], head["member_mean"])
    learned = head["nearness"] * asked + (asked @ head["left"]) @ head["right"]
    said = jnp.where(rows.added > 0, head["said"], rows.added)
    rated = jnp.einsum("rmv,rv->rm", members, learned) + said
    return rated.at[:, MOST_MEMBERS].add(rows.kinds @ head["none"])


def measure_loss(head: Head, vectors: Array, rows: Rows) -> Array:
    likely = jax.nn.log_softmax(rate(head, vectors, rows), axis=1)
    found = likely[jnp.arange(len(rows.right)), rows.right] * rows.counts
    return -found.sum() / rows.counts.sum()


def make_head(examples: Sequence[Example], encoder: TrainableEncoder) -> dict[str, Array]:
    texts, rows = make_rows(random.Random(0).sample(examples, SAMPLE))
    vectors = encoder.encode(encoder.tuned, texts)
    there = rows.added > SHUT_OUT
    width = vectors.shape[1]
    left = FIRST_SPREAD * numpy.random.default_rng(0).standard_normal((width, RANK))
    return {
        "request_mean": jnp.array(vectors[rows.requests[rows.counts > 0]].mean(0)),
        "member_mean": jnp.array(vectors[rows.members[there]].mean(0)),
        "left": jnp.float32(left),
        "right": jnp.zeros((RANK, width)),
        "nearness": jnp.float32(NEARNESS),
        "said": jnp.float32(SAID),
        "none": jnp.zeros(KIND_SIZE),
    }


def count_right(examples: Sequence[Example], encoder: TrainableEncoder, learned: Tree) -> str:
    tuned, head = learned
    counts: Counter[str] = Counter()
    for some in group_examples(examples, LONGEST_GROUP):
        texts, rows = make_rows(some)
        rated = rate(head, encoder.encode(tuned, texts), rows)
        likely = numpy.array(jax.nn.softmax(rated, axis=1))[: len(some)]
        for example, odds, right in zip(some, likely, rows.right, strict=False):
            kind = "wishes" if example.wanted.kind[2] else "members"
            kind = kind if right < MOST_MEMBERS else f"no {kind}"
            best = int(odds.argmax())
            is_chosen = best < MOST_MEMBERS and odds[best] > LIKELY_MEMBER
            counts[kind] += 1
            counts[f"first {kind}"] += best == right
            counts[f"chosen {kind}"] += bool(is_chosen and best == right)
            counts[f"wrong {kind}"] += bool(is_chosen and best != right)
    kinds = ("members", "no members", "wishes", "no wishes")
    return "; ".join(
        f"{kind}: of {counts[kind]} {counts[f'first {kind}']} are the likeliest, "
        f"{counts[f'chosen {kind}']} chosen, {counts[f'wrong {kind}']} wrong"
        for kind in kinds
    )


def main(arguments: Sequence[str]) -> None:
    goes_on = "--matrices" in arguments
    encoder = TrainableEncoder(MATRIX_LAYERS if goes_on else 0)
    known, tried = split_examples(read_examples(), "--measure" in arguments)

    def show(when: str, learned: Tree) -> None:
        for name, examples in tried.items():
            sys.stdout.write(f"{when}, {name}: {count_right(examples, encoder, learned)}\n")
            sys.stdout.flush()

    groups = group_examples(known, LONGEST_GROUP)
    if goes_on:
        head = encoder.load(MEMBER_TUNING, MemberWeights._fields)
        groups = random.Random(3).sample(groups, len(groups) // LATER_STEP)
        rates = {name: rate / LATER_STEP for name, rate in RATES.items()}
        course = Course(1, COMMANDS_TOGETHER, TEXT_STEP, LATER_RATE, rates, MATRIX_RATE)
    else:
        head = make_head(known, encoder)
        course = Course(ROUNDS, COMMANDS_TOGETHER, TEXT_STEP, RATE, RATES)
    show("as it is", (encoder.tuned, head))
    tuned, head = tune(encoder, head, groups, make_rows, measure_loss, course, show)
    if "--measure" not in arguments:
        found = {name: numpy.float16(part) for name, part in head.items()}
        write_tuning(MEMBER_TUNING, tuned, encoder.model, found)
        sys.stdout.write(f"{len(known)} examples, {MEMBER_TUNING.stat().st_size // 1024} KB\n")


if __name__ == "__main__":
    main(sys.argv[1:])
