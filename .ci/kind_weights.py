"""Learn which kind of wish or talk a clause of a request is (models/inside/kinds.npz).

    python .ci/kind_weights.py [--measure]

What is learned: the phrases of andy's own tools and of talk, clauses that were written for it
(tests/corpora/small_model/clauses.jsonl), and those of the everyday batches, as they were cut
where the whole was planned rightly (clauses_everyday.jsonl); of some it is only known that they are
one of several kinds, and more of them are added to these files by hand. The weights make these the
likeliest (softmax). With --measure nothing is learned of the newest batches, which are tried, and
nothing is written. Takes a minute of CPU, and six the first time, for the vectors.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy

from andy_cli.models.inside.encoder import MeaningEncoder
from andy_cli.models.inside.learned_rating import KIND_WEIGHTS, KindWeights, centre
from andy_cli.models.inside.planning.choosing import make_phrase
from andy_cli.models.inside.planning.replies.small_talk import load_examples
from andy_cli.models.inside.text_vectors import FORMAT, Vectors
from andy_cli.phrases import load_phrases
from andy_cli.settings import data_folder
from tests.benchmarks.small_choices import CORPUS

HELD_OUT = frozenset(f"everyday_{number}" for number in range(50, 61))
"""Batches that --measure tries."""
STEPS, RATE, SMOOTH, SPREAD, RIDGE = 400, 0.3, 0.9, 0.99, 2e-5
PLAIN_WEIGHT = 0.5
"""Of a clause once more, with what its names stand for in their place."""


class Clause(NamedTuple):
    texts: tuple[str, ...]
    """As it is, and with what its names stand for."""
    kinds: frozenset[str]
    """One of them is meant."""
    batch: str = ""


def read_clauses() -> Iterator[Clause]:
    for examples in (load_phrases(), load_examples()):
        for kind, phrases in examples.items():
            for phrase in map(make_phrase, phrases):
                yield Clause((*dict.fromkeys(phrase),), frozenset([kind]))
    for name in ("clauses.jsonl", "clauses_everyday.jsonl"):
        for row in map(json.loads, (CORPUS / name).read_text(encoding="utf-8").splitlines()):
            texts = (row["text"], *filter(None, [row.get("plain")]))
            yield Clause(texts, frozenset(row["kinds"]), row.get("batch", ""))


def learn(clauses: Sequence[Clause], names: Sequence[str], encoder: MeaningEncoder) -> KindWeights:
    """Find the weights by which the right kinds are the likeliest (Adam, all clauses at once)."""
    rows = [
        (text, clause.kinds, PLAIN_WEIGHT if at else 1.0)
        for clause in clauses
        for at, text in enumerate(clause.texts)
    ]
    vectors = encode(encoder, [text for text, _, _ in rows])
    mean = vectors.mean(0)
    vectors = centre(vectors, mean)
    meant = numpy.array([[name in kinds for name in names] for _, kinds, _ in rows])
    shares = numpy.array([share for _, _, share in rows], numpy.float32)
    shares /= shares.sum()
    # The last row is what is usual.
    vectors = numpy.hstack([vectors, numpy.ones((len(rows), 1), numpy.float32)])
    weights, moved, spread = numpy.zeros((3, vectors.shape[1], len(names)), numpy.float32)
    for step in range(1, STEPS + 1):
        odds = vectors @ weights
        likely = numpy.exp(odds - odds.max(1, keepdims=True))
        likely /= likely.sum(1, keepdims=True)
        wanted = likely * meant
        wanted /= wanted.sum(1, keepdims=True) + 1e-20
        slope = vectors.T @ ((likely - wanted) * shares[:, None])
        slope[:-1] += RIDGE * weights[:-1]
        moved = SMOOTH * moved + (1 - SMOOTH) * slope
        spread = SPREAD * spread + (1 - SPREAD) * slope**2
        size = numpy.sqrt(spread / (1 - SPREAD**step)) + 1e-8
        weights = weights - RATE * (moved / (1 - SMOOTH**step)) / size
    return KindWeights(mean, numpy.float16(weights[:-1]), weights[-1], numpy.array(names))


def encode(encoder: MeaningEncoder, texts: Sequence[str]) -> Vectors:
    encoder.prepare(texts)
    return encoder._vectors.stack(texts)


def count_right(
    clauses: Sequence[Clause], weights: KindWeights, encoder: MeaningEncoder
) -> tuple[int, int]:
    """Count of clauses how many are of a kind that is meant, and all."""
    found = []
    for clause in clauses:
        likely = weights.rate(encode(encoder, clause.texts))
        found.append(max(likely, key=likely.__getitem__) in clause.kinds)
    return sum(found), len(found)


def main(arguments: Sequence[str]) -> None:
    encoder = MeaningEncoder(data_folder() / "vectors")
    clauses = [*read_clauses()]
    names = [*load_phrases(), *load_examples()]
    if "--measure" in arguments:
        weights = learn([it for it in clauses if it.batch not in HELD_OUT], names, encoder)
        tried = [it for it in clauses if it.batch in HELD_OUT]
        sys.stdout.write("{} of {} clauses of other batches\n".format(
            *count_right(tried, weights, encoder)))  # fmt: skip
        return
    weights = learn(clauses, names, encoder)
    numpy.savez_compressed(KIND_WEIGHTS, format=numpy.array(FORMAT), **weights._asdict())
    sys.stdout.write(f"{len(clauses)} clauses, {KIND_WEIGHTS.stat().st_size // 1024} KB\n")


if __name__ == "__main__":
    main(sys.argv[1:])
